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
	fmt.Fprintf(w, "| carries streams | %s |\n|---|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---:|", len(t.columns)))
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s |", r)
		for _, c := range t.columns {
			fmt.Fprintf(w, " %s |", number(t.median(r, c)))
		}
		fmt.Fprintln(w)
	}
}

func number(v float64, ok bool) string {
	switch {
	case !ok:
		return "–"
	case v >= 100 || v == 0:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
