//go:build linux

package main

import (
	"fmt"
	"time"
)

// many makes sessions one after another, a client process for each, and lists them. The peers take turns within a round, a few
// sessions or lists each: what a machine does for a second or two would else be one peer's.
func (b *bench) many(t *table) error {
	for range b.count(3, 1) {
		if err := b.manyOnce(t, b.size(100, 10)); err != nil {
			return err
		}
	}
	return nil
}

const (
	manyTurn = 10 // what a peer does in a turn, one right after the other: what is left to do after an answer counts
	// manyPause lets what the last command of a turn left to do end before the next peer's.
	manyPause = 20 * time.Millisecond
)

func (b *bench) manyOnce(t *table, n int) error {
	runs, done, err := b.startAll(func(p *peer) bool { return p.list != nil })
	if err != nil {
		return err
	}
	defer done()
	b.settle()
	took := map[*peerRun]time.Duration{}
	for turn := range n / manyTurn {
		for _, r := range runs {
			start := time.Now()
			for i := range manyTurn {
				if err := r.do(r.detached, fmt.Sprintf("n%d", turn*manyTurn+i), []string{"cat"}); err != nil {
					return err
				}
			}
			took[r] += time.Since(start)
			b.pause(manyPause)
		}
	}
	for _, r := range runs {
		t.add(r.name, fmt.Sprintf("create %d s", n), took[r].Seconds())
	}
	for range b.size(5, 1) {
		for _, r := range runs {
			for range manyTurn {
				start := time.Now()
				if err := r.do(r.list, "", nil); err != nil {
					return err
				}
				t.add(r.name, "list ms", millis(time.Since(start)))
			}
			b.pause(manyPause)
		}
	}
	return nil
}
