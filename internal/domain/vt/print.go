package vt

import (
	"math/bits"
	"unicode/utf8"
)

// asciiRun returns how many leading bytes of p are printable ASCII (0x20 to 0x7e).
func asciiRun(p []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := uint64(p[i]) | uint64(p[i+1])<<8 | uint64(p[i+2])<<16 | uint64(p[i+3])<<24 |
			uint64(p[i+4])<<32 | uint64(p[i+5])<<40 | uint64(p[i+6])<<48 | uint64(p[i+7])<<56
		// A byte under 0x20 borrows, 0x7f carries, others over 0x7f have the bit: the lowest flagged byte is exact.
		if others := ((w - 0x20*ones) | (w + ones) | w) & high; others != 0 {
			return i + bits.TrailingZeros64(others)/8
		}
	}
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x7f {
		i++
	}
	return i
}

// lineEnd returns the column behind the last that printing at the cursor may use.
func (t *Terminal) lineEnd() int {
	if t.cx > t.right {
		return t.cols
	}
	return t.right + 1
}

// printASCII prints a run of printable ASCII, not empty.
func (t *Terminal) printASCII(b []byte) {
	if t.slowPrint {
		for _, c := range b {
			t.printChar(rune(c))
		}
		return
	}
	t.lastRune = rune(b[len(b)-1])
	t.joinable = true
	t.changed = true
	t.work += uint64(len(b))
	for len(b) > 0 {
		if t.pending {
			t.wrapPending()
		}
		end := t.lineEnd()
		n := min(len(b), end-t.cx)
		row := t.rows[t.cy]
		row.ver = t.stamp
		if row.wide {
			row.split(t.cx, t.space())
			row.split(t.cx+n, t.space())
		}
		if !t.penPlain {
			row.plain = false
		}
		cells := row.cells[t.cx : t.cx+n]
		if n == 1 {
			cells[0] = Cell{lo: t.pen.lo | uint64(b[0]), hi: t.pen.hi}
		} else {
			fillText(cells, b[:n], t.pen)
		}
		t.cx += n
		row.used = max(row.used, t.cx)
		if t.cx < end {
			return
		}
		t.cx = end - 1
		t.pending = true
		if !t.autowrap {
			cells[n-1].setCh(uint32(b[len(b)-1])) // all further characters overwrite the last column
			return
		}
		b = b[n:]
	}
}

// fillText gives cells, as many as text has bytes, that text in the style of the pen.
func fillText(cells []Cell, text []byte, pen Cell) {
	lo, hi := pen.lo, pen.hi
	for len(text) >= 4 && len(cells) >= 4 {
		c, b := cells[:4:4], text[:4:4]
		c[0] = Cell{lo | uint64(b[0]), hi}
		c[1] = Cell{lo | uint64(b[1]), hi}
		c[2] = Cell{lo | uint64(b[2]), hi}
		c[3] = Cell{lo | uint64(b[3]), hi}
		cells, text = cells[4:], text[4:]
	}
	for i, b := range text {
		cells[i] = Cell{lo | uint64(b), hi}
	}
}

// printChar prints one ASCII character where charsets or insert mode are in use.
func (t *Terminal) printChar(c rune) {
	cs := t.charset(t.gl)
	if t.singleShift != 0 {
		cs = t.charset(t.singleShift)
		t.singleShift = 0
		t.updateSlow()
	}
	if r := cs.translate(c); r != c {
		t.printRune(r)
		return
	}
	t.put(uint32(c), 1)
	t.lastRune = c
}

// delete is DEL: nothing, but where a set of 96 is in use its last character, as it has the places of SPACE and DEL too
// (ECMA-35).
func (t *Terminal) delete() {
	set := t.gl
	if t.singleShift != 0 {
		set = t.singleShift
	}
	if t.charset(set) == charsetLatin1 {
		t.printChar(0x7f)
	}
}

