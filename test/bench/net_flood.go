//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// netInterrupt lets yes run, presses Ctrl-C and times what the shell shows next.
func (b *bench) netInterrupt(t *table) error {
	for _, c := range []struct {
		name string
		link link
	}{
		{"no limit", link{rtt: usualRTT}},
		{"8 Mbit/s", link{rtt: usualRTT, rate: megabits8, queue: queue8}},
	} {
		fits := named(vevSSH, vevQUIC, sshName, sshTmux, moshName, moshTmux)
		err := b.across(t, c.link, fits, func(s *site) error {
			for i := range b.count(3, 1) {
				took, shown, err := s.interruptOnce(fmt.Sprintf("yes%d", i), "yes", time.Duration(b.size(3000, 1000))*time.Millisecond)
				if err != nil {
					return err
				}
				t.add(s.name, c.name+": ms", millis(took))
				t.add(s.name, c.name+": KB after", float64(shown)/1e3)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// interruptOnce is one Ctrl-C after a while of a flood: how long to the screen that shows what follows, and bytes until then.
func (s *site) interruptOnce(session, flood string, after time.Duration) (time.Duration, int64, error) {
	c, err := s.began(session, waiter("trap : INT; "+flood))
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	if err := c.press("\r"); err != nil {
		return 0, 0, err
	}
	if err := c.drain(after); err != nil {
		return 0, 0, err
	}
	return c.interrupted()
}

func (c *client) interrupted() (time.Duration, int64, error) {
	shown, start := c.shown, time.Now()
	if err := c.press("\x03"); err != nil {
		return 0, 0, err
	}
	at, err := c.sees(doneMark)
	return at.Sub(start), c.shown - shown, err
}

func (b *bench) netFlood(t *table) error {
	file := filepath.Join(b.dir, "netflood.txt")
	if err := writeText(file, b.size(5_000_000, 500_000)); err != nil {
		return err
	}
	fits := named(vevSSH, vevQUIC, sshName, sshTmux, moshName, moshTmux)
	return b.across(t, link{rtt: usualRTT, rate: megabits8, queue: queue8}, fits, func(s *site) error {
		for i := range b.count(3, 1) {
			took, wire, err := s.catOnce(fmt.Sprintf("cat%d", i), file)
			if err != nil {
				return err
			}
			t.add(s.name, "cat s", took.Seconds())
			t.add(s.name, "wire KB", float64(wire)/1e3)
		}
		return nil
	})
}

// catOnce times Enter to the screen that shows the mark behind a file, and counts what crossed the link.
func (s *site) catOnce(session, file string) (time.Duration, int64, error) {
	c, err := s.began(session, waiter("cat "+file))
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	before, start := s.wire(), time.Now()
	if err := c.press("\r"); err != nil {
		return 0, 0, err
	}
	at, err := c.sees(doneMark)
	if err != nil {
		return 0, 0, err
	}
	// What is still under way belongs to it.
	return at.Sub(start), s.wire() - before, c.quiet(4 * s.link.rtt)
}

// netStale floods a slow link with lines that tell the time.
func (b *bench) netStale(t *table) error {
	l := link{rtt: usualRTT, rate: 1_000_000, queue: 64 << 10}
	stamps := quoted(b.program("stamps"))
	return b.across(t, l, named(vevName, sshTmux, moshName, moshTmux), func(s *site) error {
		for i := range b.count(2, 1) {
			c, err := s.began(fmt.Sprintf("stale%d", i), waiter("trap : INT; "+stamps))
			if err != nil {
				return err
			}
			if err := s.stale(t, c); err != nil {
				c.close()
				return err
			}
			c.close()
		}
		return s.sibling(t, stamps)
	})
}

// stale is the age of a flood from its begin, and what Ctrl-C takes in it.
func (s *site) stale(t *table, c *client) error {
	if err := c.press("\r"); err != nil {
		return err
	}
	if _, err := c.sees(stampMark); err != nil {
		return err
	}
	ages, err := c.ages(time.Duration(s.b.size(6000, 1500))*time.Millisecond, bottomUp()...)
	if err != nil {
		return err
	}
	t.add(s.name, "age p50 ms", quantile(ages, 0.5))
	t.add(s.name, "age p99 ms", quantile(ages, 0.99))
	t.add(s.name, "age max ms", slices.Max(ages))
	took, _, err := c.interrupted()
	if err != nil {
		return err
	}
	t.add(s.name, "Ctrl-C ms", millis(took))
	return nil
}

// sibling is a second client's echo while another shows the flood over the same link.
func (s *site) sibling(t *table, stamps string) error {
	if s.detached == nil {
		return nil
	}
	if err := s.make("flood", []string{"sh", "-c", stamps}); err != nil {
		return err
	}
	if err := s.shown(s.attach, "flood", nil); err != nil {
		return err
	}
	c, err := s.open(s.create, "echo", s.b.program("echo", ""))
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.sees(readyMark); err != nil {
		return err
	}
	if err := c.drain(time.Second); err != nil {
		return err
	}
	return c.echoes(t, s, "sibling", s.b.size(120, 20))
}

// netSlowCat is a large file over a very slow link, beside the same file on this machine.
func (b *bench) netSlowCat(t *table) error {
	file := filepath.Join(b.dir, "slowcat.txt")
	size := b.size(20_000_000, 2_000_000)
	if err := writeText(file, size); err != nil {
		return err
	}
	localTook, err := b.catLocally(file)
	if err != nil {
		return err
	}
	l := link{rtt: usualRTT, rate: 200_000, queue: 16 << 10}
	return b.across(t, l, named(vevName, sshTmux, moshName, moshTmux), func(s *site) error {
		for i := range b.count(2, 1) {
			took, wire, err := s.catOnce(fmt.Sprintf("cat%d", i), file)
			if err != nil {
				return err
			}
			t.add(s.name, "s", took.Seconds())
			if localTook > 0 {
				t.add(s.name, "s beyond local", (took - localTook).Seconds())
			}
			t.add(s.name, "wire %", 100*float64(wire)/float64(size))
		}
		return nil
	})
}

// catLocally is the same cat in a session of vev's on this machine; 0 when vev is not measured.
func (b *bench) catLocally(file string) (time.Duration, error) {
	if b.vev == "" {
		return 0, nil
	}
	r, err := b.start(vevPeer(b.vev))
	if err != nil {
		return 0, err
	}
	defer r.close()
	c, err := r.open(r.create, "cat", waiter("cat "+file))
	if err != nil {
		return 0, err
	}
	defer c.close()
	if _, err := c.sees(readyMark); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := c.press("\r"); err != nil {
		return 0, err
	}
	at, err := c.sees(doneMark)
	return at.Sub(start), err
}
