package client

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// glyph is one character of a line: text[from:to], width columns from col on.
type glyph struct {
	from, to int
	col      int
	width    int
}

// measurer finds the columns of a line's text, with the engine's own idea of widths.
type measurer struct {
	term *vt.Terminal // one row; nil until a line has more than ASCII
	buf  []byte
}

// glyphs appends the characters of text, of which those beyond domain.MaxCols columns are left out.
func (m *measurer) glyphs(dst []glyph, text []byte) []glyph {
	for i, b := range text {
		if b >= 0x80 {
			return m.measure(dst[:len(dst)-i], text)
		}
		dst = append(dst, glyph{from: i, to: i + 1, col: i, width: 1})
	}
	return dst
}

func (m *measurer) measure(dst []glyph, text []byte) []glyph {
	if m.term == nil {
		m.term = vt.New(vt.Options{Cols: domain.MaxCols, Rows: 1})
		_, _ = m.term.Write([]byte("\x1b[?7l"))
	}
	m.buf = append(append(m.buf[:0], "\r\x1b[2K"...), text...)
	_, _ = m.term.Write(m.buf)
	row := m.term.Row(0)
	at := 0
	var one []byte
	for x, c := range row.Cells()[:row.Used()] {
		if c.IsSpacer() {
			continue
		}
		one = render.AppendCells(one[:0], m.term, row.Cells()[x:x+1])
		g := glyph{from: at, to: min(at+len(one), len(text)), col: x, width: 1}
		if c.IsWide() {
			g.width = 2
		}
		if at = g.to; g.from < g.to {
			dst = append(dst, g)
		}
	}
	return dst
}

// width is how many columns the characters take.
func width(glyphs []glyph) int {
	if len(glyphs) == 0 {
		return 0
	}
	last := glyphs[len(glyphs)-1]
	return last.col + last.width
}

// screenLine is row y of the terminal as a line of the session.
func screenLine(t *vt.Terminal, y int, n uint64) protocol.Line {
	row := t.Row(y)
	return lineOf(t, &vt.Line{N: n, Wrapped: row.Wrapped(), Cells: row.Cells()[:row.Used()]})
}

// lineOf is a line of the terminal as the daemon would send it.
func lineOf(t *vt.Terminal, line *vt.Line) protocol.Line {
	out := protocol.Line{N: line.N, Wrapped: line.Wrapped}
	if line.Wrapped {
		out.Text = string(render.AppendCells(nil, t, line.Cells))
	} else {
		out.Text = string(render.AppendText(nil, t, line))
	}
	for _, r := range render.Runs(t, line) {
		out.Runs = append(out.Runs, protocol.Run{
			Col: r.Col, Len: r.Len, Fg: uint32(r.Style.Fg), Bg: uint32(r.Style.Bg), UnderlineColor: uint32(r.Style.Underline),
			Underline: uint8(r.Style.Attrs.Underline()), Attrs: protocol.RunAttrs(r.Style.Attrs) & runAttrs, Link: r.Style.Link.URI,
		})
	}
	return out
}

// runAttrs are the attributes that the engine and the protocol number alike.
const runAttrs = protocol.AttrOverline<<1 - 1
