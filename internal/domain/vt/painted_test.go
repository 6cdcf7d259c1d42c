package vt_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
)

// shown is what a viewer of a terminal has, as values.
type shown struct {
	Rows   []string
	Cursor vt.Cursor
	Modes  vt.Modes
	Title  string
	Colors []string
}

func look(tm *vt.Terminal) shown {
	s := shown{Cursor: tm.Cursor(), Modes: tm.Modes(), Title: tm.Title()}
	p := tm.Palette()
	for i, c := range append(p.Indexed[:], p.Foreground, p.Background, p.Cursor) {
		if c != 0 {
			s.Colors = append(s.Colors, fmt.Sprint(i, c))
		}
	}
	// These concern only what the program prints next, or a single frame.
	s.Modes.Sync, s.Modes.Graphemes, s.Modes.Autowrap, s.Modes.Origin, s.Modes.Insert = false, false, false, false, false
	_, rows := tm.Size()
	for y := range rows {
		r := tm.Row(y)
		text := fmt.Sprint(r.Wrapped(), ":")
		for x, c := range r.Cells() {
			if c.IsBlank() && tm.Style(c) == (vt.Style{}) {
				continue
			}
			glyph := " "
			if !c.IsBlank() {
				glyph = string(tm.AppendCell(nil, c))
			}
			text += fmt.Sprintf(" %d:%q%v%v", x, glyph, c.IsWide(), tm.Style(c))
		}
		s.Rows = append(s.Rows, text)
	}
	return s
}

// TestNewViewerSeesTheSame: whoever attaches behind any of the inputs gets what the engine has, cell by cell.
func TestNewViewerSeesTheSame(t *testing.T) {
	for _, in := range vt.Inputs(t) {
		for _, cols := range []int{80, 20} {
			o := vt.Options{Cols: cols, Rows: 24, HistoryLines: 50}
			tm, viewer := vt.New(o), vt.New(o)
			tm.Write([]byte(in))
			var f render.Frame
			f.SetTerminal(tm)
			viewer.Write(render.NewPainter(render.Canonical, render.Capabilities{}).Paint(nil, &f))
			require.Equal(t, look(tm), look(viewer), "%q", in)
		}
	}
}
