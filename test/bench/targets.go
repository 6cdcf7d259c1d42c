//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
)

// target is one thing that vev has to reach in a table: at most limit times the base's median, or at most limit where
// there is no base.
type target struct {
	id     string
	table  string
	metric string
	base   string
	limit  float64
	of     string // whose value it is; empty: vev's
	// tail: few samples decide and two cores are few, so that it is shown but gates nothing.
	tail bool
}

// targets are the project's local targets. L1 allows for a client that copies between the terminal and the daemon.
var targets = []target{
	{id: "L1", table: "echo", metric: "idle p50 µs", base: "tmux", limit: 1.35},
	{id: "L2", table: "echo", metric: "idle p99 µs", base: "tmux", limit: 1.2, tail: true},
	{id: "L3", table: "echo", metric: "detached p50 µs", base: "tmux", limit: 0.4},
	{id: "L3", table: "echo", metric: "detached p99 µs", base: "tmux", limit: 0.9, tail: true},
	{id: "L4", table: "echo", metric: "attached p50 µs", base: "tmux", limit: 0.3},
	{id: "L4", table: "echo", metric: "attached p99 µs", base: "tmux", limit: 0.6, tail: true},
	{id: "L5", table: "flood", metric: "cat s", base: "tmux", limit: 0.85},
	{id: "L5", table: "flood", metric: "cat s", base: "raw", limit: 1.5},
	{id: "L5", table: "flood", metric: "cat CPU s", base: "tmux", limit: 1},
	{id: "L6", table: "flood", metric: "seq s", base: "tmux", limit: 0.8},
	{id: "L7", table: "ctrlc", metric: "to prompt ms", base: "tmux", limit: 1},
	{id: "L7", table: "ctrlc", metric: "KB after", limit: 10},
	{id: "L8", table: "attach", metric: "ms", base: "tmux", limit: 1.3},
	{id: "L8", table: "attach", metric: "bytes", base: "tmux", limit: 1},
	{id: "L9", table: "create", metric: "warm ms", base: "tmux", limit: 1.1},
	{id: "L10", table: "many", metric: "create 100 s", base: "tmux", limit: 1.1},
	{id: "L10", table: "many", metric: "list ms", base: "tmux", limit: 1.2},
	{id: "L11", table: "mem", metric: "50: PSS MiB", base: "tmux", limit: 0.45},
	{id: "L12", table: "mem", metric: "1: PSS MiB", base: "tmux", limit: 1.5},
	{id: "L13", table: "mem", metric: "50: CPU ms/s", limit: 0},
	{id: "L13", table: "mem", metric: "50: switches/s", limit: 1},
}

// value is what vev reached; false when it was not measured.
func (g target) value(made map[string]*table) (float64, bool) {
	of := cmp.Or(g.of, "vev")
	if g.base == "" {
		return made[g.table].median(of, g.metric)
	}
	return made[g.table].ratio(of, g.base, g.metric)
}

// slack is by how much a target may be missed before a gate fails.
const slack = 1.25

// printTargets judges each target that was measured and returns how many were missed by more than the slack.
func printTargets(w io.Writer, all []target, made map[string]*table, quick bool) (missed int) {
	rows := [][]string{{"target", "value", "at most", "of", ""}}
	for _, g := range all {
		v, ok := g.value(made)
		if !ok {
			continue
		}
		verdict := "met"
		if v > g.limit {
			verdict = "MISSED"
			if v > g.limit*slack && !g.tail {
				missed++
			}
		}
		of, what := cmp.Or(g.base, "itself"), fmt.Sprintf("%s %s %s", g.id, g.table, g.metric)
		if g.of != "" {
			what += " (" + g.of + ")"
		}
		rows = append(rows, []string{
			what, cellText(v, true), cellText(g.limit, true), of, verdict,
		})
	}
	if len(rows) > 1 {
		title := "targets"
		if quick {
			title += " (a smoke run: its loads are too small to judge by)"
		}
		fmt.Fprintf(w, "\n%s\n\n", title)
		writeAligned(w, rows)
	}
	return missed
}
