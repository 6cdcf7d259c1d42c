package vt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type alacrittyLine struct {
	T string
	W int
	R [][3]int
	C []*string
}

type alacrittyFile struct {
	Cols, Rows, HistoryLimit, History int
	Styles                            []map[string]any
	Scrollback, Lines                 []alacrittyLine
}

// alacrittyStyle writes a style as the corpus does, as comparable text.
func alacrittyStyle(s Style) string {
	m := map[string]any{}
	color := func(name string, c Color) {
		if n, ok := c.Index(); ok {
			m[name] = float64(n)
		} else if c != 0 {
			m[name] = c.String()
		}
	}
	color("fg", s.Fg)
	color("bg", s.Bg)
	color("ul", s.Underline)
	for _, n := range s.Attrs.Names() {
		m[n] = 1.0
	}
	if u := s.Attrs.Underline(); u != 0 {
		m["underline"] = float64(u)
	}
	if s.Link.URI != "" {
		m["url"] = s.Link.URI
	}
	if s.Link.ID != "" {
		m["urlId"] = s.Link.ID
	}
	return fmt.Sprint(m)
}

// styles returns the styles of a line of the corpus, one for each column.
func (l *alacrittyLine) styles(f *alacrittyFile) []string {
	out := make([]string, f.Cols)
	for i := range out {
		out[i] = fmt.Sprint(map[string]any{})
	}
	for _, r := range l.R {
		for x := r[0]; x < r[0]+r[1]; x++ {
			out[x] = fmt.Sprint(f.Styles[r[2]])
		}
	}
	return out
}

// compare says how a line differs; continues: the one above goes on in it.
func (f *alacrittyFile) compare(tm *Terminal, what string, l *alacrittyLine, cells []Cell, continues bool) string {
	row := &Row{cells: cells}
	if got, want := rowText(tm, row), strings.TrimRight(l.T, " "); got != want {
		return fmt.Sprintf("%s: want %q, got %q", what, want, got)
	}
	if continues != (l.W == 1) {
		return fmt.Sprintf("%s: goes on from the one above: want %v, got %v", what, l.W == 1, continues)
	}
	for x, want := range l.C { // null is the second column of a wide character
		var c Cell
		if x < len(cells) {
			c = cells[x]
		}
		switch got := string(tm.AppendCell(nil, c)); {
		case want == nil && !c.IsSpacer():
			return fmt.Sprintf("%s column %d: want the second of a wide character, got %q", what, x, got)
		case want != nil && strings.TrimRight(*want, " ") != strings.TrimRight(got, " "):
			return fmt.Sprintf("%s column %d: want %q, got %q", what, x, *want, got)
		}
	}
	for x, want := range l.styles(f) {
		got := fmt.Sprint(map[string]any{})
		if x < len(cells) {
			got = alacrittyStyle(tm.Style(cells[x]))
		}
		if got != want {
			return fmt.Sprintf("%s column %d: want %s, got %s", what, x, want, got)
		}
	}
	return ""
}

func (f *alacrittyFile) difference(tm *Terminal) string {
	if f.HistoryLimit > 0 && int(tm.ScreenTop()-tm.FirstLine()) != f.History {
		return fmt.Sprintf("history: want %d lines, got %d", f.History, tm.ScreenTop()-tm.FirstLine())
	}
	var line Line
	wrapped := false
	for i := range f.Scrollback {
		tm.ReadLine(tm.FirstLine()+uint64(i), &line)
		if d := f.compare(tm, fmt.Sprint("history line ", i), &f.Scrollback[i], line.Cells, wrapped); d != "" {
			return d
		}
		wrapped = line.Wrapped
	}
	for y := range f.Lines {
		if d := f.compare(tm, fmt.Sprint("row ", y), &f.Lines[y], tm.Row(y).Cells(), wrapped); d != "" {
			return d
		}
		wrapped = tm.Row(y).Wrapped()
	}
	return ""
}

func TestAlacritty(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(corpus(t, "alacritty"), "*", "expected.json"))
	require.NoError(t, err)
	for _, file := range dirs {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			var f alacrittyFile
			require.NoError(t, json.Unmarshal(b, &f))
			in, err := os.ReadFile(filepath.Join(filepath.Dir(file), "input.vt"))
			require.NoError(t, err)
			tm := New(Options{Cols: f.Cols, Rows: f.Rows, HistoryLines: f.HistoryLimit})
			tm.Write(in)
			d := f.difference(tm)
			if excused("alacritty", name) != "" {
				require.NotEmpty(t, d, "no exception any more")
				return
			}
			require.Empty(t, d)
		})
	}
}
