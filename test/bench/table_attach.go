//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// tag is a text that no earlier measurement showed.
func tag() string { return fmt.Sprintf("%08x", rand.Uint32()) }

// attach times the fork of a client to the moment all rows of a known screen are right on its terminal.
func (b *bench) attach(t *table) error {
	runs, done, err := b.startAll(func(p *peer) bool { return p.attach != nil })
	if err != nil {
		return err
	}
	defer done()
	tags := map[*peerRun]string{}
	for _, r := range runs {
		tags[r] = tag()
		if err := r.do(r.detached, "painted", b.program("paint", tags[r])); err != nil {
			return err
		}
		b.pause(200 * time.Millisecond)
		if _, _, err := r.attachOnce(tags[r]); err != nil { // not counted: the first finds cold caches
			return err
		}
	}
	for range b.count(30, 4) {
		for _, r := range runs {
			b.settle()
			took, shown, err := r.attachOnce(tags[r])
			if err != nil {
				return err
			}
			t.add(r.name, "ms", millis(took))
			t.add(r.name, "bytes", float64(shown))
		}
	}
	return nil
}

func (r *peerRun) attachOnce(tag string) (took time.Duration, shown int64, err error) {
	c, err := r.open(r.peer.attach, "painted", nil)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	at, err := c.until(r.name+": attach", func() bool { return c.isPainted(tag) })
	if err != nil {
		return 0, 0, err
	}
	shown = c.shown
	return at.Sub(c.start), shown, c.drain(50 * time.Millisecond)
}

// isPainted reports whether the painted screen of a tag is whole, looking where it is drawn last first.
func (c *client) isPainted(tag string) bool {
	for y := paintedRows - 1; y >= 0; y-- {
		if c.row(y) != paintedRow(tag, y) {
			return false
		}
	}
	return true
}
