//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// table holds the values of one table, several for each peer and metric, and prints their medians.
type table struct {
	title   string
	metrics []string // in the order of their first value
	values  map[cellKey][]float64
	notes   []string
	bases   []string // the peers that vev is compared with
}

type cellKey struct{ peer, metric string }

func newTable(title string, bases ...string) *table {
	return &table{title: title, values: map[cellKey][]float64{}, bases: bases}
}

func (t *table) add(peer, metric string, v float64) {
	if !slices.Contains(t.metrics, metric) {
		t.metrics = append(t.metrics, metric)
	}
	key := cellKey{peer, metric}
	t.values[key] = append(t.values[key], v)
}

// note keeps what went wrong, to be printed under the table.
func (t *table) note(err error) { t.notes = append(t.notes, err.Error()) }

func (t *table) has(peer string) bool {
	return slices.ContainsFunc(t.metrics, func(metric string) bool { return len(t.values[cellKey{peer, metric}]) > 0 })
}

// median returns the median of a peer's values; false when there are none.
func (t *table) median(peer, metric string) (float64, bool) {
	if t == nil {
		return 0, false
	}
	v := t.values[cellKey{peer, metric}]
	return quantile(v, 0.5), len(v) > 0
}

// ratio is the quotient of two peers' medians; false when one is missing or the divisor is not positive.
func (t *table) ratio(peer, base, metric string) (float64, bool) {
	v, ok := t.median(peer, metric)
	w, okBase := t.median(base, metric)
	if !ok || !okBase || w <= 0 {
		return 0, false
	}
	return v / w, true
}

// quantile interpolates between the two nearest of the sorted values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// print writes the medians, a row for each peer, and below what vev is in terms of the others.
func (t *table) print(w io.Writer, peers []string, took time.Duration) {
	fmt.Fprintf(w, "\n%s (%s)\n\n", t.title, took.Round(time.Second))
	rows := [][]string{append([]string{""}, t.metrics...)}
	for _, peer := range peers {
		if !t.has(peer) {
			continue
		}
		row := []string{peer}
		for _, metric := range t.metrics {
			row = append(row, cellText(t.median(peer, metric)))
		}
		rows = append(rows, row)
	}
	for _, base := range t.bases {
		row := []string{"vev / " + base}
		some := false
		for _, metric := range t.metrics {
			v, ok := t.ratio("vev", base, metric)
			some = some || ok
			row = append(row, cellText(v, ok))
		}
		if some {
			rows = append(rows, row)
		}
	}
	writeAligned(w, rows)
	for _, note := range t.notes {
		fmt.Fprintf(w, "  ! %s\n", strings.ReplaceAll(strings.TrimSpace(note), "\n", "\n    "))
	}
}

func cellText(v float64, ok bool) string {
	switch {
	case !ok:
		return "-"
	case v == 0:
		return "0"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// writeAligned writes the first column to the left and the others to the right.
func writeAligned(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			width[i] = max(width[i], len([]rune(text)))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(w, "  %-*s", width[0], row[0])
		for i, text := range row[1:] {
			fmt.Fprintf(w, "  %*s", width[i+1], text)
		}
		fmt.Fprintln(w)
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
