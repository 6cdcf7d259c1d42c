package render

import (
	"bytes"

	"github.com/vev-term/vev/internal/domain/vt"
)

// AppendText appends the plain text of a line of t: blanks as spaces, trailing blanks cut, no line end.
func AppendText(dst []byte, t *vt.Terminal, line *vt.Line) []byte {
	start := len(dst)
	dst = AppendCells(dst, t, line.Cells)
	return dst[:start+len(bytes.TrimRight(dst[start:], " "))]
}

// AppendCells appends the plain text of cells of t: every blank as a space.
func AppendCells(dst []byte, t *vt.Terminal, cells []vt.Cell) []byte {
	for _, c := range cells {
		if !c.IsSpacer() {
			dst = appendCell(dst, t, c)
		}
	}
	return dst
}

// AppendANSI appends a line of t with its styles (SGR and OSC 8): it starts from default style and ends in it, blanks
// at the end are cut unless they have a style, no line end. It is for a terminal with these capabilities.
func AppendANSI(dst []byte, t *vt.Terminal, line *vt.Line, c Capabilities) []byte {
	cells := line.Cells
	for len(cells) > 0 && cells[len(cells)-1].IsBlank() && cells[len(cells)-1].SameStyle(vt.Cell{}) {
		cells = cells[:len(cells)-1]
	}
	p := Painter{caps: c}
	for _, c := range cells {
		if c.IsSpacer() {
			continue
		}
		dst = p.setStyle(dst, t, c)
		dst = appendCell(dst, t, c)
	}
	return p.setStyle(dst, nil, vt.Cell{})
}

// Run is a stretch of cells of one style.
type Run struct {
	Col   int // 1-based
	Len   int // in columns
	Style vt.Style
}

// Runs returns the stretches of a line that are not in default style, in order.
func Runs(t *vt.Terminal, line *vt.Line) []Run {
	var runs []Run
	for x := 0; x < len(line.Cells); {
		first := line.Cells[x]
		n := 1
		for x+n < len(line.Cells) && line.Cells[x+n].SameStyle(first) {
			n++
		}
		if !first.SameStyle(vt.Cell{}) {
			runs = append(runs, Run{Col: x + 1, Len: n, Style: t.Style(first)})
		}
		x += n
	}
	return runs
}
