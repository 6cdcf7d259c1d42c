package vt

// renditionChange is what DECCARA or DECRARA does to the rendition of each cell.
type renditionChange struct {
	keep, set Attrs // first only keep stays, then set is added
	flip      Attrs // then these are reversed; of an underline of any style the presence
}

// reversible are the renditions that the two sequences know (DEC STD 070).
const reversible = Bold | Blink | Inverse | underlineMask

func (r renditionChange) apply(a Attrs) Attrs {
	a = a&r.keep | r.set
	if r.flip&underlineMask != 0 {
		on := a&underlineMask == 0
		a &^= underlineMask
		if on {
			a |= Attrs(0).WithUnderline(UnderlineSingle)
		}
	}
	return a ^ r.flip&^underlineMask
}

// attributeChange reads DECCARA's parameters behind the area.
func (t *Terminal) attributeChange() renditionChange {
	r := renditionChange{keep: ^Attrs(0)}
	replace := func(mask, with Attrs) {
		r.keep &^= mask
		r.set = r.set&^mask | with
	}
	for i := 4; i < max(t.par.nparams, 5); i++ {
		switch t.par.arg(i, 0) {
		case 0:
			replace(reversible, 0)
		case 1:
			replace(Bold, Bold)
		case 4:
			replace(underlineMask, Attrs(0).WithUnderline(UnderlineSingle))
		case 5:
			replace(Blink, Blink)
		case 7:
			replace(Inverse, Inverse)
		case 22:
			replace(Bold, 0)
		case 24:
			replace(underlineMask, 0)
		case 25:
			replace(Blink, 0)
		case 27:
			replace(Inverse, 0)
		}
	}
	return r
}

// attributeReversal reads DECRARA's parameters behind the area. Unlike DECCARA it has no default (DEC STD 070, 5-176).
func (t *Terminal) attributeReversal() renditionChange {
	r := renditionChange{keep: ^Attrs(0)}
	for i := 4; i < t.par.nparams; i++ {
		switch t.par.arg(i, 0) {
		case 0:
			r.flip ^= reversible
		case 1:
			r.flip ^= Bold
		case 4:
			r.flip ^= underlineMask
		case 5:
			r.flip ^= Blink
		case 7:
			r.flip ^= Inverse
		}
	}
	return r
}

// changeArea changes the rendition of the area's cells: of the rectangle or, by default, of the stream of characters
// from its first corner to its last (DECSACE).
func (t *Terminal) changeArea(r renditionChange) {
	page := t.page()
	a, ok := t.area(0)
	if !ok {
		return
	}
	for y := a.y0; y < a.y1; y++ {
		from, to := a.x0, a.x1
		if !t.rectExtent {
			if y > a.y0 {
				from = page.x0
			}
			if y < a.y1-1 {
				to = page.x1
			}
		}
		t.touch(y).rerender(from, to, r)
	}
}

// rerender changes the rendition of cells [from, to). Both halves of a wide character follow its first.
func (r *Row) rerender(from, to int, change renditionChange) {
	for from < to && r.cells[from].ext()&spacerFlag != 0 {
		from++
	}
	for to > from && to < len(r.cells) && r.cells[to].ext()&spacerFlag != 0 {
		to++
	}
	for x := from; x < to; x++ {
		c := &r.cells[x]
		was := *c
		c.setAttr(change.apply(c.attr()))
		if *c != was {
			r.plain = false
			r.used = max(r.used, x+1)
		}
	}
}

// commonStyle is the style that all cells of the area have: renditions and colours in which they differ are left out.
func (t *Terminal) commonStyle(a rect) Cell {
	t.work += uint64((a.y1 - a.y0) * (a.x1 - a.x0))
	style := t.rows[a.y0].cells[a.x0]
	style.setCh(0)
	for y := a.y0; y < a.y1; y++ {
		for _, c := range t.rows[y].cells[a.x0:a.x1] {
			if c.fg() != style.fg() {
				style.setFg(0)
			}
			if c.bg() != style.bg() {
				style.setBg(0)
			}
			same := c.attr() & style.attr() &^ underlineMask
			if u := c.attr() & underlineMask; u == style.attr()&underlineMask {
				same |= u
			}
			style.setAttr(same)
			if c.ext()&sideMask != style.ext()&sideMask {
				style.setExt(0)
			}
		}
	}
	return style
}
