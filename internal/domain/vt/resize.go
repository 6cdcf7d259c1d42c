package vt

// maxPulled bounds how many history lines a resize takes back to complete the line at the screen's top; a longer line
// is cut there.
const maxPulled = 2 * MaxRows

// maxBelow bounds the rows kept below a screen that became smaller; further ones are gone.
const maxBelow = 4 * MaxRows

// Resize changes the screen's size, clamped as in [Options]. The main screen's lines are wrapped anew; lines that no
// longer fit go to the history, and come back from it when a full screen grows. Rows under the cursor's that do not fit
// come back too, unless the program changes the screen in between. The history itself keeps the rows it
// has: who reads it joins those that were wrapped. The prompt of a shell that marks prompts and output (OSC 133) is cut
// rather than wrapped, as the shell draws it again from where it was. The alternate screen is cropped
// at the right, and at the bottom or, where that would take the cursor's line, at the top. Margins are reset and mode
// 2026 ends. With mode 2048 the program is told by a reply.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows)
	t.begin()
	t.modes.Sync = false
	if cols != t.cols || rows != t.nrows {
		t.resize(cols, rows)
		t.reportSize()
	}
	t.commit()
}

func (t *Terminal) resize(cols, rows int) {
	onMain := t.scr == &t.main
	cursor := point{x: t.cx, y: t.cy, after: t.pending}
	saved := point{x: t.main.saved.cx, y: t.main.saved.cy}
	if onMain {
		t.reflow(cols, rows, &cursor, &saved)
	} else {
		t.reflow(cols, rows, &saved, &point{})
	}
	if t.alt.rows != nil {
		above := 0 // what leaves at the top, for the cursor's line to stay
		if !onMain {
			above = max(cursor.y-rows+1, 0)
			cursor.y -= above
			t.alt.saved.cy = max(t.alt.saved.cy-above, 0)
		}
		t.alt.rows = t.crop(t.alt.rows[above:], cols, rows)
	}
	for _, s := range []*screen{&t.main, &t.alt} {
		s.saved.cx, s.saved.cy = min(s.saved.cx, cols-1), min(s.saved.cy, rows-1)
		s.saved.pending = s.saved.pending && cols == t.cols
	}
	t.main.saved.cx, t.main.saved.cy = clamp(saved.x, 0, cols-1), clamp(saved.y, 0, rows-1)
	t.cols, t.nrows = cols, rows
	t.rows = t.scr.rows
	t.resetMargins()
	t.moved()
	t.cx, t.cy = clamp(cursor.x, 0, cols-1), clamp(cursor.y, 0, rows-1)
	t.pending = onMain && cursor.after && t.cx == cols-1
	t.changed = true
}

// point is a place that a reflow keeps on its text.
type point struct {
	x, y int
	// after: behind column x, that is a wrap is pending there.
	after bool
}

// crop returns the rows cut or filled at the right and at the bottom to a new size.
func (t *Terminal) crop(rows []*Row, cols, n int) []*Row {
	out := t.newRows(cols, n)
	for y := range min(n, len(rows)) {
		w := min(cols, len(rows[y].cells))
		out[y].paste(0, rows[y], 0, w, Cell{})
	}
	return out
}

// reflow wraps the main screen's lines to a new size, but those of a shell's prompt. cursor stays on the screen, and
// both points on their text.
func (t *Terminal) reflow(cols, rows int, cursor, saved *point) {
	src := append(t.main.rows[:len(t.main.rows):len(t.main.rows)], t.main.below...)
	used := usedRows(src, cursor.y)
	full := used == len(src)
	prompt := src[t.promptRow(cursor.y, used):used]
	src = t.pullWrapped(src[:used-len(prompt)], cursor, saved)
	w := wrapper{t: t, cols: cols}
	from := [2]point{*cursor, *saved}
	w.lines(src, cursor, saved)
	w.keep(prompt, len(src), from, cursor, saved)
	for full && len(w.out) < rows && t.hist.next > t.hist.first {
		more := t.pullWrapped(t.pullOne(), &point{}, &point{})
		head := wrapper{t: t, cols: cols}
		head.lines(more, &point{y: -1}, &point{y: -1})
		cursor.y += len(head.out)
		saved.y += len(head.out)
		w.out = append(head.out, w.out...)
	}
	top := min(max(len(w.out)-rows, 0), cursor.y)
	for _, r := range w.out[:top] {
		t.hist.push(t, r)
	}
	if len(prompt) > 0 {
		t.prompt.line = t.hist.next + uint64(len(w.out)-len(prompt)-top)
	}
	cursor.y -= top
	saved.y -= top
	out := w.out[top:min(len(w.out), top+rows)]
	t.main.below = w.out[top+len(out) : min(len(w.out), top+len(out)+maxBelow)]
	t.main.rows = append(out[:len(out):len(out)], t.newRows(cols, rows-len(out))...)
}

// usedRows returns how many leading rows hold text or the cursor.
func usedRows(rows []*Row, cy int) int {
	n := len(rows)
	for n > cy+1 && rows[n-1].textEnd() == 0 {
		n--
	}
	return n
}

