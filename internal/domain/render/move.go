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
	if p.yKnown {
		start := len(dst)
		if x == 0 { // first, for then a line feed goes straight down in any mode
			dst = p.moveToRow(p.moveInRow(dst, 0), y, true)
		} else {
			dst = p.moveInRow(p.moveToRow(dst, y, !p.state.modes.NewLine), x)
		}
		if len(dst)-start <= positionLen(x, y) {
			return dst
		}
		dst = dst[:start]
	}
	return appendPosition(dst, x, y)
}

// moveToRow appends the shortest way to row y that keeps the column. down: a line feed does.
func (p *Painter) moveToRow(dst []byte, y int, down bool) []byte {
	dy := y - p.y
	absolute := 3 + digits(y+1)
	if p.caps.Basic {
		absolute = 1 << 10
	}
	switch {
	case dy == 0:
		return dst
	case dy == -1: // over no margin: y is a row of the screen
		return append(dst, "\x1bM"...)
	case down && dy > 0 && dy <= 3+digits(dy): // likewise
		for range dy {
			dst = append(dst, '\n')
		}
		return dst
	case dy == 1:
		return append(dst, "\x1b[B"...)
	case dy > 0 && 3+digits(dy) <= absolute:
		return appendCSI(dst, dy, 'B')
	case dy < 0 && 3+digits(-dy) <= absolute:
		return appendCSI(dst, -dy, 'A')
	}
	return appendCSI(dst, y+1, 'd')
}

// moveInRow appends the shortest way to column x.
func (p *Painter) moveInRow(dst []byte, x int) []byte {
	absolute := 3 + digits(x+1)
	if p.caps.Basic {
		absolute = 1 + 3 + digits(x)
	}
	dx := x - p.x
	switch relative := p.xKnown && !p.pending; {
	case relative && dx == 0:
		return dst
	case x == 0:
		return append(dst, '\r')
	case !relative:
	case dx < 0 && dx >= -4:
		for range -dx {
			dst = append(dst, '\b')
		}
		return dst
	case dx == 1:
		return append(dst, "\x1b[C"...)
	case dx > 0 && 3+digits(dx) <= absolute:
		return appendCSI(dst, dx, 'C')
	case dx < 0 && 3+digits(-dx) < absolute:
		return appendCSI(dst, -dx, 'D')
	}
	if p.caps.Basic {
		return appendCSI(append(dst, '\r'), x, 'C')
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

// positionLen is the length of what appendPosition appends.
func positionLen(x, y int) int {
	switch {
	case x > 0:
		return 4 + digits(y+1) + digits(x+1)
	case y > 0:
		return 3 + digits(y+1)
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