// printRune prints a code point that is not ASCII.
func (t *Terminal) printRune(r rune) {
	p := propOf(r)
	w := int(p & propWidth)
	if w == 0 {
		t.attach(r)
		return
	}
	if t.singleShift != 0 { // it was for this one, which is in no set
		t.singleShift = 0
		t.updateSlow()
	}
	if p&(propJoins|propJoinsAfter) != 0 && t.joinable && t.graphemes && t.join(r, p) {
		return
	}
	t.put(uint32(r), w)
	t.lastRune = r
}

// put writes a cell of w columns at the cursor and moves it on.
func (t *Terminal) put(ch uint32, w int) {
	if t.pending {
		t.wrapPending()
	}
	end := t.lineEnd()
	if w > end-t.cx {
		if !t.autowrap || end-t.left < w {
			return // no place for it in any line
		}
		t.fillEdge(end)
		t.wrapLine()
		end = t.lineEnd()
	}
	row := t.rows[t.cy]
	row.ver = t.stamp
	t.changed = true
	t.work += uint64(w)
	if t.insertMode && t.cx >= t.left && t.cx <= t.right {
		t.work += uint64(end - t.cx)
		row.insert(t.cx, end, w, t.blank())
	}
	if row.wide {
		row.split(t.cx, t.space())
		row.split(t.cx+w, t.space())
	}
	row.set(t.cx, t.pen, ch, w)
	t.joinable = true
	t.advance(w, end)
}

// makeLines moves the text between left and right margins up as far as n wraps at the bottom margin will, but for the last of
// them: moving it once is as cheap as moving it by one line.
func (t *Terminal) makeLines(n int) {
	n = min(n, t.bot-t.top+1) - 1
	if n > 0 && t.pending && t.autowrap && !t.fullWidth() && t.cy == t.bot && t.cx == t.right {
		t.scrollUp(t.top, t.bot, n)
		t.cy -= n
	}
}

// putRun writes some of n cells of w columns, at least one, and returns how many: those that fit in the cursor's line,
// for which insert mode makes room at once.
func (t *Terminal) putRun(ch uint32, w, n int) int {
	if t.pending {
		t.wrapPending()
	}
	end := t.lineEnd()
	n = max(min(n, (end-t.cx)/w), 1)
	inserting := t.insertMode
	if inserting && n > 1 && t.cx >= t.left && t.cx <= t.right {
		t.touch(t.cy).insert(t.cx, end, n*w, t.blank())
		t.insertMode = false
	}
	for range n {
		t.put(ch, w)
	}
	t.insertMode = inserting
	return n
}

// advance moves the cursor behind what was printed at it.
func (t *Terminal) advance(w, end int) {
	t.cx += w
	if t.cx >= end {
		t.cx = end - 1
		t.pending = true
	}
}

// set writes one character; what it overwrites has been split before.
func (r *Row) set(x int, pen Cell, ch uint32, w int) {
	c := Cell{lo: pen.lo | uint64(ch), hi: pen.hi}
	if ch >= 0x80 || pen != (Cell{}) {
		r.plain = false
	}
	if w == 2 {
		r.wide = true
		r.cells[x+1] = Cell{lo: pen.lo, hi: pen.hi | spacerFlag<<extShift}
		c.hi |= wideFlag << extShift
	} else if ch&clusterBit != 0 {
		r.wide = true
	}
	r.cells[x] = c
	r.used = max(r.used, x+w)
}

// fillEdge blanks the columns from the cursor on, where a wide character did not fit.
func (t *Terminal) fillEdge(end int) {
	r := t.touch(t.cy)
	r.erase(t.cx, end, t.blank())
	r.edge = true
}

// wrapPending is called to print with the last column just written: without autowrap it is written again.
func (t *Terminal) wrapPending() {
	if t.autowrap {
		t.rows[t.cy].edge = false
		t.wrapLine()
	}
	t.pending = false
}

// wrapLine carries out a wrap: the row is marked, the cursor goes to the next line's start.
func (t *Terminal) wrapLine() {
	if t.fullWidth() {
		t.touch(t.cy).wrapped = true
	}
	t.pending = false
	t.index()
	t.cx = t.left
}

