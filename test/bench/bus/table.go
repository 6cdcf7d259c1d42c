package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table gathers values by kind and column, both in the order they first came.
type table struct {
	rows, columns []string
	values        map[[2]string][]float64
}

func (t *table) add(row, column string, v float64) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	if !slices.Contains(t.columns, column) {
		t.columns = append(t.columns, column)
	}
	if t.values == nil {
		t.values = make(map[[2]string][]float64)
	}
	t.values[[2]string{row, column}] = append(t.values[[2]string{row, column}], v)
}

func (t *table) median(row, column string) (float64, bool) {
	v := slices.Clone(t.values[[2]string{row, column}])
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return v[len(v)/2], true
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "| subscribers: | %s |\n|---|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---:|", len(t.columns)))
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s |", r)
		for _, c := range t.columns {
			if v, ok := t.median(r, c); ok {
				fmt.Fprintf(w, " %.4g |", v)
			} else {
				fmt.Fprint(w, " – |")
			}
		}
		fmt.Fprintln(w)
	}
}

// verdict compares with the better of NATS's two ways, and fails where the target is missed.
func (t *table) verdict(w io.Writer) error {
	column := fmt.Sprintf("%d: µs/frame", must)
	shared, _ := t.median(sharedName, column)
	each, _ := t.median(eachName, column)
	best := min(shared, each)
	for _, row := range []string{exactName, prefixName} {
		v, _ := t.median(row, column)
		fmt.Fprintf(w, "%s, %d subscribers: %.1fx NATS, must be %dx\n", row, must, best/v, mustRatio)
		if best < mustRatio*v {
			return fmt.Errorf("%s misses its target", row)
		}
	}
	for _, row := range []string{channelsName, exactName, prefixName} {
		few, _ := t.median(row, fmt.Sprintf("%d: CPU ns/delivery", must))
		many, _ := t.median(row, fmt.Sprintf("%d: CPU ns/delivery", most))
		fmt.Fprintf(w, "%s, CPU of a delivery: %.0f ns with %d subscribers, %.0f ns with %d: %.2fx\n", row, few, must, many, most, many/few)
	}
	return nil
}
