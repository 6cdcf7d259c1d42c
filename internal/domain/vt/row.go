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
	// edge: when it was wrapped a wide character did not fit in the last column.
	edge bool
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

// erase makes cells [from, to) equal to blank, a cell without text. Halves of wide characters that stick out are
// blanked too.
func (r *Row) erase(from, to int, blank Cell) {
	if from >= to {
		return
	}
	if r.wide {
		r.split(from, blank)
		r.split(to, blank)
	}
	if blank == (Cell{}) {
		if to >= r.used {
			to = r.used
			r.used = min(r.used, from)
			if r.used == 0 {
				r.wide, r.plain = false, true
			}
		}
		if from < to {
			clear(r.cells[from:to])
		}
		return
	}
	r.plain = false
	r.used = max(r.used, to)
	fillCells(r.cells[from:to], blank)
}

func fillCells(cells []Cell, c Cell) {
	for i := range cells {
		cells[i] = c
	}
}

// split makes column x a boundary between characters: both halves of a wide character across it become blank, which is
// what the operation that needs the boundary leaves.
func (r *Row) split(x int, blank Cell) {
	if x <= 0 || x >= r.used || r.cells[x].ext()&spacerFlag == 0 {
		return
	}
	r.cells[x-1], r.cells[x] = blank, blank
}

// insert shifts cells [from, to) right by n, drops what leaves and fills with blank.
func (r *Row) insert(from, to, n int, blank Cell) {
	n = min(n, to-from)
	if n <= 0 {
		return
	}
	if r.wide {
		r.split(from, blank)
		r.split(to-n, blank)
		r.split(to, blank)
	}
	copy(r.cells[from+n:to], r.cells[from:to-n])
	r.used = max(r.used, min(to, r.used+n))
	r.overwrite(from, from+n, blank)
}

// remove shifts cells [from+n, to) left by n and fills with blank.
func (r *Row) remove(from, to, n int, blank Cell) {
	n = min(n, to-from)
	if n <= 0 {
		return
	}
	if r.wide {
		r.split(from, blank)
		r.split(from+n, blank)
		r.split(to, blank)
	}
	copy(r.cells[from:to-n], r.cells[from+n:to])
	r.overwrite(to-n, to, blank)
}

// overwrite is erase where no wide character needs care.
func (r *Row) overwrite(from, to int, blank Cell) {
	if blank == (Cell{}) && from >= r.used {
		return
	}
	fillCells(r.cells[from:to], blank)
	if blank != (Cell{}) {
		r.plain = false
		r.used = max(r.used, to)
	} else if to >= r.used {
		r.used = from
	}
}

// blankAll makes the whole row blank and not wrapped.
func (r *Row) blankAll(blank Cell) {
	clear(r.cells[:r.used])
	r.used, r.wide, r.plain, r.wrapped = 0, false, true, false
	if blank != (Cell{}) {
		fillCells(r.cells, blank)
		r.used, r.plain = len(r.cells), false
	}
}

// keptEnd returns how many columns of the row are its text: of one that goes on in the next all but an edge (see
// hasEdge), so that the text can be wrapped anew at the same places.
func (r *Row) keptEnd() int {
	switch {
	case r.hasEdge():
		return len(r.cells) - 1
	case r.wrapped:
		return len(r.cells)
	}
	return r.textEnd()
}

// hasEdge reports whether the row's last column is blank only because a wide character did not fit there.
func (r *Row) hasEdge() bool {
	n := len(r.cells)
	return r.wrapped && r.edge && n > 0 && r.cells[n-1].ch() == 0 && r.cells[n-1].ext()&spacerFlag == 0
}

// textEnd returns the column behind the last cell that is other than the zero Cell.
func (r *Row) textEnd() int {
	n := r.used
	for n > 0 && r.cells[n-1] == (Cell{}) {
		n--
	}
	return n
}
