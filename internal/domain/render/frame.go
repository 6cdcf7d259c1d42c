package render

import "github.com/vev-term/vev/internal/domain/vt"

// Frame is what one terminal should show. It refers to rows of live terminals: fill it, paint it, and fill it again
// after they were written to. The exported fields may be changed between filling and painting.
type Frame struct {
	Cols, Rows int
	Cursor     vt.Cursor
	// Modes: of them Alternate, ReverseVideo and those that change input are painted; Sync, Graphemes, Autowrap,
	// Origin and Insert matter to the program's further output only.
	Modes vt.Modes
	Title string
	// Palette holds the colours that the program changed; nil is none.
	Palette *vt.Palette

	rows   []rowRef
	spare  []rowRef // memory of Window
	beyond vt.Cell  // beside and below the rows
}

// rowRef is one row of a frame: from column x on of a row of t. A nil row is beyond what the frame shows.
type rowRef struct {
	t   *vt.Terminal
	row *vt.Row
	x   int

	made    []vt.Cell // instead of the row's own, or nil
	version uint64    // of made
}

// madeBit is in the versions of cells that were made up, and in none of a row's own.
const madeBit = 1 << 63

// SetTerminal makes the frame show all of t: size, rows, cursor, modes, title and colours.
func (f *Frame) SetTerminal(t *vt.Terminal) {
	f.Cols, f.Rows = t.Size()
	f.Cursor, f.Modes, f.Title, f.Palette = t.Cursor(), t.Modes(), t.Title(), t.Palette()
	f.rows, f.beyond = f.rows[:0], vt.Cell{}
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

// SetCells makes row y show cells, which its terminal resolves, instead of that row's own: as many as the row has. They
// belong to the frame until it is filled again. Cells of one row with equal versions must be equal. A y outside the
// frame is ignored.
func (f *Frame) SetCells(y int, cells []vt.Cell, version uint64) {
	if y >= 0 && y < len(f.rows) {
		f.rows[y].made, f.rows[y].version = cells, version|madeBit
	}
}

// Window crops the frame to cols x rows from (x, y) on, neither negative. What lies outside the old frame shows beyond,
// one column of ASCII without link and underline colour, or the zero cell; what a painter is given shows the same beyond
// whenever it is not the zero cell. A wide character cut by an edge is blank. The cursor moves along
// and is hidden when it is outside.
func (f *Frame) Window(x, y, cols, rows int, beyond vt.Cell) {
	refs := f.rows
	f.rows, f.spare, f.beyond = f.spare[:0], refs, beyond
	for i := range rows {
		ref := rowRef{}
		if y+i < len(refs) {
			ref = refs[y+i]
			ref.x += x
		}
		f.rows = append(f.rows, ref)
	}
	f.Cols, f.Rows = cols, rows
	f.Cursor.Col -= x
	f.Cursor.Row -= y
	if c := &f.Cursor; c.Col < 0 || c.Row < 0 || c.Col >= cols || c.Row >= rows {
		c.Visible = false
		c.Col, c.Row = max(0, min(c.Col, cols-1)), max(0, min(c.Row, rows-1))
	}
}

// cells returns the cells of row y, as many as the frame has columns; scratch is used if they have to be made up.
func (f *Frame) cells(y int, scratch *[]vt.Cell) []vt.Cell {
	ref := f.rows[y]
	var cells []vt.Cell
	if ref.row != nil {
		if cells = ref.shown(); ref.x == 0 && len(cells) == f.Cols {
			return cells
		}
	}
	out := append((*scratch)[:0], cells[min(ref.x, len(cells)):min(ref.x+f.Cols, len(cells))]...)
	for len(out) < f.Cols {
		out = append(out, f.beyond)
	}
	if out[0].IsSpacer() {
		out[0] = out[0].Erased()
	}
	if last := &out[f.Cols-1]; last.IsWide() {
		*last = last.Erased()
	}
	*scratch = out
	return out
}

// shown are the cells of a row that is not blank.
func (r *rowRef) shown() []vt.Cell {
	if r.made != nil {
		return r.made
	}
	return r.row.Cells()
}

// isBlank reports whether nothing is in row y, not even a background.
func (f *Frame) isBlank(y int) bool {
	ref := &f.rows[y]
	if f.beyond != (vt.Cell{}) && (ref.row == nil || len(ref.shown())-ref.x < f.Cols) {
		return false
	}
	return ref.row == nil || ref.made == nil && ref.row.Used() == 0 && !ref.row.Wrapped()
}

// wrapped reports whether row y goes on in the next, with nothing of it cut off.
func (f *Frame) wrapped(y int) bool {
	ref := f.rows[y]
	return ref.row != nil && ref.row.Wrapped() && ref.x == 0 && len(ref.row.Cells()) == f.Cols
}

// key says what a row shows: rows with equal keys show the same.
func (f *Frame) key(y int) rowKey {
	ref := f.rows[y]
	if ref.row == nil && f.beyond == (vt.Cell{}) {
		return rowKey{}
	}
	if ref.row == nil {
		return rowKey{version: madeBit}
	}
	version := ref.version
	if ref.made == nil {
		version = ref.row.Version()
	}
	cols := len(ref.shown())
	if f.beyond != (vt.Cell{}) {
		cols = -cols
	}
	return rowKey{t: ref.t, gen: ref.t.Generation(), id: ref.row.ID(), version: version, x: ref.x, cols: cols}
}

type rowKey struct {
	t       *vt.Terminal
	gen     uint64
	id      uint64
	version uint64
	x       int
	cols    int // of the row, as what is beside it depends on them; negative if that is not blank
}

// sameRow reports whether both keys are of one row, maybe changed.
func (k rowKey) sameRow(o rowKey) bool {
	return k.t == o.t && k.t != nil && k.id == o.id && k.x == o.x && k.gen == o.gen
}
