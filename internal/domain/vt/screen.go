package vt

import "slices"

// screen is the main or the alternate screen, and what each of them keeps for itself.
type screen struct {
	rows []*Row
	// below are rows of the main screen that a smaller size left no place for under the cursor's line: a larger one
	// has them back. Whatever the program changes on a screen ends them.
	below []*Row
	saved savedCursor
	kitty kittyStack
}

// savedCursor is what DECSC keeps; the zero value is what DECRC restores without one.
type savedCursor struct {
	cx, cy   int
	pen      Cell
	pending  bool
	origin   bool
	charsets [4]charset
	gl       uint8
}

func (t *Terminal) newRow(cols int) *Row {
	t.nextID++
	return &Row{cells: make([]Cell, cols), id: t.nextID, ver: t.stamp, plain: true}
}

func (t *Terminal) newRows(cols, n int) []*Row {
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = t.newRow(cols)
	}
	return rows
}

// touch marks row y as changed and returns it.
func (t *Terminal) touch(y int) *Row {
	r := t.rows[y]
	r.ver = t.stamp
	t.changed = true
	t.work += uint64(t.cols)
	return r
}

// blank returns what erasing leaves: the pen's background (BCE).
func (t *Terminal) blank() Cell { return t.pen.Erased() }

// space returns what printing leaves of a wide character that it cuts: a blank in the pen's style, as xterm has it.
func (t *Terminal) space() Cell { return Cell{lo: t.pen.lo | ' ', hi: t.pen.hi} }

// recycle blanks a row that left its place for a new one.
func (t *Terminal) recycle(r *Row) {
	t.work += uint64(r.used)
	if t.pen.bg() != 0 {
		t.work += uint64(t.cols)
	}
	r.blankAll(t.blank())
	t.nextID++
	r.id = t.nextID
	r.ver = t.stamp
}

func (t *Terminal) fullWidth() bool { return t.left == 0 && t.right == t.cols-1 }

// scrollUp moves rows top..bot (both included) up by n within the margins; blank ones come in from below. What leaves
// the top of the main screen goes to the history.
func (t *Terminal) scrollUp(top, bot, n int) {
	n = min(n, bot-top+1)
	if top == 0 && t.scr == &t.main && t.fullWidth() {
		for y := range n {
			t.hist.push(t, t.rows[y])
		}
	}
	t.scrollAway(top, bot, n)
}

// scrollAway is scrollUp with nothing going to the history.
func (t *Terminal) scrollAway(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	t.changed = true
	if !t.fullWidth() {
		t.shiftRows(top, bot, n)
		return
	}
	t.rotate(top, bot+1, n)
	for y := bot + 1 - n; y <= bot; y++ {
		t.recycle(t.rows[y])
	}
}

// scrollDown moves rows top..bot down by n within the margins; blank ones come in from above.
func (t *Terminal) scrollDown(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	t.changed = true
	if !t.fullWidth() {
		t.shiftRows(top, bot, -n)
		return
	}
	t.rotate(top, bot+1, bot+1-top-n)
	for y := top; y < top+n; y++ {
		t.recycle(t.rows[y])
	}
}

// rotate moves rows [top, end) up by n; those that leave at the top come in below.
func (t *Terminal) rotate(top, end, n int) {
	rows := t.rows[top:end]
	t.work += uint64(len(rows))
	if n == 1 {
		r := rows[0]
		copy(rows, rows[1:])
		rows[len(rows)-1] = r
		return
	}
	slices.Reverse(rows[:n])
	slices.Reverse(rows[n:])
	slices.Reverse(rows)
}

// shiftRows moves the cells between the left and right margins of rows top..bot up by n, down when n is negative.
func (t *Terminal) shiftRows(top, bot, n int) {
	step, y := 1, top
	if n < 0 {
		step, y = -1, bot
	}
	for range bot - top + 1 {
		dst := t.touch(y)
		if from := y + n; from >= top && from <= bot {
			dst.paste(t.left, t.rows[from], t.left, t.right+1-t.left, t.blank())
		} else {
			dst.erase(t.left, t.right+1, t.blank())
		}
		y += step
	}
}

func (t *Terminal) resetMargins() {
	t.top, t.bot, t.left, t.right = 0, t.nrows-1, 0, t.cols-1
}
