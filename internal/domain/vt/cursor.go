package vt

// moved is called by everything that moves the cursor or edits at it: a pending wrap is off, and the next code point
// joins no cluster.
func (t *Terminal) moved() {
	t.pending = false
	t.joinable = false
}

// inRows reports whether the cursor is within the margins.
func (t *Terminal) inRows() bool {
	return t.cy >= t.top && t.cy <= t.bot && t.cx >= t.left && t.cx <= t.right
}

// goTo places the cursor, 0-based; in origin mode within and relative to the margins.
func (t *Terminal) goTo(x, y int) {
	t.moved()
	if t.origin {
		t.cx = clamp(t.left+x, t.left, t.right)
		t.cy = clamp(t.top+y, t.top, t.bot)
		return
	}
	t.cx = clamp(x, 0, t.cols-1)
	t.cy = clamp(y, 0, t.nrows-1)
}

// goToColumn and goToRow are goTo for one coordinate.
func (t *Terminal) goToColumn(x int) {
	y := t.cy
	t.goTo(x, 0)
	t.cy = y
}

func (t *Terminal) goToRow(y int) {
	x := t.cx
	t.goTo(0, y)
	t.cx = x
}

func (t *Terminal) cursorUp(n int) {
	t.moved()
	limit := 0
	if t.cy >= t.top {
		limit = t.top
	}
	t.cy = max(t.cy-n, limit)
}

func (t *Terminal) cursorDown(n int) {
	t.moved()
	limit := t.nrows - 1
	if t.cy <= t.bot {
		limit = t.bot
	}
	t.cy = min(t.cy+n, limit)
}

func (t *Terminal) cursorRight(n int) {
	t.moved()
	t.cx = min(t.cx+n, t.lineEnd()-1)
}

// cursorLeft moves left by n, to the left margin or, from outside, to column 0. With reverse wrap it goes on at the
// right end of the line above.
func (t *Terminal) cursorLeft(n int) {
	if t.autowrap && t.reverseWrap {
		t.cursorBack(n)
		return
	}
	t.moved()
	limit := 0
	if t.cx >= t.left {
		limit = t.left
	}
	t.cx = max(t.cx-n, limit)
}

// cursorBack is cursorLeft in reverse wrap mode: the columns between the margins count as one line, in which the top
// left corner of the margins follows the bottom right one. A pending wrap counts as a column.
func (t *Terminal) cursorBack(n int) {
	if t.pending {
		n--
	}
	t.moved()
	left := t.left
	if t.cx < left {
		left = 0
	}
	start := t.cx == left && t.cy == t.top && t.inRows()
	if t.cx-n >= left {
		t.cx -= n
		return
	}
	width := t.right - left + 1
	at := t.cy*width + t.cx - n - left
	switch length := width * t.nrows; {
	case start:
		at = (t.bot+1)*width - 1
	case at < 0:
		at += (-at/length + 1) * length
	}
	t.cy, t.cx = min(at/width, t.nrows-1), left+at%width
}

// tab moves to the n-th next tab stop, at most to the last column. A pending wrap stays, here and in backTab, as in a
// VT420, a VT510 and xterm, so that tabs behind a full line do not pile text up in its last column; DEC STD 070 (D.6.1)
// would have it end, and says that products vary.
func (t *Terminal) tab(n int) {
	t.joinable = false
	t.work += uint64(t.cols)
	end := t.lineEnd() - 1
	for ; n > 0 && t.cx < end; n-- {
		t.cx = t.tabs.next(t.cx, end)
	}
}

// backTab moves to the n-th tab stop before.
func (t *Terminal) backTab(n int) {
	t.joinable = false
	t.work += uint64(t.cols)
	limit := 0
	if t.origin {
		limit = t.left
	}
	for ; n > 0 && t.cx > limit; n-- {
		t.cx = max(t.tabs.prev(t.cx), limit)
	}
}

// tabStops is a set of columns.
type tabStops [(MaxCols + 63) / 64]uint64

func defaultTabs() tabStops {
	var s tabStops
	for x := 8; x < MaxCols; x += 8 {
		s.set(x)
	}
	return s
}

func (s *tabStops) set(x int)      { s[x/64] |= 1 << (x % 64) }
func (s *tabStops) unset(x int)    { s[x/64] &^= 1 << (x % 64) }
func (s *tabStops) has(x int) bool { return s[x/64]&(1<<(x%64)) != 0 }

func (s *tabStops) next(x, end int) int {
	for x++; x < end; x++ {
		if s.has(x) {
			return x
		}
	}
	return end
}

func (s *tabStops) prev(x int) int {
	for x--; x > 0; x-- {
		if s.has(x) {
			return x
		}
	}
	return 0
}

// saveCursor is DECSC.
func (t *Terminal) saveCursor() {
	t.scr.saved = savedCursor{
		cx: t.cx, cy: t.cy, pen: t.pen, pending: t.pending, origin: t.origin,
		charsets: t.charsets, gl: t.gl,
	}
}

// restoreCursor is DECRC; without a saved cursor it goes home with everything at its default.
func (t *Terminal) restoreCursor() {
	s := t.scr.saved
	t.moved()
	t.cx, t.cy = min(s.cx, t.cols-1), min(s.cy, t.nrows-1)
	t.setPen(s.pen)
	t.origin = s.origin
	t.charsets, t.gl = s.charsets, s.gl
	t.updateSlow()
	t.pending = s.pending
	if t.origin {
		t.cx, t.cy = clamp(t.cx, t.left, t.right), clamp(t.cy, t.top, t.bot)
	}
}

// setPen replaces the pen.
func (t *Terminal) setPen(c Cell) {
	t.pen = c
	t.penPlain = c == Cell{}
}
