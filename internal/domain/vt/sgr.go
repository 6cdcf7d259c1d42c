package vt

// sgr carries out CSI m: select graphic rendition.
func (t *Terminal) sgr() {
	ps := &t.par
	pen := t.pen
	if ps.nparams == 0 {
		pen = t.plainPen(pen)
	}
	for i := 0; i < ps.nparams; {
		if ps.sub == 0 {
			if n := pen.usual(ps.params[i:ps.nparams]); n > 0 {
				i += n
				continue
			}
		}
		end := i + 1
		for end < ps.nparams && ps.sub&(1<<end) != 0 {
			end++
		}
		switch v := ps.params[i]; v {
		case 38, 48, 58:
			c, n, ok := ps.color(i, end)
			if ok {
				switch v {
				case 38:
					pen.setFg(c)
				case 48:
					pen.setBg(c)
				case 58:
					pen = t.withUnderlineColor(pen, c)
				}
			}
			end = max(end, n)
		case 0:
			pen = t.plainPen(pen)
		case 59:
			pen = t.withUnderlineColor(pen, 0)
		case 4:
			u := UnderlineSingle
			if end > i+1 {
				u = Underline(min(ps.params[i+1], int32(UnderlineDashed)+1))
			}
			if u <= UnderlineDashed {
				pen.setAttr(pen.attr().WithUnderline(u))
			}
		default:
			if end == i+1 { // no other has sub-parameters
				pen.rendition(v)
			}
		}
		i = end
	}
	t.setPen(pen)
}

// usual applies the first of the parameters, which have no sub-parameters, where it is a palette colour or one of RGB, and
// returns how many it took; 0 is another. It is a step of sgr for the common case.
func (c *Cell) usual(params []int32) int {
	v := params[0]
	switch {
	case v-30 <= 7 && v >= 30:
		c.setFg(Indexed(uint8(v - 30)))
		return 1
	case v-40 <= 7 && v >= 40:
		c.setBg(Indexed(uint8(v - 40)))
		return 1
	case (v == 38 || v == 48) && len(params) >= 5 && params[1] == 2 && uint32(params[2]|params[3]|params[4]) <= 255:
		color := RGB(uint8(params[2]), uint8(params[3]), uint8(params[4]))
		if v == 38 {
			c.setFg(color)
		} else {
			c.setBg(color)
		}
		return 5
	}
	return 0
}

// plainPen returns what SGR 0 leaves of a pen: its link and DECSCA's protection.
func (t *Terminal) plainPen(pen Cell) Cell {
	return t.withUnderlineColor(Cell{hi: pen.hi & (uint64(protected)<<attrShift | sideMask<<extShift)}, 0)
}

// withUnderlineColor returns pen with that colour and the link it has.
func (t *Terminal) withUnderlineColor(pen Cell, c Color) Cell {
	if t.tables.sides[pen.ext()].underline == c {
		return pen
	}
	t.pen = pen // a sweep renumbers it
	t.setUnderlineColor(c)
	return t.pen
}

// rendition applies one SGR parameter other than a colour with arguments.
func (c *Cell) rendition(v int32) {
	switch {
	case v >= 30 && v <= 37:
		c.setFg(Indexed(uint8(v - 30)))
	case v >= 40 && v <= 47:
		c.setBg(Indexed(uint8(v - 40)))
	case v >= 90 && v <= 97:
		c.setFg(Indexed(uint8(v - 90 + 8)))
	case v >= 100 && v <= 107:
		c.setBg(Indexed(uint8(v - 100 + 8)))
	case v == 39:
		c.setFg(0)
	case v == 49:
		c.setBg(0)
	default:
		c.attribute(v)
	}
}

func (c *Cell) attribute(v int32) {
	switch v {
	case 1:
		c.setAttr(c.attr() | Bold)
	case 2:
		c.setAttr(c.attr() | Dim)
	case 3:
		c.setAttr(c.attr() | Italic)
	case 5, 6:
		c.setAttr(c.attr() | Blink)
	case 7:
		c.setAttr(c.attr() | Inverse)
	case 8:
		c.setAttr(c.attr() | Hidden)
	case 9:
		c.setAttr(c.attr() | Strike)
	case 21:
		c.setAttr(c.attr().WithUnderline(UnderlineDouble))
	case 22:
		c.setAttr(c.attr() &^ (Bold | Dim))
	case 23:
		c.setAttr(c.attr() &^ Italic)
	case 24:
		c.setAttr(c.attr() &^ underlineMask)
	case 25:
		c.setAttr(c.attr() &^ Blink)
	case 27:
		c.setAttr(c.attr() &^ Inverse)
	case 28:
		c.setAttr(c.attr() &^ Hidden)
	case 29:
		c.setAttr(c.attr() &^ Strike)
	case 53:
		c.setAttr(c.attr() | Overline)
	case 55:
		c.setAttr(c.attr() &^ Overline)
	}
}

// color reads the colour of the 38, 48 or 58 at parameter i, whose sub-parameters end before end. It returns the
// index behind what it used; not ok is a colour that is malformed and changes nothing.
func (ps *parser) color(i, end int) (c Color, next int, ok bool) {
	if end > i+1 {
		return ps.colonColor(i+1, end)
	}
	if i+1 >= ps.nparams {
		return 0, ps.nparams, false
	}
	arg := func(k int) int32 {
		if i+k < ps.nparams {
			return ps.params[i+k]
		}
		return 0
	}
	switch ps.params[i+1] {
	case 5:
		n := arg(2)
		return Indexed(uint8(n)), i + 3, n <= 255
	case 2:
		r, g, b := arg(2), arg(3), arg(4)
		return RGB(uint8(r), uint8(g), uint8(b)), i + 5, r <= 255 && g <= 255 && b <= 255
	}
	return 0, i + 2, false
}

// colonColor reads a colour written with colons in parameters [i, end): 5:n, 2:r:g:b or, as ITU T.416 has it,
// 2:space:r:g:b.
func (ps *parser) colonColor(i, end int) (c Color, next int, ok bool) {
	v := ps.params[i:end]
	switch {
	case v[0] == 5 && len(v) >= 2 && v[1] <= 255:
		return Indexed(uint8(v[1])), end, true
	case v[0] == 2 && len(v) >= 5:
		v = v[2:]
	case v[0] == 2 && len(v) == 4:
		v = v[1:]
	default:
		return 0, end, false
	}
	if v[0] > 255 || v[1] > 255 || v[2] > 255 {
		return 0, end, false
	}
	return RGB(uint8(v[0]), uint8(v[1]), uint8(v[2])), end, true
}
