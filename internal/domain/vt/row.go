package vt

// Row is one line of a screen. The Terminal owns it: a caller reads it before the next Write or Resize, and changes
// nothing.
type Row struct {
	// cells has the screen's width; cells[used:] are all zero.
	cells []Cell
	used  int
	ver   uint64
	id    uint64
	// wrapped: the text goes on in the next row.
	wrapped bool
	// wide: a wide cell or a cluster may be in the row. Only erasing the whole row clears it.
	wide bool
	// plain: every cell up to used is ASCII (or blank) in default style.
	plain bool
}

// Cells returns the cells, as many as the screen has columns.
func (r *Row) Cells() []Cell { return r.cells }

// Used returns how many leading cells may be other than the zero Cell; all behind are zero.
func (r *Row) Used() int { return r.used }

// Wrapped reports whether the text goes on in the next row (soft wrap).
func (r *Row) Wrapped() bool { return r.wrapped }

// HasWide reports whether the row may hold wide characters or clusters.
func (r *Row) HasWide() bool { return r.wide }

// Version returns the terminal's version at the row's last change. With equal [Row.ID] and equal Version, a row of one
// terminal has equal content.
func (r *Row) Version() uint64 { return r.ver }

// ID identifies the row while it moves within its screen, so that a scroll shows as known rows in other places. A row
// that leaves the screen or is blanked by a scroll gets a new one. IDs are never reused within a terminal.
func (r *Row) ID() uint64 { return r.id }
