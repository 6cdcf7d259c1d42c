package vt

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// keepsDCS reports whether the DCS whose head was read is one whose data is wanted.
func (t *Terminal) keepsDCS() bool {
	ps := &t.par
	return ps.prefix == 0 && ps.ninter == 1 && ps.final == 'q' && (ps.inter == '$' || ps.inter == '+')
}

// dcs acts on a whole device control string of those that keepsDCS names.
func (t *Terminal) dcs(data []byte) {
	switch t.par.inter {
	case '$':
		t.requestStatus(string(data))
	case '+':
		t.requestTermcap(data)
	}
}

// requestStatus answers DECRQSS. Only whole known questions have an answer; no byte of the question is repeated.
func (t *Terminal) requestStatus(what string) {
	answer := ""
	switch what {
	case "m":
		answer = t.sgrReport() + "m"
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
		answer = "0\"q"
		if t.pen.attr()&protected != 0 {
			answer = "1\"q"
		}
	case "\"p":
		answer = "62;1\"p"
	}
	if answer == "" {
		t.reply("\x1bP0$r\x1b\\")
		return
	}
	t.reply("\x1bP1$r" + answer + "\x1b\\")
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

// sgrReport is the pen as SGR parameters.
func (t *Terminal) sgrReport() string {
	var b strings.Builder
	b.WriteByte('0')
	for _, a := range [...]struct {
		mask Attrs
		code string
	}{{Bold, ";1"}, {Dim, ";2"}, {Italic, ";3"}, {Blink, ";5"}, {Inverse, ";7"}, {Hidden, ";8"}, {Strike, ";9"}, {Overline, ";53"}} {
		if t.pen.attr()&a.mask != 0 {
			b.WriteString(a.code)
		}
	}
	switch u := t.pen.attr().Underline(); u {
	case UnderlineNone:
	case UnderlineSingle:
		b.WriteString(";4")
	default:
		b.WriteString(";4:" + strconv.Itoa(int(u)))
	}
	writeColor(&b, 38, t.pen.fg())
	writeColor(&b, 48, t.pen.bg())
	writeColor(&b, 58, t.UnderlineColor(t.pen))
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

// termcap is what XTGETTCAP knows: name, then value.
var termcap = map[string]string{
	"TN":     "xterm-256color",
	"name":   "xterm-256color",
	"Co":     "256",
	"colors": "256",
	"RGB":    "8/8/8",
}

// maxTermcap bounds the names of one XTGETTCAP; further ones are not answered.
const maxTermcap = 64

// requestTermcap answers XTGETTCAP, a name at a time. The answers' names are the table's spelling, not the program's.
func (t *Terminal) requestTermcap(data []byte) {
	n := 0
	for encoded := range bytes.SplitSeq(data, []byte{';'}) {
		if n++; n > maxTermcap {
			return
		}
		name, err := hex.DecodeString(string(encoded))
		value, ok := termcap[string(name)]
		if err != nil || !ok {
			t.reply("\x1bP0+r\x1b\\")
			continue
		}
		t.reply("\x1bP1+r" + strings.ToUpper(hex.EncodeToString(name)) + "=" + strings.ToUpper(hex.EncodeToString([]byte(value))) + "\x1b\\")
	}
}
