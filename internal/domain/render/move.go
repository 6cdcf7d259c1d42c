package render

import "strconv"

// at reports whether the terminal's cursor is known to be there.
func (p *Painter) at(x, y int) bool { return p.xKnown && p.yKnown && p.x == x && p.y == y }

// move appends the shortest way to (x, y), nothing when the cursor is there with no wrap pending.
func (p *Painter) move(dst []byte, x, y int) []byte {
	if p.at(x, y) && !p.pending {
		return dst
	}
	dst = p.moveBytes(dst, x, y)
	p.x, p.y, p.xKnown, p.yKnown, p.pending = x, y, true, true, false
	p.joins = false
	return dst
}

func (p *Painter) moveBytes(dst []byte, x, y int) []byte {
	switch {
	case !p.yKnown:
		return appendPosition(dst, x, y)
	case y == p.y:
		return p.moveInRow(dst, x)
	case x == 0 && y > p.y && y-p.y <= 2: // never at the bottom: y is a row of the screen
		dst = append(dst, '\r')
		for range y - p.y {
			dst = append(dst, '\n')
		}
		return dst
	case p.xKnown && !p.pending && x == p.x && y == p.y+1:
		return append(dst, "\x1b[B"...)
	case p.xKnown && !p.pending && x == p.x && y == p.y-1:
		return append(dst, "\x1b[A"...)
	}
	return appendPosition(dst, x, y)
}

func (p *Painter) moveInRow(dst []byte, x int) []byte {
	switch dx := x - p.x; {
	case x == 0:
		return append(dst, '\r')
	case !p.xKnown || p.pending:
	case dx < 0 && dx >= -3:
		for range -dx {
			dst = append(dst, '\b')
		}
		return dst
	case dx == 1:
		return append(dst, "\x1b[C"...)
	case dx > 1 && digits(dx) <= digits(x+1):
		return appendCSI(dst, dx, 'C')
	}
	return appendCSI(dst, x+1, 'G')
}

func digits(n int) int {
	switch {
	case n < 10:
		return 1
	case n < 100:
		return 2
	}
	return 3
}

func appendPosition(dst []byte, x, y int) []byte {
	dst = append(dst, "\x1b["...)
	if x > 0 || y > 0 {
		dst = strconv.AppendInt(dst, int64(y+1), 10)
	}
	if x > 0 {
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(x+1), 10)
	}
	return append(dst, 'H')
}

func appendCSI(dst []byte, n int, final byte) []byte {
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, final)
}

func appendMode(dst []byte, n int, on bool) []byte {
	dst = append(dst, "\x1b[?"...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	if on {
		return append(dst, 'h')
	}
	return append(dst, 'l')
}
