package render

import "github.com/vev-term/vev/internal/domain/vt"

// Text that moved without its rows (a program drew it anew elsewhere, or scrolled one of two columns of text) is found by
// its cells.
const (
	// minShiftRows is how many rows must have changed for that to be looked for.
	minShiftRows = 4
	// maxShift is how many rows up or down is looked.
	maxShift = 32
	// minShiftCells is how many cells a shift must save; the sequences for it cost up to 40 bytes.
	minShiftCells = 96
	// probes is how many rows are looked for elsewhere.
	probes = 3
)

// shift is a move of the cells in columns [left, right) by d rows up, down when it is negative, within rows top..bot.
type shift struct {
	left, right int
	top, bot    int
	d           int
}

// shiftText scrolls text of rows [first, last) to where the frame has it.
func (p *Painter) shiftText(dst []byte, f *Frame, first, last int) []byte {
	for first < last && p.shadow[first].key == f.key(first) {
		first++
	}
	for first < last && p.shadow[last-1].key == f.key(last-1) {
		last--
	}
	if last-first < minShiftRows || !p.oneSource(f, first, last) || p.differentRows(f, first, last) < minShiftRows {
		return dst
	}
	if s, ok := p.findShift(f, first, last, 0, p.cols); ok {
		return p.scrollBlock(dst, block{from: max(s.top+s.d, s.top), to: max(s.top-s.d, s.top), n: s.bot - s.top + 1 - max(s.d, -s.d)})
	}
	if p.target != Canonical {
		return dst // many a terminal has no left and right margins
	}
	// Rows around may have changed beside what moved: a status line, a command line.
	margin := (last - first) / 4
	left, right := p.changedColumns(f, first+margin, last-margin)
	if right-left < 2 || right-left == p.cols {
		return dst
	}
	if s, ok := p.findShift(f, first, last, left, right); ok && p.cutsNothing(s) {
		return p.shiftColumns(dst, s)
	}
	return dst
}

// oneSource reports whether the cells of the rows, in the frame and in the shadow, are of one terminal.
func (p *Painter) oneSource(f *Frame, first, last int) bool {
	t, gen := f.rows[first].t, uint64(0)
	if t == nil {
		return false
	}
	gen = t.Generation()
	for y := first; y < last; y++ {
		if k := p.shadow[y].key; f.rows[y].t != t || k.t != nil && (k.t != t || k.gen != gen) {
			return false
		}
	}
	return true
}

// differentRows keeps the rows of [first, last) that do not show what the frame has, and counts them.
func (p *Painter) differentRows(f *Frame, first, last int) int {
	p.different = p.different[:0]
	for y := first; y < last; y++ {
		if p.shadow[y].key != f.key(y) && !equalCells(f.cells(y, &p.line), p.shadow[y].cells) {
			p.different = append(p.different, y)
		}
	}
	return len(p.different)
}

// changedColumns returns the columns outside of which the terminal shows rows [first, last) of the frame.
func (p *Painter) changedColumns(f *Frame, first, last int) (left, right int) {
	left = p.cols
	for y := first; y < last; y++ {
		now, old := f.cells(y, &p.line), p.shadow[y].cells
		if x := differs(now, old, 0); x < p.cols {
			left = min(left, x)
			for right < p.cols && differs(now, old, right) < p.cols {
				right = differs(now, old, right) + 1
			}
		}
	}
	return left, right
}

// findShift returns the shift of the columns that saves most, if that is worth it. Rows here and there among the different
// ones say which are possible.
func (p *Painter) findShift(f *Frame, first, last, left, right int) (best shift, ok bool) {
	var possible [2*maxShift + 1]bool
	for i := range probes {
		y := p.different[len(p.different)*(2*i+1)/(2*probes)]
		now := f.cells(y, &p.line)[left:right]
		for from := max(first, y-maxShift); from < min(last, y+maxShift+1); from++ {
			if from != y && equalCells(now, p.shadow[from].cells[left:right]) {
				possible[from-y+maxShift] = true
			}
		}
	}
	most := minShiftCells/(right-left) + 1
	for i, is := range possible {
		if is {
			if s, saved := p.tryShift(f, first, last, shift{left: left, right: right, d: i - maxShift}); saved > most {
				best, most, ok = s, saved, true
			}
		}
	}
	return best, ok
}

// tryShift returns the rows in which text moved by s.d, and how many rows need less for it than without.
func (p *Painter) tryShift(f *Frame, first, last int, s shift) (shift, int) {
	s.top, s.bot = -1, -1
	saved := 0
	for y := max(first, first-s.d); y < min(last, last-s.d); y++ {
		now := f.cells(y, &p.line)[s.left:s.right]
		if !equalCells(now, p.shadow[y+s.d].cells[s.left:s.right]) {
			continue
		}
		switch same := equalCells(now, p.shadow[y].cells[s.left:s.right]); {
		case !same:
			saved++
		case s.top < 0:
			continue // nothing to be moved yet
		}
		if s.top < 0 {
			s.top = min(y, y+s.d)
		}
		s.bot = max(y, y+s.d)
	}
	if saved == 0 {
		return s, 0
	}
	// What is right and would be moved away has to be painted again.
	for y := s.top; y <= s.bot; y++ {
		now := f.cells(y, &p.line)[s.left:s.right]
		if equalCells(now, p.shadow[y].cells[s.left:s.right]) && !p.rightAfter(now, s, y) {
			saved--
		}
	}
	return s, saved
}

// rightAfter reports whether row y shows cells after the shift.
func (p *Painter) rightAfter(cells []vt.Cell, s shift, y int) bool {
	from := y + s.d
	return from >= s.top && from <= s.bot && equalCells(cells, p.shadow[from].cells[s.left:s.right])
}

func equalCells(a, b []vt.Cell) bool { return differs(a, b, 0) == len(a) }

// cutsNothing reports whether no wide character is across an edge of the shift.
func (p *Painter) cutsNothing(s shift) bool {
	for y := s.top; y <= s.bot; y++ {
		cells := p.shadow[y].cells
		if cells[s.left].IsSpacer() || s.right < p.cols && cells[s.right].IsSpacer() {
			return false
		}
	}
	return true
}

// shiftColumns moves the terminal's cells, and the shadow's.
func (p *Painter) shiftColumns(dst []byte, s shift) []byte {
	dst = p.setStyle(dst, nil, vt.Cell{}) // cells come in blank
	dst = appendCSIPair(append(dst, "\x1b[?69h"...), s.left+1, s.right, 's')
	dst = appendCSIPair(dst, s.top+1, s.bot+1, 'r')
	if s.d > 0 {
		dst = appendCSI(dst, s.d, 'S')
	} else {
		dst = appendCSI(dst, -s.d, 'T')
	}
	dst = append(dst, "\x1b[?69l\x1b[r"...)
	p.xKnown, p.yKnown, p.pending, p.joins = false, false, false, false
	y, step := s.top, 1
	if s.d < 0 {
		y, step = s.bot, -1
	}
	for range s.bot - s.top + 1 {
		r := &p.shadow[y]
		r.key = rowKey{t: r.key.t, gen: r.key.gen}
		if from := y + s.d; from >= s.top && from <= s.bot {
			copy(r.cells[s.left:s.right], p.shadow[from].cells[s.left:s.right])
			if r.key.t == nil {
				r.key = rowKey{t: p.shadow[from].key.t, gen: p.shadow[from].key.gen}
			}
		} else {
			clear(r.cells[s.left:s.right])
		}
		y += step
	}
	return dst
}
