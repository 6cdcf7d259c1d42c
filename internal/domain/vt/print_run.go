package vt

// printText prints the code points that p begins with for as long as each is a character by itself: valid, of one or two
// columns, and joining nothing before it. It returns the bytes that it took. It is printRune for the common case, with
// the row looked up once for each line.
func (t *Terminal) printText(p []byte) int {
	if t.insertMode || t.singleShift != 0 {
		return 0
	}
	// What may join a cluster or a Hangul leader joins none of those that are printed here.
	refused := byte(propJoins | propHangulL)
	if t.joinable && t.graphemes && t.leads() {
		refused |= propJoinsAfter
	}
	used := 0
	r, n, w := standalone(p, refused)
	for n > 0 {
		if t.pending {
			t.wrapPending()
		}
		end := t.lineEnd()
		if w > end-t.cx {
			t.put(uint32(r), w)
			t.lastRune = r
			return used + n
		}
		row := t.touch(t.cy)
		if row.wide {
			row.split(t.cx, t.space())
		}
		pen, x := t.pen, t.cx
		spacer := Cell{lo: pen.lo, hi: pen.hi | spacerFlag<<extShift}
		for cells := row.cells[:end]; n > 0 && w <= len(cells)-x; {
			c := Cell{lo: pen.lo | uint64(r), hi: pen.hi}
			if w == 2 {
				row.wide = true
				c.hi |= wideFlag << extShift
				cells[x+1] = spacer
			}
			cells[x] = c
			x += w
			used += n
			t.lastRune = r
			r, n, w = standalone(p[used:], propJoins|propHangulL)
		}
		if x < row.used && row.cells[x].ext()&spacerFlag != 0 {
			row.cells[x] = t.space() // its first half has been written over
		}
		row.plain = false
		row.used = max(row.used, x)
		t.work += uint64(x - t.cx)
		t.cx = x
		t.advance(0, end)
		t.joinable = true
	}
	return used
}

// leads reports whether a code point that joins what is before it only sometimes might join the character before the cursor.
func (t *Terminal) leads() bool {
	x, ok := t.before()
	if !ok {
		return false
	}
	ch := t.rows[t.cy].cells[x].ch()
	return ch&clusterBit != 0 || propOf(rune(ch))&propHangulL != 0
}

// standalone decodes the code point that p begins with, and tells its columns; n is 0 unless it is whole, printed, has
// columns and none of the properties refused.
func standalone(p []byte, refused byte) (r rune, n, w int) {
	switch {
	case len(p) >= 3 && p[0]-0xe1 < 0xed-0xe1 && int8(p[1]) < -64 && int8(p[2]) < -64: // U+1000 to U+CFFF
		r, n = rune(p[0]&0x0f)<<12|rune(p[1]&0x3f)<<6|rune(p[2]&0x3f), 3
	case len(p) >= 2 && p[0]-0xc3 < 0xe0-0xc3 && int8(p[1]) < -64: // U+00C0 to U+07FF
		r, n = rune(p[0]&0x1f)<<6|rune(p[1]&0x3f), 2
	case len(p) == 0 || p[0] < 0xc2:
		return 0, 0, 0
	default:
		var status decodeStatus
		r, n, status = decodeRune(p)
		if status != decodeFull || r < 0xa0 {
			return 0, 0, 0
		}
	}
	prop := propOf(r)
	w = int(prop & propWidth)
	if prop&refused != 0 || w == 0 {
		return 0, 0, 0
	}
	return r, n, w
}
