package render

import (
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

const (
	// mergeGap: so many equal cells between two changes are printed again rather than jumped over, as a jump costs
	// about as many bytes.
	mergeGap = 3
	// eraseRun is how many blanks in a row are worth an ECH and a jump.
	eraseRun = 9
	// eraseTail is how many changes to blanks at the end are worth an EL.
	eraseTail = 4
)

// paintRow paints what differs in row y between the frame and the shadow.
func (p *Painter) paintRow(dst []byte, f *Frame, y int) []byte {
	key := f.key(y)
	s := &p.shadow[y]
	if s.key.t != key.t || s.key.gen != key.gen {
		s.forget()
	}
	cells := f.cells(y, &p.line)
	r := rowPaint{t: key.t, y: y, cells: cells, old: s.cells}
	r.tail, r.fill = blankTail(cells, p.target)
	for x := 0; ; {
		from := differs(cells, s.cells, x)
		if from == len(cells) {
			break
		}
		to := r.segment(from)
		for from > 0 && (cells[from].IsSpacer() || s.cells[from].IsSpacer()) {
			from--
		}
		dst, x = p.paintSegment(dst, &r, from, to)
	}
	copy(s.cells, cells)
	s.key = key
	if r.erasedEnd {
		s.wrapped = false
	}
	if w := f.wrapped(y); p.target == Canonical && w != s.wrapped {
		s.wrapped = w
		dst = appendWrapped(dst, y, w)
	}
	return dst
}

// clearBelow erases the rows at the screen's end that the frame has blank, all at once if there are several.
func (p *Painter) clearBelow(dst []byte, f *Frame, last int) []byte {
	if last < f.Rows {
		return dst // the rows there are shown already
	}
	y, n := f.Rows, 0
	for y > 0 && f.isBlank(y-1) {
		y--
		if p.shadow[y].key != f.key(y) && !p.shadow[y].isBlank() {
			n++
		}
	}
	if y == 0 && p.inline > 0 {
		y = 1 // some terminals keep a screen that is erased at once in their history
	}
	if n < 2 || y == f.Rows {
		return dst
	}
	dst = p.move(dst, 0, y)
	dst = p.setStyle(dst, nil, vt.Cell{})
	dst = append(dst, "\x1b[J"...)
	p.joins = false
	for ; y < f.Rows; y++ {
		p.shadow[y].blank()
		p.shadow[y].key = f.key(y)
	}
	return dst
}

// rowPaint is a row being painted.
type rowPaint struct {
	t     *vt.Terminal
	y     int
	cells []vt.Cell
	old   []vt.Cell
	// cells[tail:] all equal fill, which EL leaves.
	tail      int
	fill      vt.Cell
	erasedEnd bool // the last column was erased: the row no longer counts as wrapped
}

// differs returns the first column from x on where a and b do not show the same.
func differs(a, b []vt.Cell, x int) int {
	for x < len(a) && (a[x] == b[x] || a[x].IsBlank() && b[x].IsBlank() && a[x].SameStyle(b[x])) {
		x++
	}
	return x
}

// segment returns the end of the stretch of changes that starts at from: short stretches without a change belong to it.
func (r *rowPaint) segment(from int) int {
	end := from + 1
	for x := end; x < len(r.cells) && x-end <= mergeGap; x++ {
		if r.cells[x] != r.old[x] {
			end = x + 1
		}
	}
	return r.boundary(end)
}

// boundary returns the first column from end on that is within no wide character.
func (r *rowPaint) boundary(end int) int {
	for end < len(r.cells) && (r.cells[end].IsSpacer() || r.old[end].IsSpacer()) {
		end++
	}
	return end
}

// blankTail returns from where on all cells equal one erased cell, and that cell. A person's terminal may not fill
// with a background when it erases.
func blankTail(cells []vt.Cell, target Target) (int, vt.Cell) {
	n := len(cells)
	fill := cells[n-1].Erased()
	if target == UserTerminal && fill != (vt.Cell{}) {
		return n, fill
	}
	for n > 0 && (cells[n-1] == fill || cells[n-1].IsBlank() && cells[n-1].SameStyle(fill)) {
		n--
	}
	return n, fill
}

// paintSegment paints columns [from, to), and those behind over which the terminal may have printed of it. It returns the
// column behind the last.
func (p *Painter) paintSegment(dst []byte, r *rowPaint, from, to int) (out []byte, next int) {
	end := to
	switch tail := max(r.tail, from); {
	case p.inline > 0 && to > r.tail:
		end = r.tail // blanks that were printed wrap like text when the terminal becomes narrower
	case to-tail >= eraseTail:
		end = tail
	}
	for x := from; x < end; {
		c := r.cells[x]
		if c.IsBlank() {
			if n := p.blanks(r, x, end); n >= eraseRun {
				dst = p.eraseRun(dst, r, x, n)
				x += n
				continue
			}
		}
		dst = p.printCell(dst, r, x)
		if reach := min(x+p.reach(r.t, c), len(r.cells)); reach > to {
			to = r.boundary(reach)
			end = min(to, max(r.tail, x+width(c)))
		}
		x += width(c)
		if n := p.repeats(r, x, end); n > 0 {
			dst = appendCSI(dst, n, 'b')
			x += n * width(c)
			p.advance(n * width(c))
		}
	}
	if end < to {
		dst = p.move(dst, end, r.y)
		dst = p.setStyle(dst, r.t, r.fill)
		dst = append(dst, "\x1b[K"...)
		r.erasedEnd = true
		p.joins = false
	}
	return dst, to
}

func width(c vt.Cell) int {
	if c.IsWide() {
		return 2
	}
	return 1
}

// blanks returns how many columns from x on can be erased at once.
func (p *Painter) blanks(r *rowPaint, x, end int) int {
	first := r.cells[x].Erased()
	if p.caps.Basic || !r.cells[x].SameStyle(first) || p.target == UserTerminal && first != (vt.Cell{}) {
		return 0
	}
	n := 1
	for x+n < end && r.cells[x+n].IsBlank() && r.cells[x+n].SameStyle(first) {
		n++
	}
	return n
}

func (p *Painter) eraseRun(dst []byte, r *rowPaint, x, n int) []byte {
	dst = p.move(dst, x, r.y)
	dst = p.setStyle(dst, r.t, r.cells[x].Erased())
	p.joins = false
	r.erasedEnd = r.erasedEnd || x+n == len(r.cells)
	return appendCSI(dst, n, 'X')
}

// printCell prints the character at column x.
func (p *Painter) printCell(dst []byte, r *rowPaint, x int) []byte {
	c := r.cells[x]
	if p.joins && c.MayJoin(p.last) {
		p.xKnown = false // only a move keeps the two apart
	}
	dst = p.move(dst, x, r.y)
	dst = p.setStyle(dst, r.t, c)
	if p.target == UserTerminal && c.Disputed() {
		dst = p.printDisputed(dst, r, x)
	} else {
		dst = printWidth(dst, r.t, c)
	}
	p.last, p.joins = c, true
	p.advance(width(c))
	return dst
}

// advance moves the cursor over n columns that were printed.
func (p *Painter) advance(n int) {
	p.x += n
	if p.x == p.cols {
		p.x--
		p.pending = true
	}
}

// minRepeatBytes is how much text a REP must stand for.
const minRepeatBytes = 6

// repeats returns how often the character before column x comes again at once, if that is worth a REP. Not all terminals
// of people have it.
func (p *Painter) repeats(r *rowPaint, x, end int) int {
	c := p.last
	if p.target != Canonical || c.IsCluster() || c.MayJoin(c) {
		return 0
	}
	w, n := width(c), 0
	for next := x; next < end && r.cells[next] == c; next += w {
		n++
	}
	if size := utf8.RuneLen(max(c.Rune(), ' ')); n*size < minRepeatBytes {
		return 0
	}
	return n
}

func appendCell(dst []byte, t *vt.Terminal, c vt.Cell) []byte {
	if c.IsBlank() || c.IsSpacer() {
		return append(dst, ' ')
	}
	return t.AppendCell(dst, c)
}

// printWidth prints a cell so that a terminal with grapheme mode gives it the same width: one that came about without
// that mode may need it off.
func printWidth(dst []byte, t *vt.Terminal, c vt.Cell) []byte {
	if !c.IsCluster() || t.ClusterWidth(c) == width(c) {
		return appendCell(dst, t, c)
	}
	dst = appendMode(dst, 2027, false)
	dst = appendCell(dst, t, c)
	return appendMode(dst, 2027, true)
}

// reach returns how many columns a terminal may print of the cell: as many as its code points take by themselves, where
// they are no cluster to it, and two for each that is disputed.
func (p *Painter) reach(t *vt.Terminal, c vt.Cell) int {
	if p.target != UserTerminal || !c.Disputed() {
		return width(c)
	}
	n := 0
	p.text = appendCell(p.text[:0], t, c)
	for rest := p.text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch vt.RuneWidth(r) {
		case 0:
		case 1:
			n++
			if r >= 0x300 {
				n++
			}
		default:
			n += 2
		}
	}
	return max(n, width(c))
}

// printDisputed prints a cell to a terminal that may give it another width: so both columns are blanked before, and
// the place of the cursor is not known after.
func (p *Painter) printDisputed(dst []byte, r *rowPaint, x int) []byte {
	c := r.cells[x]
	if c.IsWide() {
		dst = append(dst, "  "...)
		p.xKnown = false
		dst = p.move(dst, x, r.y)
	}
	dst = printWidth(dst, r.t, c)
	p.xKnown = false
	return dst
}

// appendWrapped is the engine's own sequence for a row's wrap flag.
func appendWrapped(dst []byte, y int, wrapped bool) []byte {
	dst = append(dst, "\x1b[="...)
	dst = appendInt(dst, y+1)
	if wrapped {
		dst = append(dst, ";1"...)
	}
	return append(dst, 'w')
}
