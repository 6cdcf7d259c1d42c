package vt

import "unicode/utf8"

// printText prints the code points that p begins with for as long as each stands for itself: valid, of one or two
// columns, and joining nothing before it. It returns the bytes that it took. It is printRune for the common case, with
// the row looked up once for each line.
func (t *Terminal) printText(p []byte) int {
	if t.insertMode || t.singleShift != 0 {
		return 0
	}
	used := 0
	r, n, w := standalone(p)
	for n > 0 {
		if t.pending {
			t.wrapPending()
		}
		end := t.lineEnd()
		if w > end-t.cx {
			break
		}
		row := t.touch(t.cy)
		x := t.cx
		for n > 0 && x+w <= end {
			if row.wide {
				row.split(x, t.space())
				row.split(x+w, t.space())
			}
			row.set(x, t.pen, uint32(r), w)
			t.lastRune = r
			x += w
			used += n
			r, n, w = standalone(p[used:])
		}
		t.work += uint64(x - t.cx)
		t.cx = x
		t.advance(0, end)
		t.joinable = true
	}
	return used
}

// standalone decodes the code point that p begins with, and tells its columns; n is 0 unless it is one of those that
// printText takes.
func standalone(p []byte) (r rune, n, w int) {
	if len(p) == 0 || p[0] < 0xc2 {
		return 0, 0, 0
	}
	r, n = utf8.DecodeRune(p)
	if r < 0xa0 || r == utf8.RuneError {
		return 0, 0, 0
	}
	switch propOf(r) & (propWidth | propJoins | propJoinsAfter | propHangulL) {
	case 1:
		return r, n, 1
	case 2:
		return r, n, 2
	}
	return 0, 0, 0
}
