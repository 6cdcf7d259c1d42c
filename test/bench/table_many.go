//go:build linux

package main

import (
	"fmt"
	"time"
)

// many makes sessions one after another, a client process for each, and lists them.
func (b *bench) many(t *table) error {
	n := b.size(100, 10)
	for range b.count(3, 1) {
		for _, p := range b.peers {
			if p.list == nil {
				continue
			}
			if err := b.manyOnce(t, p, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) manyOnce(t *table, p *peer, n int) error {
	r, err := b.start(p)
	if err != nil {
		return err
	}
	defer r.close()
	b.settle()
	start := time.Now()
	for i := range n {
		if err := r.do(r.detached, fmt.Sprintf("n%d", i), []string{"cat"}); err != nil {
			return err
		}
	}
	t.add(p.name, fmt.Sprintf("create %d s", n), time.Since(start).Seconds())
	for range b.size(20, 5) {
		start := time.Now()
		if err := r.do(r.list, "", nil); err != nil {
			return err
		}
		t.add(p.name, "list ms", millis(time.Since(start)))
	}
	return nil
}
