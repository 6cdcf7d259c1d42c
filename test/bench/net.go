//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// remote is what is measured across a link. Each peer has a link of its own for each table and condition; peers take
// turns, but where minutes are waited for.
var remote = suite{tables: netTables, targets: netTargets, bases: []string{sshTmux, moshTmux, moshName, moshPredicts}}

var netTables = []tableEntry{
	{"netattach", "netattach: start of the client to a whole known screen, 50 ms RTT", (*bench).netAttach},
	{"netecho", "netecho: key typed to its cell seen, open loop, 50 ms RTT", (*bench).netEcho},
	{"netbusy", "netbusy: the same beside a second client's flood, 50 ms RTT, 8 Mbit/s", (*bench).netBusy},
	{"netbytes", "netbytes: 10 s of a process table at 20 fps: bytes of IP both ways, and the age of what is shown, 50 ms RTT", (*bench).netBytes},
	{"nethole", "nethole: 30 s and more of blackhole under load, then time to a screen from after it, 50 ms RTT", (*bench).netHole},
	{"netctrlc", "netctrlc: Ctrl-C after 3 s of `yes` to what follows, 50 ms RTT", (*bench).netInterrupt},
	{"netflood", "netflood: cat of 5 MB, 50 ms RTT, 8 Mbit/s", (*bench).netFlood},
	{"stale", "stale: a flood that tells the time, 50 ms RTT, 1 Mbit/s: its age on the screen, Ctrl-C, a sibling's echo", (*bench).netStale},
	{"slowcat", "slowcat: cat of 20 MB, 50 ms RTT, 200 kbit/s, beside the same on this machine", (*bench).netSlowCat},
	{"predict", "predict: typing over 300 ms RTT", (*bench).netPredict},
	{"history", "history: a million lines of history, 50 ms RTT", (*bench).netHistory},
}

// netTargets are the project's targets across links: R1 to R9 and M4, of vev as it reaches another machine, and M1 to M8, of vev over
// one TCP connection, which passes for this machine's: nothing is packed for it.
var netTargets = slices.Concat([]target{
	{id: "R1", table: "netattach", metric: "0% ms", base: sshTmux, limit: 0.16, of: vevQUIC},
	{id: "R1", table: "netattach", metric: "1% ms", base: sshTmux, limit: 0.16, of: vevQUIC},
	{id: "R1", table: "netattach", metric: "5% ms", base: sshTmux, limit: 0.16, of: vevQUIC},
	{id: "R1", table: "netattach", metric: "0% ms", base: keptSSHTmux, limit: 0.65, of: vevQUIC},
	{id: "R2", table: "netattach", metric: "0% first ms", base: sshDtach, limit: 1.02, of: vevSSH},
	{id: "R2", table: "netattach", metric: "0% first ms", base: sshDtach, limit: 1.02, of: vevQUIC},
	{id: "R3", table: "netecho", metric: "5% p95 ms", base: sshTmux, limit: 0.65, of: vevQUIC, tail: true},
	{id: "R3", table: "netecho", metric: "5% p99 ms", base: sshTmux, limit: 0.65, of: vevQUIC, tail: true},
	{id: "R3", table: "netecho", metric: "5% p95 ms", base: moshTmux, limit: 1.05, of: vevQUIC, tail: true},
	{id: "R4", table: "netbusy", metric: "1% p99 ms", base: sshTmux, limit: 0.6, of: vevQUIC, tail: true},
}, remoteTargets(vevSSH), remoteTargets(vevQUIC), []target{
	{id: "M1", table: "stale", metric: "age max ms", limit: 150},
	{id: "M1", table: "stale", metric: "Ctrl-C ms", limit: 150},
	{id: "M1", table: "stale", metric: "sibling p50 ms", limit: 100},
	{id: "M1", table: "stale", metric: "sibling p99 ms", limit: 100, tail: true},
	{id: "M2", table: "slowcat", metric: "s beyond local", limit: 0.5},
	{id: "M2", table: "slowcat", metric: "wire %", limit: 1},
	{id: "M3", table: "nethole", metric: "s", limit: 0.4},
	{id: "M3", table: "nethole", metric: "worst s", limit: 1},
	{id: "M3", table: "nethole", metric: "keys lost", limit: 0},
	{id: "M5", table: "predict", metric: "line: % late", limit: 30},
	{id: "M5", table: "predict", metric: "edit: % late", limit: 30},
	{id: "M5", table: "predict", metric: "vim: % late", limit: 30},
	{id: "M5", table: "predict", metric: "wrong after an RTT", limit: 0},
	{id: "M5", table: "predict", metric: "shown of a password", limit: 0},
	{id: "M8", table: "history", metric: "attach: full / empty", limit: 1.1},
	{id: "M8", table: "history", metric: "search ms", limit: 200},
})

