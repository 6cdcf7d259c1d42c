package vt

import (
	"strconv"
	"strings"
)

// keepsDCS reports whether the DCS whose head was read is one whose data is wanted.
func (t *Terminal) keepsDCS() bool {
	ps := &t.par
	if ps.prefix != 0 || ps.ninter != 1 {
		return false
	}
	switch ps.dcsKey() {
	case "$q", "+q", "$t":
		return true
	}
	return false
}

// dcsKey is the intermediate and the final byte of a DCS with one intermediate.
func (ps *parser) dcsKey() string { return string([]byte{byte(ps.inter), ps.final}) }

// dcs acts on a whole device control string of those that keepsDCS names.
func (t *Terminal) dcs(data []byte) {
	switch t.par.dcsKey() {
	case "$q":
		t.requestStatus(string(data))
	case "+q":
		t.requestTermcap(data)
	case "$t":
		t.restorePresentation(t.par.arg(0, 0), data)
	}
}

// requestStatus answers DECRQSS. Only whole known questions have an answer; no byte of the question is repeated.
func (t *Terminal) requestStatus(what string) {
	answer := ""
	switch what {
	case "m":
		answer = t.sgrReport(t.pen) + "m"
	case "r":
		answer = strconv.Itoa(t.top+1) + ";" + strconv.Itoa(t.bot+1) + "r"
	case "s":
		answer = strconv.Itoa(t.left+1) + ";" + strconv.Itoa(t.right+1) + "s"
	case "t":
		answer = strconv.Itoa(t.nrows) + "t"
	case "$|":
		answer = strconv.Itoa(t.cols) + "$|"
	case "*|":
		answer = strconv.Itoa(t.nrows) + "*|"
	case " q":
		answer = strconv.Itoa(t.cursorStyleNumber()) + " q"
	case "\"q":
		answer = strconv.Itoa(oneIf(t.pen.attr()&protected != 0)) + "\"q"
	case "\"p": // VT420, 7-bit answers
		answer = "64;1\"p"
	case "*x":
		answer = strconv.Itoa(1+oneIf(t.rectExtent)) + "*x"
	case "$}", "$~": // no status line
		answer = "0" + what
	}
	if answer == "" {
		t.reply("\x1bP0$r\x1b\\")
		return
	}
	t.reply("\x1bP1$r" + answer + "\x1b\\")
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cursorStyleNumber is DECSCUSR's parameter for the cursor.
func (t *Terminal) cursorStyleNumber() int {
	n := 0
	switch t.cursorStyle {
	case CursorDefault, CursorBlock:
		n = 1
	case CursorUnderline:
		n = 3
	case CursorBar:
		n = 5
	}
	if !t.cursorBlink {
		n++
	}
	return n
}

// sgrReport is a cell's style as SGR parameters.
func (t *Terminal) sgrReport(c Cell) string {
	var b strings.Builder
	b.WriteByte('0')
	write := func(mask Attrs, code string) {
		if c.attr()&mask != 0 {
			b.WriteString(code)
		}
	}
	// In xterm's order: those of the VT100 first.
	write(Bold, ";1")
	switch u := c.attr().Underline(); u {
	case UnderlineNone:
	case UnderlineSingle:
		b.WriteString(";4")
	default:
		b.WriteString(";4:" + strconv.Itoa(int(u)))
	}
	write(Blink, ";5")
	write(Inverse, ";7")
	write(Hidden, ";8")
	write(Dim, ";2")
	write(Italic, ";3")
	write(Strike, ";9")
	write(Overline, ";53")
	writeColor(&b, 38, c.fg())
	writeColor(&b, 48, c.bg())
	writeColor(&b, 58, t.UnderlineColor(c))
	return b.String()
}

// writeColor writes a colour as parameters of SGR; what is 38, 48 or 58.
func writeColor(b *strings.Builder, what int, c Color) {
	if n, ok := c.Index(); ok {
		switch {
		case what != 58 && n < 8:
			b.WriteString(";" + strconv.Itoa(what-8+int(n)))
		case what != 58 && n < 16:
			b.WriteString(";" + strconv.Itoa(what+52+int(n)-8))
		default:
			b.WriteString(";" + strconv.Itoa(what) + ":5:" + strconv.Itoa(int(n)))
		}
	}
	if r, g, bl, ok := c.RGB(); ok {
		b.WriteString(";" + strconv.Itoa(what) + ":2::" + strconv.Itoa(int(r)) + ":" + strconv.Itoa(int(g)) + ":" + strconv.Itoa(int(bl)))
	}
}
