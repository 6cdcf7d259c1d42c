package render

import "github.com/vev-term/vev/internal/domain/vt"

// Target says what receives a painter's bytes.
type Target uint8

// The targets.
const (
	// Canonical is an engine of package vt that mirrors the frame: all state is in the bytes. It has the frame's size
	// when the bytes reach it.
	Canonical Target = iota
	// UserTerminal is a person's xterm-like terminal, between Enter and Leave.
	UserTerminal
)

// Painter remembers what a terminal shows and paints differences. It is for one goroutine at a time.
type Painter struct {
	target Target
	caps   Capabilities
	inline int  // rows of the UserTerminal whose main screen is drawn on; 0: the alternate one
	known  bool // the fields below say what the terminal shows

	cols, rows int
	shadow     []shadowRow
	spare      []shadowRow // rows on their way while they scroll
	newest     uint64      // largest row id in the shadow

	// The terminal's cursor and pen in the course of a paint.
	x, y    int
	xKnown  bool
	yKnown  bool
	pending bool    // the terminal has a wrap pending at x
	last    vt.Cell // printed last
	joins   bool    // nothing came behind last: the terminal might join the next character to it
	style   vt.Style
	styleOf vt.Cell // style came from this cell of styleT, as of styleG
	styleT  *vt.Terminal
	styleG  uint64

	state state
	ever  touched
	line  []vt.Cell // a row made up for the frame
	// different are the rows that do not show the frame, on their way.
	different []int
	text      []byte // of a cell, on its way
	sgr       []byte // SGR parameters on their way
	sgrAlt    []byte
}

// shadowRow is what the terminal shows in one row: the cells of the frame's row with that key. Cells that no longer
// resolve are vt.UnknownCell.
type shadowRow struct {
	key     rowKey
	cells   []vt.Cell
	wrapped bool
}

// NewPainter returns a painter that knows nothing of its terminal: the first Paint is complete. The capabilities are
// those of a UserTerminal; an engine has them all.
func NewPainter(target Target, c Capabilities) *Painter { return &Painter{target: target, caps: c} }

// Reset forgets what the terminal shows; the next Paint is complete.
func (p *Painter) Reset() { p.known = false }

// Paint appends to dst what makes the terminal show f, and remembers f. It appends nothing when f is shown already.
func (p *Painter) Paint(dst []byte, f *Frame) []byte {
	if !p.known || p.cols != f.Cols || p.rows != f.Rows {
		dst = p.startOver(dst, f)
	}
	dst = p.syncScreen(dst, f)
	if first, last := p.changedRows(f); first < last {
		dst = p.paintRows(dst, f, first, last)
	}
	dst = p.syncState(dst, f)
	return p.placeCursor(dst, f)
}

// changedRows returns the rows [first, last) outside of which the terminal shows the frame.
func (p *Painter) changedRows(f *Frame) (first, last int) {
	for last = f.Rows; last > 0 && p.shadow[last-1].key == f.key(last-1); {
		last--
	}
	for first < last && p.shadow[first].key == f.key(first) {
		first++
	}
	return first, last
}

// paintRows paints what differs in rows [first, last).
func (p *Painter) paintRows(dst []byte, f *Frame, first, last int) []byte {
	if last-first > 1 {
		if p.target == UserTerminal && p.state.visible {
			p.state.visible = false // no cursor that jumps about
			dst = appendMode(dst, 25, false)
		}
		dst = p.scroll(dst, f, first, last)
		dst = p.shiftText(dst, f, first, last)
		dst = p.clearBelow(dst, f, last)
	}
	for y := first; y < last; y++ {
		if key := f.key(y); p.shadow[y].key != key {
			dst = p.paintRow(dst, f, y)
			p.newest = max(p.newest, key.id)
		}
	}
	return dst
}

// startOver brings the terminal into a known state: a blank screen, everything at its default.
func (p *Painter) startOver(dst []byte, f *Frame) []byte {
	if p.target == Canonical {
		dst = append(dst, "\x1bc"...)
		p.state = canonicalDefaults()
	} else {
		dst = p.resetUser(dst, f.Rows)
	}
	p.known = true
	p.cols, p.rows = f.Cols, f.Rows
	p.style, p.styleT = vt.Style{}, nil
	p.joins, p.pending = false, false
	p.x, p.y, p.xKnown, p.yKnown = 0, 0, true, true
	p.resizeShadow()
	return dst
}

// resizeShadow makes the shadow p.cols x p.rows blank cells.
func (p *Painter) resizeShadow() {
	for len(p.shadow) < p.rows {
		p.shadow = append(p.shadow, shadowRow{})
	}
	p.shadow = p.shadow[:p.rows]
	for y := range p.shadow {
		r := &p.shadow[y]
		if cap(r.cells) < p.cols {
			r.cells = make([]vt.Cell, p.cols)
		}
		r.cells = r.cells[:p.cols]
		r.blank()
	}
}

func (r *shadowRow) blank() {
	clear(r.cells)
	r.key, r.wrapped = rowKey{}, false
}

// isBlank reports whether nothing is in the row, not even a background.
func (r *shadowRow) isBlank() bool {
	for _, c := range r.cells {
		if c != (vt.Cell{}) {
			return false
		}
	}
	return !r.wrapped
}

// forget makes cells unknown that resolve in a terminal, or a generation, which the row no longer comes from.
func (r *shadowRow) forget() {
	for i, c := range r.cells {
		if c.IsCluster() || c.HasSide() {
			r.cells[i] = vt.UnknownCell()
		}
	}
}

// placeCursor ends a paint: the cursor's place, shape and visibility.
func (p *Painter) placeCursor(dst []byte, f *Frame) []byte {
	c := f.Cursor
	if c.Visible || p.target == Canonical {
		if c.Pending && p.target == Canonical {
			if !p.pending || !p.at(c.Col, c.Row) {
				dst = p.move(dst, c.Col, c.Row)
				dst = append(dst, "\x1b[=1;2w"...)
				p.pending = true
			}
		} else {
			dst = p.move(dst, c.Col, c.Row)
		}
	}
	if c.Visible != p.state.visible {
		p.state.visible = c.Visible
		dst = appendMode(dst, 25, c.Visible)
	}
	return dst
}
