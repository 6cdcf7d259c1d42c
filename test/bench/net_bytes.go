//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// netBytes has a process table redraw itself, and counts what crosses the link and how old the table is on the screen.
func (b *bench) netBytes(t *table) error {
	seconds := b.size(10, 2)
	for _, mode := range []string{"full", "cells"} {
		fits := named(vevName, vevSSH, vevQUIC, sshName, sshTmux, moshName, moshTmux)
		err := b.across(t, link{rtt: usualRTT}, fits, func(s *site) error {
			for i := range b.count(2, 1) {
				c, err := s.began(fmt.Sprintf("top%d", i), b.program("top", mode, strconv.Itoa(seconds)))
				if err != nil {
					return err
				}
				err = s.tableOnce(t, c, mode, time.Duration(seconds)*time.Second)
				c.close()
				if err != nil {
					return err
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

func (s *site) tableOnce(t *table, c *client, mode string, d time.Duration) error {
	before := s.wire()
	if err := c.press("g"); err != nil {
		return err
	}
	if _, err := c.sees(stampMark); err != nil {
		return err
	}
	ages, err := c.ages(d-time.Second, 0)
	if err != nil {
		return err
	}
	if _, err := c.sees(doneMark); err != nil {
		return err
	}
	if err := c.quiet(4 * s.link.rtt); err != nil {
		return err
	}
	t.add(s.name, mode+" wire KB", float64(s.wire()-before)/1e3)
	t.add(s.name, mode+" age ms", quantile(ages, 0.5))
	t.add(s.name, mode+" age p99 ms", quantile(ages, 0.99))
	return nil
}

// netHole makes the link a blackhole for a while, typing meanwhile. The while is another in each round: timers that back off
// have a phase. The peers are measured at the same time, since nearly all of it is waiting.
func (b *bench) netHole(t *table) error {
	type round struct {
		s    *site
		took []float64
		lost float64
		err  error
	}
	var rounds []*round
	defer func() {
		for _, r := range rounds {
			r.s.close()
		}
	}()
	for _, p := range b.remote {
		if !named(vevName, vevSSH, vevQUIC, sshTmux, moshTmux)(p) {
			continue
		}
		s, err := b.site(p, link{rtt: usualRTT})
		if err != nil {
			return err
		}
		rounds = append(rounds, &round{s: s})
	}
	var all sync.WaitGroup
	for _, r := range rounds {
		all.Go(func() {
			c, err := r.s.open(r.s.create, "clock", b.program("clock"))
			if err != nil {
				r.err = err
				return
			}
			defer c.close()
			if _, r.err = c.sees(stampMark); r.err != nil {
				return
			}
			if r.err = r.s.settled(); r.err != nil {
				return
			}
			sent := 0
			for i := range b.count(6, 1) {
				hole := time.Duration(b.size(30_000, 4_000))*time.Millisecond + time.Duration(i)*1700*time.Millisecond
				took, err := r.s.holeOnce(c, hole, &sent)
				if err != nil {
					r.err = err
					return
				}
				r.took = append(r.took, took.Seconds())
			}
			r.lost, r.err = c.missing(sent)
		})
	}
	all.Wait()
	for _, r := range rounds {
		for _, took := range r.took {
			t.add(r.s.name, "s", took)
		}
		if len(r.took) > 0 {
			t.add(r.s.name, "worst s", slices.Max(r.took))
			t.add(r.s.name, "keys lost", r.lost)
			t.note(fmt.Errorf("%s, each round, s: %.2f", r.s.name, r.took))
		}
		if r.err != nil {
			t.note(fmt.Errorf("%s: %w", r.s.name, r.err))
		}
	}
	return b.ctx.Err()
}

// holePatience is for ssh, whose time-outs have become long.
const holePatience = 2 * time.Minute

// holeOnce is one blackhole: the time from its end to a screen that tells a time from after it.
func (s *site) holeOnce(c *client, hole time.Duration, sent *int) (time.Duration, error) {
	if err := c.drain(2 * time.Second); err != nil {
		return 0, err
	}
	s.down(true)
	for end := time.Now().Add(hole); time.Now().Before(end); {
		if err := c.press("x"); err != nil {
			return 0, err
		}
		*sent++
		if err := c.drain(500 * time.Millisecond); err != nil {
			return 0, err
		}
	}
	back := time.Now()
	s.down(false)
	for end := back.Add(holePatience); time.Now().Before(end); {
		if _, err := c.read(time.Until(end)); err != nil {
			return 0, err
		}
		// The stamp is cut to milliseconds.
		if at, ok := c.stampIn(0); ok && !at.Before(back.Truncate(time.Millisecond)) {
			return c.last.Sub(back), nil
		}
	}
	return 0, errors.New("the screen never came back")
}

// missing is how many of the keys that were typed the program never got, or got twice.
func (c *client) missing(sent int) (float64, error) {
	count := func() int {
		_, rest, _ := strings.Cut(c.row(0), "keys=")
		digits, _, _ := strings.Cut(rest, ";")
		n, _ := strconv.Atoi(digits)
		return n
	}
	for end := time.Now().Add(5 * time.Second); count() != sent && time.Now().Before(end); {
		if _, err := c.read(time.Until(end)); err != nil {
			return 0, err
		}
	}
	return float64(max(sent-count(), count()-sent)), nil
}
