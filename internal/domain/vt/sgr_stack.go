package vt

// maxSGRStack bounds XTPUSHSGR; further pushes are ignored.
const maxSGRStack = 10

// savedSGR is what XTPUSHSGR put away of the pen: renditions and colours. The link and DECSCA's protection are none of
// them.
type savedSGR struct {
	what, attrs       Attrs // the renditions that are saved, and those of them that were on
	hasFg, hasBg, all bool
	fg, bg, underline Color // the underline's with all
}

// pushSGR is XTPUSHSGR: without parameters it saves all, else what they name as SGR does, with 30 and 31 for the colours.
func (t *Terminal) pushSGR() {
	if len(t.sgrStack) == maxSGRStack {
		return
	}
	s := savedSGR{attrs: t.pen.attr(), fg: t.pen.fg(), bg: t.pen.bg(), underline: t.UnderlineColor(t.pen)}
	ps := &t.par
	if ps.nparams == 0 {
		s.what, s.hasFg, s.hasBg, s.all = attrMask, true, true, true
	}
	for _, v := range ps.params[:ps.nparams] {
		switch v {
		case 30:
			s.hasFg = true
		case 31:
			s.hasBg = true
		default:
			s.what |= attrOfSGR(v)
		}
	}
	t.sgrStack = append(t.sgrStack, s)
}

// attrOfSGR returns the rendition that a parameter of SGR switches on, 0 for another.
func attrOfSGR(v int32) Attrs {
	switch v {
	case 1:
		return Bold
	case 2:
		return Dim
	case 3:
		return Italic
	case 4, 21:
		return underlineMask
	case 5:
		return Blink
	case 7:
		return Inverse
	case 8:
		return Hidden
	case 9:
		return Strike
	}
	return 0
}

// popSGR is XTPOPSGR.
func (t *Terminal) popSGR() {
	n := len(t.sgrStack) - 1
	if n < 0 {
		return
	}
	s := t.sgrStack[n]
	t.sgrStack = t.sgrStack[:n]
	pen := t.pen
	pen.setAttr(pen.attr()&^s.what | s.attrs&s.what)
	if s.hasFg {
		pen.setFg(s.fg)
	}
	if s.hasBg {
		pen.setBg(s.bg)
	}
	if s.all {
		pen = t.withUnderlineColor(pen, s.underline)
	}
	t.setPen(pen)
}