// remoteTargets are those that hold whichever transport carries vev.
func remoteTargets(peer string) []target {
	all := []target{
		{id: "R3", table: "netecho", metric: "0% p50 ms", base: sshTmux, limit: 1},
		{id: "R3", table: "netecho", metric: "0% p50 ms", base: moshTmux, limit: 0.87},
		{id: "R4", table: "netbusy", metric: "0% p50 ms", base: sshTmux, limit: 1.05},
		{id: "R4", table: "netbusy", metric: "1% p50 ms", base: sshTmux, limit: 1.05},
		{id: "R5", table: "netbytes", metric: "full wire KB", base: sshTmux, limit: 0.2},
		{id: "R5", table: "netbytes", metric: "full wire KB", base: moshTmux, limit: 1.2},
		{id: "R6", table: "netbytes", metric: "cells wire KB", base: sshTmux, limit: 1},
		{id: "R6", table: "netbytes", metric: "cells wire KB", base: moshTmux, limit: 1.2},
		{id: "M4", table: "netbytes", metric: "full wire KB", base: moshTmux, limit: 1},
		{id: "M4", table: "netbytes", metric: "cells wire KB", base: moshTmux, limit: 1},
		{id: "M4", table: "netbytes", metric: "full age ms", base: moshTmux, limit: 1},
		{id: "M4", table: "netbytes", metric: "cells age ms", base: moshTmux, limit: 1},
		{id: "R7", table: "nethole", metric: "worst s", base: sshTmux, limit: 0.15, tail: true},
		{id: "R7", table: "nethole", metric: "worst s", limit: 1.5},
		{id: "R8", table: "netctrlc", metric: "8 Mbit/s: ms", base: sshTmux, limit: 1.05},
		{id: "R8", table: "netctrlc", metric: "8 Mbit/s: ms", base: sshName, limit: 0.06},
		{id: "R8", table: "netctrlc", metric: "8 Mbit/s: KB after", limit: 25},
		{id: "R9", table: "netflood", metric: "cat s", base: sshTmux, limit: 0.5},
		{id: "R9", table: "netflood", metric: "wire KB", base: sshTmux, limit: 0.15},
	}
	for i := range all {
		all[i].of = peer
	}
	return all
}

// setUpNet keeps the remote peers that are installed, and says what to install for the others.
func (b *bench) setUpNet(only string) error {
	if os.Getuid() != 0 {
		return errors.New("the links are network namespaces, which take root: run this as root")
	}
	var lacking []string
	for _, p := range netPeers(b.vev) {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		if packages := p.missing(); packages != nil {
			fmt.Printf("%s is left out\n", p.name)
			lacking = append(lacking, packages...)
			continue
		}
		b.remote = append(b.remote, p)
	}
	if lacking != nil {
		slices.Sort(lacking)
		fmt.Printf("for all peers: apt-get install %s\n", strings.Join(slices.Compact(lacking), " "))
	}
	return nil
}

// across measures each peer that fits, in turn, each on a link of its own. What fails of one is noted, and the others go on.
func (b *bench) across(t *table, l link, fits func(*netPeer) bool, measure func(*site) error) error {
	for _, p := range b.remote {
		if !fits(p) || b.ctx.Err() != nil {
			continue
		}
		s, err := b.site(p, l)
		if err != nil {
			return err
		}
		b.settle()
		if err := measure(s); err != nil {
			t.note(fmt.Errorf("%s: %w", p.name, err))
		}
		s.close()
	}
	return b.ctx.Err()
}

func anyPeer(*netPeer) bool         { return true }
func keepsSessions(p *netPeer) bool { return p.attach != nil && p.name != vevPredicts }

// named fits the peers of a list.
func named(names ...string) func(*netPeer) bool {
	return func(p *netPeer) bool { return slices.Contains(names, p.name) }
}

func percent(share float64) string { return fmt.Sprintf("%g%%", share*100) }

// losses are those that a table looks at, each way.
func (b *bench) losses(all ...float64) []float64 {
	if b.quick {
		return all[:1]
	}
	return all
}

// began opens a session on a terminal and waits for what its program says first.
func (s *site) began(session string, program []string) (*client, error) {
	c, err := s.open(s.create, session, program)
	if err != nil {
		return nil, err
	}
	if _, err := c.sees(readyMark); err != nil {
		c.close()
		return nil, err
	}
	if err := s.settled(); err != nil {
		c.close()
		return nil, err
	}
	return c, c.quiet(2 * s.link.rtt)
}

// ages reads for d and returns how old, in milliseconds, what the screen showed was, looked at again and again.
func (c *client) ages(d time.Duration, rows ...int) ([]float64, error) {
	const every = 5 * time.Millisecond
	var ages []float64
	next := time.Now()
	for end := next.Add(d); time.Now().Before(end); {
		if wait := time.Until(next); wait > 0 {
			if _, err := c.read(wait); err != nil {
				return ages, err
			}
			continue
		}
		next = next.Add(every)
		if at, ok := c.stampIn(rows...); ok {
			ages = append(ages, millis(time.Since(at)))
		}
	}
	if len(ages) == 0 {
		return nil, fmt.Errorf("no time on the screen:\n%s", c.text())
	}
	return ages, nil
}
