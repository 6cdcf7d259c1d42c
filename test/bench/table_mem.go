//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// memory fills the history of sessions with full lines, attaches one client, and looks at what the peer holds once it
// has come to rest, and at what it does then.
func (b *bench) memory(t *table) error {
	for range b.count(1, 1) {
		for _, sessions := range []int{1, 50} {
			for _, p := range b.peers {
				if p.detached == nil {
					continue
				}
				if err := b.memoryOnce(t, p, sessions); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
			}
		}
	}
	return nil
}

func (b *bench) memoryOnce(t *table, p *peer, sessions int) error {
	r, err := b.start(p)
	if err != nil {
		return err
	}
	defer r.close()
	full := func(i int) string { return filepath.Join(r.dir, fmt.Sprintf("full%d", i)) }
	for i := range sessions {
		program := b.program("fill", strconv.Itoa(b.size(10_000, 1_000)), full(i))
		if err := r.do(r.detached, fmt.Sprintf("s%d", i), program); err != nil {
			return err
		}
	}
	for i := range sessions {
		if err := b.waitFor(full(i)); err != nil {
			return err
		}
	}
	c, err := r.open(r.peer.attach, "s0", nil)
	if err != nil {
		return err
	}
	defer c.close()
	if err := r.rest(c); err != nil {
		return err
	}
	watch := time.Duration(b.size(5000, 1000)) * time.Millisecond
	before := r.cost()
	if err := c.drain(watch); err != nil {
		return err
	}
	after := r.cost()
	t.add(p.name, fmt.Sprintf("%d: procs", sessions), float64(after.processes))
	t.add(p.name, fmt.Sprintf("%d: PSS MiB", sessions), float64(after.pss)/(1<<20))
	t.add(p.name, fmt.Sprintf("%d: CPU ms/s", sessions), millis(after.cpu-before.cpu)/watch.Seconds())
	t.add(p.name, fmt.Sprintf("%d: switches/s", sessions), float64(after.switches-before.switches)/watch.Seconds())
	return nil
}

// rest takes in output until the peer has used next to no CPU for two seconds.
func (r *peerRun) rest(c *client) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		before := r.cost().cpu
		if err := c.drain(2 * time.Second); err != nil {
			return err
		}
		if r.cost().cpu-before <= tick {
			return nil
		}
	}
	return fmt.Errorf("did not come to rest within %v", patience)
}
