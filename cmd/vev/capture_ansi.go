package main

import (
	"strconv"

	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// printANSI writes the lines with their styles. Each begins and ends in the default style, so
// any of them can be shown alone.
func (c *cli) printANSI(s *protocol.Captured) error {
	scratch := vt.New(vt.Options{Cols: vt.MaxCols, Rows: 1})
	var out []byte
	for i := range s.Lines.List {
		out = appendANSI(out[:0], scratch, &s.Lines.List[i])
		if _, err := c.out.Write(append(out, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Colours as protocol.Run has them: a tag above 24 bits.
const (
	colorPalette = 1
	colorDirect  = 2
)

// appendANSI styles a line's text. Runs count columns, so the engine lays the text out again on
// the one row of scratch: only it knows how wide each character is.
func appendANSI(dst []byte, scratch *vt.Terminal, line *protocol.Line) []byte {
	const clear = "\x1bc\x1b[?7l" // reset; no wrapping at the right edge
	_, _ = scratch.Write(append([]byte(clear), line.Text...))
	row := scratch.Row(0)
	cells := row.Cells()
	columns := row.Used()
	if n := len(line.Runs); n > 0 {
		columns = max(columns, min(line.Runs[n-1].Col-1+line.Runs[n-1].Len, len(cells)))
	}
	plain := protocol.Run{}
	now, runs := plain, line.Runs
	for x := range columns {
		if cells[x].IsSpacer() {
			continue
		}
		for len(runs) > 0 && runs[0].Col-1+runs[0].Len <= x {
			runs = runs[1:]
		}
		style := plain
		if len(runs) > 0 && runs[0].Col-1 <= x {
			style = runs[0]
			style.Col, style.Len = 0, 0
		}
		dst = appendStyle(dst, now, style)
		now = style
		before := len(dst)
		if dst = scratch.AppendCell(dst, cells[x]); len(dst) == before {
			dst = append(dst, ' ')
		}
	}
	return appendStyle(dst, now, plain)
}

// appendStyle changes style from one run's to another's, link and SGR each only when it differs.
func appendStyle(dst []byte, from, to protocol.Run) []byte {
	if from.Link != to.Link {
		dst = append(dst, "\x1b]8;;"...)
		dst = append(dst, printable(to.Link)...)
		dst = append(dst, "\x1b\\"...)
	}
	from.Link, to.Link = "", ""
	if from == to {
		return dst
	}
	dst = append(dst, "\x1b[0"...)
	for _, a := range protocol.RunAttributes {
		if to.Attrs&a.Attr != 0 {
			dst = append(dst, ';')
			dst = strconv.AppendInt(dst, int64(a.SGR), 10)
		}
	}
	switch {
	case to.Underline == 1:
		dst = append(dst, ";4"...)
	case to.Underline > 1:
		dst = append(dst, ";4:"...)
		dst = strconv.AppendUint(dst, uint64(to.Underline), 10)
	}
	dst = appendColor(dst, 38, to.Fg)
	dst = appendColor(dst, 48, to.Bg)
	dst = appendColor(dst, 58, to.UnderlineColor)
	return append(dst, 'm')
}

// appendColor adds a colour in the form every terminal knows: select;5;n or select;2;r;g;b.
func appendColor(dst []byte, selector int, c uint32) []byte {
	kind := c >> 24
	if kind != colorPalette && kind != colorDirect {
		return dst
	}
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(selector), 10)
	if kind == colorPalette {
		dst = append(dst, ";5;"...)
		return strconv.AppendUint(dst, uint64(c&0xff), 10)
	}
	dst = append(dst, ";2"...)
	for _, shift := range []int{16, 8, 0} {
		dst = append(dst, ';')
		dst = strconv.AppendUint(dst, uint64(c>>shift&0xff), 10)
	}
	return dst
}