// index moves the cursor down, and scrolls at the bottom margin.
func (t *Terminal) index() {
	switch {
	case t.cy == t.bot:
		if t.cx >= t.left && t.cx <= t.right {
			t.scrollUp(t.top, t.bot, 1)
		}
	case t.cy < t.nrows-1:
		t.cy++
	}
}

// before returns the column of the character just before the cursor, and false when there is none.
func (t *Terminal) before() (x int, ok bool) {
	x = t.cx
	if !t.pending {
		x--
	}
	if x < 0 {
		return 0, false
	}
	c := t.rows[t.cy].cells[x]
	if c.ext()&spacerFlag != 0 {
		x--
		c = t.rows[t.cy].cells[x]
	}
	return x, c.ch() != 0
}

// attach adds a code point without width to the character before the cursor. Without one it is dropped.
func (t *Terminal) attach(r rune) {
	if x, ok := t.before(); ok {
		t.scratch = t.AppendCell(t.scratch[:0], t.rows[t.cy].cells[x])
		t.scratch = utf8.AppendRune(t.scratch, r)
		t.extend(x)
	}
}

// join adds r to the character before the cursor if both are one grapheme cluster, and reports whether they are.
func (t *Terminal) join(r rune, p byte) bool {
	x, ok := t.before()
	if !ok {
		return false
	}
	c := t.rows[t.cy].cells[x]
	if p&propJoins == 0 && c.ch()&clusterBit == 0 && propOf(rune(c.ch()))&propHangulL == 0 {
		return false
	}
	t.scratch = t.AppendCell(t.scratch[:0], c)
	t.scratch = utf8.AppendRune(t.scratch, r)
	if !oneCluster(t.scratch) {
		return false
	}
	t.extend(x)
	return true
}

// extend makes scratch the text of the character at column x, just before the cursor. It may grow to two columns, and
// moves to the next line when there is no room for that.
func (t *Terminal) extend(x int) {
	if len(t.scratch) > maxClusterBytes {
		return
	}
	row := t.rows[t.cy]
	row.ver = t.stamp
	t.changed = true
	t.work += uint64(len(t.scratch))
	grow := t.graphemes && row.cells[x].ext()&wideFlag == 0 && clusterWidth(t.scratch) == 2
	if grow && t.pending {
		t.relocate(x)
		return
	}
	n, ok := t.internCluster(t.scratch)
	if !ok {
		return
	}
	row.plain, row.wide = false, true
	row.cells[x].setCh(clusterBit | n)
	if !grow {
		return
	}
	end := t.lineEnd()
	if x+2 > end {
		return
	}
	style := row.cells[x]
	row.split(x+2, t.space())
	style.setCh(0)
	style.setExt(style.ext() &^ (wideFlag | spacerFlag))
	row.set(x, style, clusterBit|n, 2)
	t.cx = x + 1
	t.advance(1, end)
}

// relocate moves a character that grew in the last column to the next line; scratch is its text.
func (t *Terminal) relocate(x int) {
	end := t.lineEnd()
	if !t.autowrap || end-t.left < 2 {
		return
	}
	n, ok := t.internCluster(t.scratch)
	if !ok {
		return
	}
	style := t.rows[t.cy].cells[x]
	style.setCh(0)
	t.pending = false
	t.fillEdge(end)
	t.wrapLine()
	row := t.touch(t.cy)
	row.split(t.cx+2, t.space())
	row.split(t.cx, t.space())
	row.set(t.cx, style, clusterBit|n, 2)
	t.advance(2, t.lineEnd())
}

// repeat prints the character just printed n more times (REP); behind anything but a character it does nothing.
func (t *Terminal) repeat(n int) {
	if t.lastRune == 0 {
		return
	}
	w := int(propOf(t.lastRune) & propWidth)
	// What more than a screen of them would leave is known: lines of the same, and the cursor as far in the last.
	line := max((t.right+1-t.left)/w, 1)
	if screen := t.cols * (t.nrows + 1); n > screen {
		n = screen + (n-screen)%line
	}
	for n > 0 {
		t.makeLines((n + line - 1) / line)
		n -= t.putRun(uint32(t.lastRune), w, n)
	}
	t.lastRune = 0
}
