package vt

// rect is a part of the screen: columns [x0, x1), rows [y0, y1).
type rect struct{ x0, y0, x1, y1 int }

// area reads top, left, bottom, right from parameter i on; origin mode applies. It reports false for an empty one.
func (t *Terminal) area(i int) (rect, bool) {
	ps := &t.par
	page := t.page()
	a := rect{
		x0: page.x0 + ps.arg(i+1, 1) - 1,
		y0: page.y0 + ps.arg(i, 1) - 1,
		x1: min(page.x0+ps.arg(i+3, page.x1-page.x0), page.x1),
		y1: min(page.y0+ps.arg(i+2, page.y1-page.y0), page.y1),
	}
	return a, a.x0 < a.x1 && a.y0 < a.y1
}

// page is what rectangles can reach: the screen or, in origin mode, what the margins enclose.
func (t *Terminal) page() rect {
	if t.origin {
		return rect{t.left, t.top, t.right + 1, t.bot + 1}
	}
	return rect{0, 0, t.cols, t.nrows}
}

// rectangle acts on DECFRA, DECERA, DECSERA, DECCRA, DECCARA and DECRARA; it reports false for any other key.
func (t *Terminal) rectangle(key string) bool {
	first := 0
	if key == "$x" {
		first = 1
	}
	a, ok := t.area(first)
	switch key {
	case "$x":
		c := t.par.arg(0, 0)
		if ok && (c >= 0x20 && c < 0x7f || c >= 0xa0 && c <= 0xff) {
			t.fillArea(a, rune(c))
		}
	case "$z":
		if ok {
			for y := a.y0; y < a.y1; y++ {
				t.eraseColumns(t.touch(y), a.x0, a.x1, false)
			}
		}
	case "${":
		if ok {
			t.eraseText(a)
		}
	case "$v":
		if ok {
			t.copyArea(a)
		}
	case "$r":
		t.changeArea(t.attributeChange())
	case "$t":
		t.changeArea(t.attributeReversal())
	default:
		return false
	}
	return true
}

// eraseText is DECSERA: what DECSCA does not protect becomes blank, in the style that it has. SPA protects from other
// erasing only.
func (t *Terminal) eraseText(a rect) {
	for y := a.y0; y < a.y1; y++ {
		row := t.touch(y)
		for x := a.x0; x < min(a.x1, row.used); x++ {
			c := row.cells[x]
			if c.attr()&protected != 0 && !t.isoProtected {
				continue
			}
			c.setCh(' ')
			c.setExt(c.ext() &^ (wideFlag | spacerFlag))
			row.split(x, c)
			row.split(x+1, c)
			row.cells[x] = c
		}
	}
}

func (t *Terminal) fillArea(a rect, r rune) {
	for y := a.y0; y < a.y1; y++ {
		row := t.touch(y)
		if row.wide {
			row.split(a.x0, t.blank())
			row.split(a.x1, t.blank())
		}
		for x := a.x0; x < a.x1; x++ {
			row.set(x, t.pen, uint32(r), 1)
		}
	}
}

// copyArea is DECCRA: a goes to the place that parameters 5 and 6 name; what does not fit is left out.
func (t *Terminal) copyArea(a rect) {
	page := t.page()
	x, y := page.x0+t.par.arg(6, 1)-1, page.y0+t.par.arg(5, 1)-1
	w, h := min(a.x1-a.x0, page.x1-x), min(a.y1-a.y0, page.y1-y)
	if w <= 0 || h <= 0 {
		return
	}
	for i := range h {
		if y > a.y0 { // overlapping areas: the last row first
			i = h - 1 - i
		}
		src, dst := t.rows[a.y0+i], t.touch(y+i)
		dst.paste(x, src, a.x0, w, t.blank())
	}
}

// paste copies w columns of src from sx to x. Wide characters that are cut become blank.
func (r *Row) paste(x int, src *Row, sx, w int, blank Cell) {
	if r.wide {
		r.split(x, blank)
		r.split(x+w, blank)
	}
	copy(r.cells[x:x+w], src.cells[sx:sx+w])
	if src.wide {
		r.wide = true
		if r.cells[x].ext()&spacerFlag != 0 {
			r.cells[x] = blank
		}
		if r.cells[x+w-1].ext()&wideFlag != 0 {
			r.cells[x+w-1] = blank
		}
	}
	r.plain = r.plain && src.plain
	r.used = max(r.used, min(src.used-sx, w)+x)
}