// pullOne takes the newest line of the history, as a row.
func (t *Terminal) pullOne() []*Row {
	var l Line
	t.hist.pop(t, &l)
	if l.edge {
		l.Cells = append(l.Cells, Cell{})
	}
	return []*Row{{cells: l.Cells, used: len(l.Cells), wrapped: l.Wrapped, edge: l.edge}}
}

// pullWrapped takes lines from the history for as long as the newest goes on in the first of rows.
func (t *Terminal) pullWrapped(rows []*Row, a, b *point) []*Row {
	var pulled []*Row
	for t.hist.wrapped() && len(pulled) < maxPulled {
		pulled = append(pulled, t.pullOne()...)
	}
	if len(pulled) == 0 {
		return rows
	}
	for i, j := 0, len(pulled)-1; i < j; i, j = i+1, j-1 {
		pulled[i], pulled[j] = pulled[j], pulled[i]
	}
	a.y += len(pulled)
	b.y += len(pulled)
	return append(pulled, rows...)
}

// wrapper lays lines out in rows of a new width.
type wrapper struct {
	t    *Terminal
	cols int
	out  []*Row
	x    int // next column in the last row of out
}

// lines lays out rows, which are whole lines, and moves the points to where their text went.
func (w *wrapper) lines(rows []*Row, a, b *point) {
	from := *a
	fromB := *b
	for y, r := range rows {
		if y == 0 || !rows[y-1].wrapped {
			w.newRow()
		}
		text, fill := r.content(y+1 < len(rows) && rows[y+1].startsWide())
		if y == from.y {
			*a = point{y: -1, after: from.after}
		}
		if y == fromB.y {
			*b = point{y: -1}
		}
		for x := 0; x < len(text); {
			n := 1
			if text[x].ext()&wideFlag != 0 {
				n = 2
			}
			w.place(text[x], n)
			if y == from.y && from.x >= x && from.x < x+n && !from.after {
				*a = point{x: w.x - n, y: len(w.out) - 1}
			}
			if y == fromB.y && fromB.x >= x && fromB.x < x+n {
				*b = point{x: w.x - n, y: len(w.out) - 1}
			}
			x += n
		}
		if y == from.y && a.y < 0 {
			w.behind(a, from, len(text))
		}
		if y == fromB.y && b.y < 0 {
			w.behind(b, fromB, len(text))
		}
		if !r.wrapped && fill != (Cell{}) {
			last := w.out[len(w.out)-1]
			last.erase(w.x, w.cols, fill)
		}
	}
}

// keep lays rows out as they are, cut or filled at the right; the first is row y of those that from counts.
func (w *wrapper) keep(rows []*Row, y int, from [2]point, points ...*point) {
	for i, r := range rows {
		w.newRow()
		dst, same := w.out[len(w.out)-1], len(r.cells) == w.cols
		dst.paste(0, r, 0, min(w.cols, len(r.cells)), Cell{})
		dst.wrapped = r.wrapped && same
		for k, p := range points {
			if from[k].y == y+i {
				*p = point{x: min(from[k].x, w.cols-1), y: len(w.out) - 1, after: from[k].after && same}
			}
		}
	}
}

// behind places a point that is not on text: as far behind the text's end as it was before.
func (w *wrapper) behind(p *point, from point, textLen int) {
	x := w.x + from.x - textLen
	if from.after {
		x++
	}
	*p = point{x: min(x, w.cols-1), y: len(w.out) - 1, after: x == w.cols}
}

func (w *wrapper) newRow() {
	w.out = append(w.out, w.t.newRow(w.cols))
	w.x = 0
}

// place puts a character of n columns behind what is there.
func (w *wrapper) place(c Cell, n int) {
	if n > w.cols {
		return
	}
	if w.x+n > w.cols {
		last := w.out[len(w.out)-1]
		last.wrapped, last.edge = true, w.x < w.cols
		w.newRow()
	}
	c.setExt(c.ext() &^ (wideFlag | spacerFlag))
	r := w.out[len(w.out)-1]
	ch := c.ch()
	c.setCh(0)
	r.set(w.x, c, ch, n)
	w.x += n
}

// startsWide reports whether the row's first character has two columns.
func (r *Row) startsWide() bool { return len(r.cells) > 0 && r.cells[0].ext()&wideFlag != 0 }

// content returns the row's text, and the blank its rest is filled with. wideNext: the next row starts with a wide
// character; where that is gone, an edge is a blank like others, for the line to have the same rows in the same width.
func (r *Row) content(wideNext bool) (text []Cell, fill Cell) {
	n := r.keptEnd()
	if r.wrapped {
		if !wideNext {
			n = len(r.cells)
		}
		return r.cells[:n], Cell{}
	}
	if n > 0 && r.cells[n-1].ch() == 0 && r.cells[n-1].ext()&spacerFlag == 0 {
		fill = r.cells[n-1]
	}
	for n > 0 && r.cells[n-1].ch() == 0 && r.cells[n-1].ext()&spacerFlag == 0 {
		n--
	}
	return r.cells[:n], fill
}
