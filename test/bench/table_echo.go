//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	readyMark = "@@READY@@"
	// keyPace is the mean time between keys on this machine.
	keyPace = 10 * time.Millisecond
	// keysPerRow: each key shows in a cell of its own and nothing scrolls.
	keysPerRow = 64
	// keysLost is how long after the last key one may still show.
	keysLost = 5 * time.Second
)

// beside is what else goes on during an echo measurement.
type beside string

const (
	idle          beside = "idle"
	floodDetached beside = "detached" // `yes` in a second session that nobody watches
	floodAttached beside = "attached" // and a second client shows it
)

// echo types keys at a fixed pace and times each until its cell shows it. The latencies of all rounds are taken
// together: a tail needs many. Which processors a peer's processes settle on moves the median of one start by a tenth, so
// the keys are of many short ones.
func (b *bench) echo(t *table) error {
	latencies := map[cellKey][]float64{}
	keys := b.size(200, 64)
	for range b.count(4, 1) {
		for _, mode := range []beside{idle, floodDetached, floodAttached} {
			for _, p := range b.peers {
				if mode == floodDetached && p.detached == nil {
					continue
				}
				took, err := b.echoOnce(p, mode, keys)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, mode, err)
				}
				key := cellKey{p.name, string(mode)}
				latencies[key] = append(latencies[key], took...)
			}
		}
	}
	for _, mode := range []beside{idle, floodDetached, floodAttached} {
		for _, p := range b.peers {
			if all := latencies[cellKey{p.name, string(mode)}]; len(all) > 0 {
				t.add(p.name, string(mode)+" p50 µs", quantile(all, 0.5))
				t.add(p.name, string(mode)+" p99 µs", quantile(all, 0.99))
			}
		}
	}
	return nil
}

// echoOnce returns the latency of each key in microseconds.
func (b *bench) echoOnce(p *peer, mode beside, keys int) ([]float64, error) {
	r, err := b.start(p)
	if err != nil {
		return nil, err
	}
	defer r.close()
	c, err := r.open(p.create, "echo", b.program("echo", ""))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if _, err := c.sees(readyMark); err != nil {
		return nil, err
	}
	b.settle()
	if mode != idle {
		if err := r.watched(mode == floodAttached); err != nil {
			return nil, err
		}
		if err := c.drain(500 * time.Millisecond); err != nil {
			return nil, err
		}
	}
	if err := c.press("!"); err != nil {
		return nil, err
	}
	if _, err := c.until("clearing the screen", func() bool { return c.row(0) == "" }); err != nil {
		return nil, err
	}
	if err := c.drain(50 * time.Millisecond); err != nil {
		return nil, err
	}
	return c.typeKeys(keys, keyPace)
}

// typed is a key on its way: where it will show, and when it was pressed.
type typed struct {
	row, col int
	key      rune
	at       time.Time
}

// typeKeys presses keys when their time has come, late only when a read was in the way, and finds each in its cell.
func (c *client) typeKeys(n int, pace time.Duration) ([]float64, error) {
	var waiting []typed
	var took []float64
	look := func() {
		left := waiting[:0]
		for _, k := range waiting {
			if c.cell(k.row, k.col) == k.key {
				took = append(took, micros(c.last.Sub(k.at)))
			} else {
				left = append(left, k)
			}
		}
		waiting = left
	}
	readUntil := func(due time.Time, enough func() bool) error {
		for !enough() && time.Now().Before(due) {
			got, err := c.read(time.Until(due))
			if err != nil {
				return err
			}
			if got != nil {
				look()
			}
		}
		return nil
	}
	due := time.Now()
	for i := range n {
		if err := readUntil(due, func() bool { return false }); err != nil {
			return took, err
		}
		k := typed{row: i / keysPerRow, col: i % keysPerRow, key: 'a' + rune(rand.IntN(26))}
		text := string(k.key)
		if k.col == keysPerRow-1 {
			text += "\r"
		}
		k.at = time.Now()
		if err := c.press(text); err != nil {
			return took, err
		}
		waiting = append(waiting, k)
		// Spread, so that the pace is in step with nobody's timer.
		due = due.Add(pace/2 + rand.N(pace))
	}
	err := readUntil(time.Now().Add(keysLost), func() bool { return len(waiting) == 0 })
	if err == nil && len(waiting) > 0 {
		err = fmt.Errorf("%d of %d keys never showed; the screen:\n%s", len(waiting), n, c.text())
	}
	return took, err
}
