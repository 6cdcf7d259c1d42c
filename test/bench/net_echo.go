//go:build linux

package main

import "time"

// netKeyPace is the mean time between keys across a link: what one lost packet delays is then a key or two.
const netKeyPace = 60 * time.Millisecond

func (b *bench) netAttach(t *table) error {
	for _, loss := range b.losses(0, 0.01, 0.05) {
		err := b.across(t, link{rtt: usualRTT, loss: loss}, keepsSessions, func(s *site) error {
			mark := tag()
			if err := s.make("painted", b.program("paint", mark)); err != nil {
				return err
			}
			b.pause(200 * time.Millisecond)
			times := b.count(6, 2)
			if loss == 0 {
				times = b.count(12, 2) // the first is a target, and of few the ciphers' keys decide
			}
			if err := s.attachFirst(t, percent(loss), mark, times); err != nil {
				return err
			}
			for range times {
				before := s.wire()
				took, err := s.attachOnce(mark)
				if err != nil {
					return err
				}
				t.add(s.name, percent(loss)+" ms", millis(took))
				if s.connects() {
					t.add(s.name, percent(loss)+" first ms", millis(took))
				}
				if loss == 0 {
					t.add(s.name, "wire KB", float64(s.wire()-before)/1e3)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// connects reports whether each client of the peer makes a connection of its own.
func (s *site) connects() bool { return s.name == sshTmux || s.name == sshDtach || s.name == moshTmux }

// attachFirst attaches so many times where nothing leads to the far host yet, for a peer that keeps what does, and leaves it
// what it keeps.
// The first time of all finds cold caches, and does not count.
func (s *site) attachFirst(t *table, loss, mark string, times int) error {
	rounds := 1
	if s.name == vevSSH || s.name == vevQUIC {
		rounds += times
	}
	for i := range rounds {
		if i > 0 {
			if err := s.forget(); err != nil {
				return err
			}
		}
		took, err := s.attachOnce(mark)
		if err != nil {
			return err
		}
		if i > 0 {
			t.add(s.name, loss+" first ms", millis(took))
		}
	}
	if s.name != vevQUIC {
		return nil
	}
	c, err := s.open(s.attach, "painted", nil)
	if err != nil {
		return err
	}
	defer c.close()
	return s.settled()
}

func (s *site) attachOnce(mark string) (time.Duration, error) {
	c, err := s.open(s.attach, "painted", nil)
	if err != nil {
		return 0, err
	}
	defer c.close()
	at, err := c.until("attach", func() bool { return c.isPainted(mark) })
	if err != nil {
		return 0, err
	}
	return at.Sub(c.start), c.drain(100 * time.Millisecond)
}

func (b *bench) netEcho(t *table) error {
	for _, loss := range b.losses(0, 0.01, 0.05) {
		err := b.across(t, link{rtt: usualRTT, loss: loss}, anyPeer, func(s *site) error {
			if s.name == keptSSHTmux {
				return nil // a key goes the same way as over any ssh
			}
			c, err := s.began("echo", b.program("echo", ""))
			if err != nil {
				return err
			}
			defer c.close()
			return c.echoes(t, s, percent(loss), b.size(200, 40))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// echoes types keys and adds their quantiles.
func (c *client) echoes(t *table, s *site, what string, keys int) error {
	if err := c.press("!"); err != nil {
		return err
	}
	if _, err := c.until("clearing the screen", func() bool { return c.row(0) == "" }); err != nil {
		return err
	}
	if err := c.drain(2 * s.link.rtt); err != nil {
		return err
	}
	before := s.wire()
	took, err := c.typeKeys(keys, netKeyPace)
	if err != nil {
		return err
	}
	for _, q := range []struct {
		name string
		of   float64
	}{{" p50 ms", 0.5}, {" p95 ms", 0.95}, {" p99 ms", 0.99}} {
		t.add(s.name, what+q.name, quantile(took, q.of)/1e3)
	}
	t.add(s.name, what+" B/key", float64(s.wire()-before)/float64(keys))
	return nil
}

func (b *bench) netBusy(t *table) error {
	for _, loss := range b.losses(0, 0.01) {
		keys := b.size(150, 30)
		if loss > 0 {
			keys = b.size(400, 30) // its p99 is a target: of fewer, two or three losses of a peer would decide
		}
		l := link{rtt: usualRTT, loss: loss, rate: megabits8, queue: queue8}
		err := b.across(t, l, func(p *netPeer) bool { return p.name != moshName && p.name != moshPredicts && p.name != vevPredicts }, func(s *site) error {
			c, err := s.began("echo", b.program("echo", ""))
			if err != nil {
				return err
			}
			defer c.close()
			if err := s.flooded(); err != nil {
				return err
			}
			if err := c.drain(time.Duration(b.size(3000, 1000)) * time.Millisecond); err != nil {
				return err
			}
			return c.echoes(t, s, percent(loss), keys)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// flooded has a second client show a session that floods.
func (s *site) flooded() error {
	yes := []string{"yes"}
	if s.detached == nil {
		return s.shown(s.create, "flood", yes)
	}
	if err := s.make("flood", yes); err != nil {
		return err
	}
	return s.shown(s.attach, "flood", nil)
}
