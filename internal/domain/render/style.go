package render

import (
	"strconv"

	"github.com/vev-term/vev/internal/domain/vt"
)

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// setStyle appends what makes the terminal's pen that of cell c of t.
func (p *Painter) setStyle(dst []byte, t *vt.Terminal, c vt.Cell) []byte {
	if p.styleT == t && t != nil && c.SameStyle(p.styleOf) && p.styleG == t.Generation() {
		return dst
	}
	dst = p.changeStyle(dst, p.caps.style(styleOf(t, c)))
	p.styleOf, p.styleT = c, t
	if t != nil {
		p.styleG = t.Generation()
	}
	return dst
}

// styleOf is t.Style, also for blanks that no terminal owns.
func styleOf(t *vt.Terminal, c vt.Cell) vt.Style {
	if !c.HasSide() || t == nil {
		return vt.Style{Fg: c.Foreground(), Bg: c.Background(), Attrs: c.Attrs()}
	}
	return t.Style(c)
}

// changeStyle appends what brings the pen from p.style to s: the shorter of a change and a fresh start.
func (p *Painter) changeStyle(dst []byte, s vt.Style) []byte {
	old := p.style
	p.style = s
	p.styleT = nil
	if s.Link != old.Link {
		dst = appendLink(dst, s.Link)
		s.Link, old.Link = vt.Link{}, vt.Link{}
	}
	if s == old {
		return dst
	}
	s.Link = vt.Link{}
	if s == (vt.Style{}) {
		return append(dst, "\x1b[m"...)
	}
	p.sgr = appendChange(p.sgr[:0], old, s)
	if p.caps.Basic && old.Attrs&^s.Attrs != 0 { // a VT102 resets only all of them
		p.sgr = appendChange(append(p.sgr[:0], "0;"...), vt.Style{}, s)
	} else if old.Attrs != 0 || old.Underline != 0 || old.Fg != 0 || old.Bg != 0 {
		if p.sgrAlt = appendChange(append(p.sgrAlt[:0], "0;"...), vt.Style{}, s); len(p.sgrAlt) < len(p.sgr) {
			p.sgr, p.sgrAlt = p.sgrAlt, p.sgr
		}
	}
	dst = append(dst, "\x1b["...)
	dst = append(dst, p.sgr[:len(p.sgr)-1]...)
	return append(dst, 'm')
}

// attrCodes are the SGR parameters that set and reset an attribute.
var attrCodes = [...]struct {
	attr    vt.Attrs
	on, off string
}{
	{vt.Bold, "1;", "22;"},
	{vt.Dim, "2;", "22;"},
	{vt.Italic, "3;", "23;"},
	{vt.Blink, "5;", "25;"},
	{vt.Inverse, "7;", "27;"},
	{vt.Hidden, "8;", "28;"},
	{vt.Strike, "9;", "29;"},
	{vt.Overline, "53;", "55;"},
}

// appendChange appends SGR parameters, each with a semicolon behind, that lead from old to s.
func appendChange(dst []byte, old, s vt.Style) []byte {
	if old.Attrs != s.Attrs {
		dst = appendAttrs(dst, old.Attrs, s.Attrs)
	}
	if old.Fg != s.Fg {
		dst = appendColor(dst, 38, s.Fg)
	}
	if old.Bg != s.Bg {
		dst = appendColor(dst, 48, s.Bg)
	}
	if old.Underline != s.Underline {
		dst = appendColor(dst, 58, s.Underline)
	}
	return dst
}

func appendAttrs(dst []byte, old, a vt.Attrs) []byte {
	if gone := old &^ a; gone&(vt.Bold|vt.Dim) != 0 { // 22 resets both
		dst = append(dst, "22;"...)
		old &^= vt.Bold | vt.Dim
	}
	for _, c := range attrCodes {
		switch {
		case old&c.attr == a&c.attr:
		case a&c.attr != 0:
			dst = append(dst, c.on...)
		default:
			dst = append(dst, c.off...)
		}
	}
	if u := a.Underline(); u != old.Underline() {
		switch u {
		case vt.UnderlineNone:
			dst = append(dst, "24;"...)
		case vt.UnderlineSingle:
			dst = append(dst, "4;"...)
		default:
			dst = append(dst, "4:"...)
			dst = append(appendInt(dst, int(u)), ';')
		}
	}
	return dst
}

// appendColor appends the parameters of a colour; what is 38, 48 or 58. Foreground and background are written with
// semicolons, which every terminal reads; underline colours with colons, as they came.
func appendColor(dst []byte, what int, c vt.Color) []byte {
	sep := byte(';')
	if what == 58 {
		sep = ':'
	}
	if n, ok := c.Index(); ok {
		switch {
		case n < 8 && what != 58:
			dst = appendInt(dst, what-8+int(n))
		case n < 16 && what != 58:
			dst = appendInt(dst, what+52+int(n)-8)
		default:
			dst = append(appendInt(dst, what), sep, '5', sep)
			dst = appendInt(dst, int(n))
		}
		return append(dst, ';')
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return append(appendInt(dst, what+1), ';')
	}
	dst = append(appendInt(dst, what), sep, '2', sep)
	if what == 58 {
		dst = append(dst, sep)
	}
	dst = append(appendInt(dst, int(r)), sep)
	dst = append(appendInt(dst, int(g)), sep)
	return append(appendInt(dst, int(b)), ';')
}

// appendLink appends the OSC 8 that begins l, or ends the link when it is zero.
func appendLink(dst []byte, l vt.Link) []byte {
	dst = append(dst, "\x1b]8;"...)
	if l.ID != "" {
		dst = append(dst, "id="...)
		dst = append(dst, l.ID...)
	}
	dst = append(dst, ';')
	dst = append(dst, l.URI...)
	return append(dst, "\x1b\\"...)
}
