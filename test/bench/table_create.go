//go:build linux

package main

import (
	"fmt"
	"time"
)

// create times the fork of a client to the first output of the new session's program: with nothing of the peer running
// (cold), and with its server up (warm).
func (b *bench) create(t *table) error {
	for range b.count(11, 3) {
		for _, p := range b.peers {
			if err := b.createCold(t, p); err != nil {
				return err
			}
		}
	}
	runs, done, err := b.startAll(func(*peer) bool { return true })
	if err != nil {
		return err
	}
	defer done()
	for _, r := range runs {
		if r.detached == nil {
			continue
		}
		if err := r.do(r.detached, "stays", []string{"cat"}); err != nil {
			return err
		}
	}
	for i := range b.count(30, 3) {
		for _, r := range runs {
			b.settle()
			took, err := r.createOnce(fmt.Sprintf("warm%d", i))
			if err != nil {
				return err
			}
			t.add(r.name, "warm ms", millis(took))
		}
	}
	return nil
}

func (b *bench) createCold(t *table, p *peer) error {
	r, err := b.start(p)
	if err != nil {
		return err
	}
	defer r.close()
	b.settle()
	took, err := r.createOnce("cold")
	t.add(p.name, "cold ms", millis(took))
	return err
}

func (r *peerRun) createOnce(session string) (time.Duration, error) {
	mark := "new-" + tag()
	c, err := r.open(r.peer.create, session, []string{"sh", "-c", "printf " + mark + "; exec cat"})
	if err != nil {
		return 0, err
	}
	defer c.close()
	at, err := c.sees(mark)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.name, err)
	}
	_ = c.drain(30 * time.Millisecond)
	r.end(session)
	return at.Sub(c.start), nil
}
