package render

import "github.com/vev-term/vev/internal/domain/vt"

// Inline makes the painter of a UserTerminal draw on the terminal's main screen: a frame on the alternate screen is
// shown on the terminal's own, nothing that a paint does adds to the terminal's history, and Insert adds lines to it. It
// is called before each Enter, with the terminal's rows.
func (p *Painter) Inline(rows int) { p.inline = max(rows, 1) }

// enterInline prepares the main screen of a terminal. What it shows goes to the terminal's history: a line feed for each
// row but one brings the cursor's row to the top, wherever it was.
func (p *Painter) enterInline(dst []byte) []byte {
	if !p.caps.Basic {
		dst = append(dst, "\x1b[?1007;2027s\x1b[22;0t"...)
	}
	dst = append(dst, "\x1b[?25l\x1b[m\r"...)
	return appendFeeds(dst, p.inline-1)
}

func appendFeeds(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '\n')
	}
	return dst
}

// leaveInline gives the main screen back with the cursor below the last row that shows something.
func (p *Painter) leaveInline(dst []byte) []byte {
	if p.state.modes.Alternate {
		dst = append(dst, "\x1b[2J\x1b[?1049l"...)
	}
	last := p.rows - 1
	for last > 0 && p.known && !p.state.modes.Alternate && p.shadow[last].showsNothing() {
		last--
	}
	p.state.modes.Alternate = false
	dst = appendPosition(dst, 0, max(last, 0))
	dst = append(dst, "\r\n\x1b[J"...)
	if !p.caps.Basic {
		dst = append(dst, "\x1b[?1007;2027r\x1b[23;0t"...)
	}
	return append(dst, "\x1b[?25h"...)
}

func (r *shadowRow) showsNothing() bool {
	for _, c := range r.cells {
		if !c.IsBlank() || !c.SameStyle(vt.Cell{}) {
			return false
		}
	}
	return true
}

// clearRows blanks the screen row by row: where a terminal erases the whole screen at once, some keep what was on it in
// their history.
func (p *Painter) clearRows(dst []byte, rows int) []byte {
	for y := range rows {
		dst = appendPosition(dst, 0, y)
		dst = append(dst, "\x1b[K"...)
	}
	return append(dst, "\x1b[H"...)
}

// syncInline switches a terminal between its own two screens. Keyboard flags are each screen's own.
func (p *Painter) syncInline(dst []byte, on bool) []byte {
	dst = p.setStyle(dst, nil, vt.Cell{})
	if p.ever.kittyPushed {
		p.ever.kittyPushed = false
		dst = append(dst, "\x1b[<u"...)
	}
	p.state.modes.KittyFlags, p.state.modes.Alternate = 0, on
	dst = appendMode(dst, 1049, on)
	if on {
		dst = append(dst, "\x1b[2J\x1b[H"...)
	} else {
		dst = p.clearRows(dst, p.rows)
	}
	p.x, p.y, p.xKnown, p.yKnown = 0, 0, true, true
	p.joins, p.pending = false, false
	for y := range p.shadow {
		p.shadow[y].blank()
	}
	return dst
}

// Insert appends what adds the first n rows of t, which has the terminal's width, to the history of a terminal that is
// drawn inline, as its newest lines. The next Paint brings the screen back. It may be called when a frame of the main
// screen was painted. Rows that a soft wrap joins are joined there too, where all terminals agree how wide they are.
func (p *Painter) Insert(dst []byte, t *vt.Terminal, n int) []byte {
	if n <= 0 || !p.known || p.state.modes.Alternate {
		return dst
	}
	if p.state.visible {
		p.state.visible = false
		dst = appendMode(dst, 25, false)
	}
	dst = append(p.setStyle(dst, nil, vt.Cell{}), "\x1b[H\x1b[?7h"...)
	for y := range n {
		dst = p.insertRow(dst, t, y, y+1 < n)
	}
	left := min(n, p.rows-1)
	dst = append(dst, "\x1b[?7l"...)
	dst = appendPosition(dst, 0, p.rows-1)
	dst = appendFeeds(dst, left)
	p.x, p.y, p.xKnown, p.yKnown = 0, p.rows-1, true, true
	p.joins, p.pending = false, false
	if n < p.rows {
		p.rotate(0, p.rows-1, n)
		return dst
	}
	for y := range p.shadow {
		p.shadow[y].blank()
	}
	return dst
}

// insertRow prints a row of t in a terminal that wraps, over what its row shows.
func (p *Painter) insertRow(dst []byte, t *vt.Terminal, y int, more bool) []byte {
	row := t.Row(y)
	cells := row.Cells()
	end := row.Used()
	plain := true
	for x := 0; x < end; x++ {
		c := cells[x]
		if c.IsSpacer() {
			continue
		}
		plain = plain && isASCII(c)
		if !plain {
			dst = appendColumn(dst, x) // wherever the terminal thinks it is
		}
		dst = p.setStyle(dst, t, c)
		dst = printWidth(dst, t, c)
	}
	dst = p.setStyle(dst, nil, vt.Cell{})
	if end < p.cols {
		dst = append(dst, "\x1b[K"...)
	} else if plain && more && row.Wrapped() && t.Row(y+1).Used() > 0 && isASCII(t.Row(y + 1).Cells()[0]) {
		return dst // the next row's first character wraps
	}
	return append(dst, "\r\n"...)
}

func isASCII(c vt.Cell) bool { return c.Rune() >= 0 && c.Rune() < 0x80 && !c.IsSpacer() }

func appendColumn(dst []byte, x int) []byte {
	if x == 0 {
		return append(dst, '\r')
	}
	return appendCSI(append(dst, '\r'), x, 'C')
}
