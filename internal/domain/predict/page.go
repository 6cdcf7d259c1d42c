package predict

import (
	"slices"

	"github.com/vev-term/vev/internal/domain/vt"
)

const (
	// maxLines is how many rows a guess may span: the one with the cursor and those it wraps to. Beyond, keys are not
	// guessed until the rest is settled.
	maxLines = 4
	// wideGap is how many blanks in a row part what an insertion pushes from what stands behind, as beside a border.
	wideGap = 3
)

// mark says where a cell of a page comes from.
type mark uint8

const (
	unmarked mark = iota // the base
	pushed               // moved by an insertion or deletion before it: it may be wrong and says nothing about the key
	typed                // a key's own
)

// page is the rows around the cursor: those of a state, or those after some keys.
type page struct {
	cols, rows int // of the screen
	top        int // row of line[0] on the screen
	n          int // lines in use
	line       [maxLines]line
	// The cursor. Column cols: the last one was just written, where the program goes on is its choice.
	row, col int
	lost     bool // where the cursor is now is not known
}

type line struct {
	id    uint64 // of the screen's row
	cells []vt.Cell
	marks []mark
	dirty bool // there are marks
}

// read makes the page that of a terminal's screen.
func (p *page) read(t *vt.Terminal) {
	cols, rows := t.Size()
	c := t.Cursor()
	p.cols, p.rows, p.top, p.row, p.col, p.lost = cols, rows, c.Row, 0, c.Col, false
	if c.Pending {
		p.col = cols
	}
	p.n = min(maxLines, rows-c.Row)
	for i := range p.n {
		row, l := t.Row(c.Row+i), &p.line[i]
		l.id = row.ID()
		l.cells = append(l.cells[:0], row.Cells()...)
		l.marks = slices.Grow(l.marks[:0], cols)[:cols]
		clear(l.marks)
		l.dirty = false
	}
}

// copy makes the page equal to o, which has no marks.
func (p *page) copy(o *page) {
	p.cols, p.rows, p.top, p.n, p.row, p.col, p.lost = o.cols, o.rows, o.top, o.n, o.row, o.col, o.lost
	for i := range p.n {
		l, from := &p.line[i], &o.line[i]
		l.id, l.dirty = from.id, false
		l.cells = append(l.cells[:0], from.cells...)
		l.marks = append(l.marks[:0], from.marks...)
	}
}

// origin is where the line that is being typed begins, if that is known: nothing is erased or gone back to before it.
type origin struct {
	id  uint64 // of the row; 0: not known
	col int
}

// apply does what k is guessed to do; false, and nothing done: there is no guess. push: text behind the cursor moves.
func (p *page) apply(k *key, push bool, from origin) bool {
	if p.lost || k.kind.breaks() {
		return false
	}
	if k.kind == keyPrint {
		return p.print(k, push, from)
	}
	if p.col == p.cols {
		return false
	}
	l := &p.line[p.row]
	if k.kind != keyRight && from.id == l.id && from.col == p.col {
		k.news = false
		return true // the line's begin: programs stay there
	}
	if k.kind == keyRight {
		k.news = telling(l.cells[p.col].Rune())
	} else if p.col > 0 {
		k.news = telling(l.cells[p.col-l.step(p.col-1)].Rune())
	}
	switch k.kind {
	case keyErase:
		return p.erase(l, push)
	case keyLeft:
		if p.col == 0 {
			return false
		}
		p.col -= l.step(p.col - 1)
	case keyRight:
		if tailEnd(l.cells, p.col) == p.col {
			k.news = false
			return true // the end of the text
		}
		if p.col+l.span(p.col) >= p.cols {
			return false
		}
		p.col += l.span(p.col)
	case keyBreak, keyEnter, keyPrint:
	}
	return true
}

// span is the width of the character at column x, step how far back the one that ends there begins.
func (l *line) span(x int) int {
	if l.cells[x].IsWide() {
		return 2
	}
	return 1
}

func (l *line) step(x int) int {
	if l.cells[x].IsSpacer() && x > 0 {
		return 2
	}
	return 1
}

// tailEnd returns where the text behind column x ends, x where there is none. That a blank was written is not known
// here: a state shows both kinds alike.
func tailEnd(cells []vt.Cell, x int) int {
	end := x
	for i := x; i < len(cells) && i < end+wideGap; i++ {
		if !cells[i].IsBlank() {
			end = i + 1
		}
	}
	return end
}

