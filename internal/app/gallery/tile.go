package gallery

import (
	"context"
	"strconv"
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
)

// tile is one session on the screen. It belongs to the loop.
type tile struct {
	entry  ports.Session
	size   domain.Size // of the picture
	body   *vt.Terminal
	failed string // why there is no picture
	dirty  bool
	stop   context.CancelFunc // ends its reader; nil: none was begun, or it may begin again
	over   bool               // the reader has ended by itself
}

// show makes the tile show a picture.
func (t *tile) show(content []byte) {
	t.body = vt.New(vt.Options{Cols: t.size.Cols, Rows: t.size.Rows})
	_, _ = t.body.Write(content)
	t.failed, t.dirty = "", true
}

// fail makes it show why there is none; the last one stays below.
func (t *tile) fail(why string) { t.failed, t.dirty, t.over = why, true, true }

// again lets a reader that has ended begin again: something has changed.
func (t *tile) again() {
	if t.over {
		t.close()
		t.stop, t.over = nil, false
	}
}

// close ends the tile's reader.
func (t *tile) close() {
	if t.stop != nil {
		t.stop()
	}
}

// draw appends what puts the tile on a canvas, at a column and row from 0.
func (t *tile) draw(dst []byte, col, row int, selected bool) []byte {
	dst = appendTitle(dst, t.title(), col, row, t.size.Cols, selected)
	for y := range t.size.Rows {
		dst = appendPlace(dst, col, row+1+y)
		dst = append(dst, "\x1b["...)
		dst = strconv.AppendInt(dst, int64(t.size.Cols), 10)
		dst = append(dst, 'X')
		if t.body != nil {
			dst = render.AppendANSI(dst, t.body, &vt.Line{Cells: t.body.Row(y).Cells()}, render.Capabilities{})
		}
	}
	return dst
}

// title is the line above the picture.
func (t *tile) title() string {
	s := t.entry.Address.String()
	switch {
	case t.failed != "":
		s += ": " + t.failed
	case t.entry.State != "":
		s += " (" + t.entry.State + ")"
	}
	if t.entry.Title != "" {
		s += "  " + t.entry.Title
	}
	return s
}

// appendTitle appends a line of text of so many columns, in reverse if it is selected; what is longer is cut.
func appendTitle(dst []byte, text string, col, row, width int, selected bool) []byte {
	line := vt.New(vt.Options{Cols: width, Rows: 1})
	style := "\x1b[2;4m"
	if selected {
		style = "\x1b[7m"
	}
	_, _ = line.Write([]byte("\x1b[?7l" + style + " " + text + strings.Repeat(" ", width)))
	dst = appendPlace(dst, col, row)
	return render.AppendANSI(dst, line, &vt.Line{Cells: line.Row(0).Cells()}, render.Capabilities{})
}

func appendPlace(dst []byte, col, row int) []byte {
	dst = append(dst, "\x1b["...)
	dst = strconv.AppendInt(dst, int64(row+1), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(col+1), 10)
	return append(dst, 'H')
}
