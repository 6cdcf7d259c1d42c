package main

import (
	"fmt"

	"github.com/vev-term/vev/internal/domain/vt"
)

// finalQuestions ask for the state that no cell shows: margins, origin mode, and the cursor within them.
const finalQuestions = "\x1bP$qr\x1b\\\x1bP$qs\x1b\\\x1b[?6$p\x1b[6n"

// runOurs feeds the session to the project's engine.
func runOurs(s *session) screen {
	t := vt.New(vt.Options{Cols: s.cols, Rows: s.rows, HistoryLines: 1000})
	t.Write([]byte("\x1b[?2027l")) // the others go by code point
	for _, st := range s.steps {
		if st.cols != 0 {
			t.Write([]byte(cancel))
			t.Resize(st.cols, st.rows)
			continue
		}
		t.Write([]byte(st.bytes))
	}
	t.Write([]byte(cancel))
	c := t.Cursor()
	out := screen{x: c.Col, y: c.Row, pending: c.Pending, title: t.Title()}
	t.Write([]byte(finalQuestions))
	out.replies = string(t.TakeReplies())
	_, rows := t.Size()
	for y := range rows {
		r := t.Row(y)
		var row []cell
		for _, c := range r.Cells() {
			row = append(row, ourCell(t, c))
		}
		out.rows = append(out.rows, row)
		out.wrapped = append(out.wrapped, r.Wrapped())
	}
	var l vt.Line
	for n := t.FirstLine(); n < t.ScreenTop() && t.ReadLine(n, &l); n++ {
		var b []byte
		for _, c := range l.Cells {
			if c.Rune() == 0 && !c.IsSpacer() {
				b = append(b, ' ')
			}
			b = t.AppendCell(b, c)
		}
		out.history = append(out.history, line{string(b), l.Wrapped})
	}
	return out
}

func ourCell(t *vt.Terminal, c vt.Cell) cell {
	s := t.Style(c)
	base, marks := baseOf(string(t.AppendCell(nil, c)))
	out := cell{base: base, fg: s.Fg.String(), bg: s.Bg.String(), underline: uint8(s.Attrs.Underline())}
	for a, b := range map[vt.Attrs]rendition{
		vt.Bold: bold, vt.Dim: dim, vt.Italic: italic, vt.Blink: blink, vt.Inverse: inverse, vt.Hidden: hidden, vt.Strike: strike,
	} {
		if s.Attrs&a != 0 {
			out.attrs |= b
		}
	}
	if c.IsSpacer() {
		out.base = spacer
	}
	if out.attrs&hidden != 0 {
		out.base = ' '
	}
	out.extra = extraOf(marks, s.Attrs&vt.Overline != 0, s.Underline.String(), s.Link.URI, s.Link.ID)
	return out
}

// noMarks is how extraOf begins without marks.
const noMarks = `marks=""`

func extraOf(marks string, overline bool, underline, uri, id string) string {
	return fmt.Sprintf("marks=%q overline=%v underline=%s link=%s id=%s", marks, overline, underline, uri, id)
}