func (p *page) print(k *key, push bool, from origin) bool {
	if p.col+k.width > p.cols && !p.wrap() {
		return false
	}
	l, x := &p.line[p.row], p.col
	c := p.style(l, x, from)
	first, spacer := c.With(k.r), vt.Cell{}
	if k.width == 2 {
		first, spacer = c.WithWide(k.r)
	}
	if x > 0 && first.MayJoin(l.cells[x-1]) {
		return false
	}
	k.row, k.col, k.news = p.top+p.row, x, telling(k.r) && l.cells[x].Rune() != k.r
	if end := tailEnd(l.cells, x); push && end > x {
		l.shift(x, x+k.width, end)
	} else {
		l.part(x)
		l.part(x + k.width)
	}
	l.put(x, first, typed)
	if k.width == 2 {
		l.put(x+1, spacer, typed)
	}
	p.col += k.width
	return true
}

// wrap moves the cursor to the next line, if that is empty and on the screen.
func (p *page) wrap() bool {
	if p.row+1 >= p.n {
		p.lost = true
		return false
	}
	for _, c := range p.line[p.row+1].cells {
		if !c.IsBlank() {
			p.lost = true
			return false
		}
	}
	p.row++
	p.col = 0
	return true
}

// style is a cell whose style a character typed at column x of l probably has: that of its neighbour, unless that
// belongs to a prompt.
func (p *page) style(l *line, x int, from origin) vt.Cell {
	if x == 0 || from.id == l.id && from.col == x {
		return vt.Cell{}
	}
	return l.cells[x-1]
}

func (p *page) erase(l *line, push bool) bool {
	if p.col == 0 {
		return false
	}
	to := p.col - l.step(p.col-1)
	blank := vt.Cell{}
	if end := tailEnd(l.cells, p.col); push && end > p.col {
		l.shift(p.col, to, end)
	} else {
		l.part(p.col)
		for x := to; x < p.col; x++ {
			l.put(x, blank, typed)
		}
	}
	p.col = to
	return true
}

// shift moves cells [from, end) so that they begin at column to, blanks what they leave, and drops what leaves the row.
func (l *line) shift(from, to, end int) {
	copy(l.cells[to:], l.cells[from:end])
	last := min(to+end-from, len(l.cells))
	for x := last; x < end; x++ {
		l.put(x, vt.Cell{}, pushed)
	}
	for x := min(from, to); x < last; x++ {
		l.marks[x] = pushed
	}
	if last == len(l.cells) && l.cells[last-1].IsWide() {
		l.cells[last-1] = l.cells[last-1].Erased()
	}
	l.dirty = true
}

// part makes column x a boundary between characters: a wide one across it is blanked.
func (l *line) part(x int) {
	if x > 0 && x < len(l.cells) && l.cells[x].IsSpacer() {
		l.put(x-1, l.cells[x-1].Erased(), pushed)
		l.put(x, l.cells[x].Erased(), pushed)
	}
}

func (l *line) put(x int, c vt.Cell, m mark) {
	l.cells[x], l.marks[x], l.dirty = c, m, true
}

// match is how far a screen agrees with a page.
type match uint8

const (
	matchNone  match = iota
	matchCells       // what was typed is there, the cursor is elsewhere
	matchKeys        // and the cursor is in its place, but what was to move has not moved that way
	matchAll
)

// compare tells how far the screen of t agrees with the page.
func (p *page) compare(t *vt.Terminal) match {
	all := true
	for i := range p.n {
		l := &p.line[i]
		if !l.dirty {
			continue
		}
		cells := t.Row(p.top + i).Cells()
		for x, m := range l.marks {
			if m == unmarked || sameText(l.cells[x], cells[x]) {
				continue
			}
			if m == typed {
				return matchNone
			}
			all = false
		}
	}
	switch {
	case !p.cursorAt(t.Cursor()):
		return matchCells
	case !all:
		return matchKeys
	}
	return matchAll
}

func sameText(a, b vt.Cell) bool {
	if a.IsBlank() || b.IsBlank() {
		return a.IsBlank() && b.IsBlank()
	}
	return a.Rune() == b.Rune() && a.IsSpacer() == b.IsSpacer()
}

// cursorAt reports whether c is the page's cursor. Behind the last column a program may wait, or be in the next row.
func (p *page) cursorAt(c vt.Cursor) bool {
	row := p.top + p.row
	if c.Pending {
		return row == c.Row && p.col == p.cols
	}
	return row == c.Row && p.col == c.Col || p.col == p.cols && c.Row == row+1 && c.Col == 0
}
