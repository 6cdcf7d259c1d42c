package vt

// eraseDisplay is ED and, with selective, DECSED.
func (t *Terminal) eraseDisplay(what int, selective bool) {
	selective = selective || t.isoProtected
	switch what {
	case 0:
		t.eraseLine(0, selective)
		t.eraseRows(t.cy+1, t.nrows, selective)
	case 1:
		t.eraseRows(0, t.cy, selective)
		t.eraseLine(1, selective)
	case 2:
		t.moved()
		t.eraseRows(0, t.nrows, selective)
	}
}

// eraseHistory is ED 3.
func (t *Terminal) eraseHistory() {
	t.hist.clear()
	t.changed = true
}

// protect is whether what is printed from now on is left by selective erases (DECSCA, SPA, EPA).
func (t *Terminal) protect(on bool) {
	pen := t.pen
	pen.setAttr(pen.attr() &^ protected)
	if on {
		pen.setAttr(pen.attr() | protected)
	}
	t.setPen(pen)
}

func (t *Terminal) eraseRows(from, to int, selective bool) {
	for y := from; y < to; y++ {
		r := t.touch(y)
		if selective {
			r.eraseUnprotected(0, t.cols, t.blank())
		} else {
			r.blankAll(t.blank())
		}
	}
}

// eraseLine is EL and, with selective, DECSEL.
func (t *Terminal) eraseLine(what int, selective bool) {
	from, to := 0, t.cols
	switch what {
	case 0:
		from = t.cx
	case 1:
		to = t.cx + 1
	case 2:
	default:
		return
	}
	t.moved()
	t.eraseColumns(t.touch(t.cy), from, to, selective || t.isoProtected)
}

// eraseColumns erases cells of a row; without its last column a row goes on nowhere.
func (t *Terminal) eraseColumns(r *Row, from, to int, selective bool) {
	if selective {
		r.eraseUnprotected(from, to, t.blank())
		return
	}
	r.erase(from, to, t.blank())
	if to == t.cols {
		r.wrapped = false
	}
}

// eraseUnprotected blanks the cells without DECSCA's protection.
func (r *Row) eraseUnprotected(from, to int, blank Cell) {
	for x := from; x < to; x++ {
		if r.cells[x].attr()&protected == 0 {
			r.erase(x, x+1, blank)
		}
	}
}

func (t *Terminal) eraseCharacters(n int) {
	t.moved()
	t.eraseColumns(t.touch(t.cy), t.cx, min(t.cx+n, t.cols), t.isoProtected)
}

func (t *Terminal) insertCharacters(n int) {
	t.moved()
	if t.cx >= t.left && t.cx <= t.right {
		t.touch(t.cy).insert(t.cx, t.right+1, n, t.blank())
	}
}

func (t *Terminal) deleteCharacters(n int) {
	t.moved()
	if t.cx >= t.left && t.cx <= t.right {
		r := t.touch(t.cy)
		r.remove(t.cx, t.right+1, n, t.blank())
		r.wrapped = false
	}
}

func (t *Terminal) insertLines(n int) {
	if t.inRows() {
		t.moved()
		t.scrollDown(t.cy, t.bot, n)
		t.cx = t.left
	}
}

// deleteLines moves lines up onto the cursor's; they do not go to the history, also from row 0.
func (t *Terminal) deleteLines(n int) {
	if t.inRows() {
		t.moved()
		t.scrollAway(t.cy, t.bot, n)
		t.cx = t.left
	}
}

// insertColumns is DECIC at column x: every row within the margins shifts right.
func (t *Terminal) insertColumns(x, n int) {
	for y := t.top; y <= t.bot; y++ {
		t.touch(y).insert(x, t.right+1, n, t.blank())
	}
}

// deleteColumns is DECDC at column x.
func (t *Terminal) deleteColumns(x, n int) {
	for y := t.top; y <= t.bot; y++ {
		t.touch(y).remove(x, t.right+1, n, t.blank())
	}
}

// setTopBottom is DECSTBM; 0-based and both included.
func (t *Terminal) setTopBottom(top, bot int) {
	bot = min(bot, t.nrows-1)
	if top < bot {
		t.top, t.bot = top, bot
		t.goTo(0, 0)
	}
}

// setLeftRight is DECSLRM.
func (t *Terminal) setLeftRight(left, right int) {
	right = min(right, t.cols-1)
	if left < right {
		t.left, t.right = left, right
		t.goTo(0, 0)
	}
}
