//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const doneMark = "@@DONE@@"

// waiter is a program that waits for Enter, runs a command, says that it is done, and stays.
func waiter(command string) []string {
	return []string{"sh", "-c", "stty -echo; printf '" + readyMark + "'; read x; " + command + "; printf '\\n" + doneMark + "\\n'; exec cat"}
}

// flood times Enter to the mark after a flood, and what it cost. Bytes shown are beside the time because leaving some
// out is a way to be fast.
func (b *bench) flood(t *table) error {
	file := filepath.Join(b.dir, "flood.txt")
	if err := writeText(file, b.size(50_000_000, 5_000_000)); err != nil {
		return err
	}
	runs, done, err := b.startAll(func(*peer) bool { return true })
	if err != nil {
		return err
	}
	defer done()
	floods := []struct{ name, command string }{
		{"cat", "cat " + file},
		{"seq", fmt.Sprintf("seq 1 %d", b.size(2_000_000, 200_000))},
	}
	for i := range b.count(3, 1) {
		for _, f := range floods {
			for _, r := range runs {
				b.settle()
				if err := r.floodOnce(t, f.name, fmt.Sprintf("%s%d", f.name, i), f.command); err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
			}
		}
	}
	return nil
}

func (r *peerRun) floodOnce(t *table, name, session, command string) error {
	c, err := r.open(r.create, session, waiter(command))
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.sees(readyMark); err != nil {
		return err
	}
	if err := c.quiet(100 * time.Millisecond); err != nil {
		return err
	}
	before, shown := r.cost(), c.shown
	start := time.Now()
	if err := c.press("\r"); err != nil {
		return err
	}
	at, err := c.scan(doneMark)
	if err != nil {
		return err
	}
	t.add(r.name, name+" s", at.Sub(start).Seconds())
	t.add(r.name, name+" MB shown", float64(c.shown-shown)/1e6)
	if r.exe != "" {
		t.add(r.name, name+" CPU s", (r.cost().cpu - before.cpu).Seconds())
	}
	r.end(session)
	return nil
}

// writeText makes a file of lines of 40 to 79 letters and blanks.
func writeText(path string, size int) error {
	text := words(3)
	out := make([]byte, 0, size+termCols)
	for len(out) < size {
		out = append(out, text.next(40+len(out)%40)...)
		out = append(out, '\n')
	}
	return os.WriteFile(path, out[:size], 0o600)
}

// interrupt lets yes run, presses Ctrl-C and times what the shell shows next.
func (b *bench) interrupt(t *table) error {
	runs, done, err := b.startAll(func(*peer) bool { return true })
	if err != nil {
		return err
	}
	defer done()
	for i := range b.count(7, 2) {
		for _, r := range runs {
			b.settle()
			if err := r.interruptOnce(t, fmt.Sprintf("yes%d", i), time.Duration(b.size(1500, 500))*time.Millisecond); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

func (r *peerRun) interruptOnce(t *table, session string, after time.Duration) error {
	c, err := r.open(r.create, session, waiter("trap : INT; yes"))
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.sees(readyMark); err != nil {
		return err
	}
	if err := c.quiet(100 * time.Millisecond); err != nil {
		return err
	}
	c.blind = true
	if err := c.press("\r"); err != nil {
		return err
	}
	if err := c.drain(after); err != nil {
		return err
	}
	shown := c.shown
	start := time.Now()
	if err := c.press("\x03"); err != nil {
		return err
	}
	at, err := c.scan(doneMark)
	if err != nil {
		return err
	}
	t.add(r.name, "to prompt ms", millis(at.Sub(start)))
	t.add(r.name, "KB after", float64(c.shown-shown)/1e3)
	r.end(session)
	return nil
}
