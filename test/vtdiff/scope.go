package main

import (
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// outOfScope says why the voices cannot be compared on the session, "" when they can. Here the others follow no
// specification that the engine could be held to, each does something else, and all that comes after differs too:
//
//   - A wide character with one column left: the engine and xterm.js blank that column and wrap, xterm wraps and leaves
//     what was there; without autowrap the engine leaves it out, and each of the others does something else. Neither ECMA-48 nor DEC STD 070 has wide characters.
//   - A combining mark behind no character: the engine drops it, xterm keeps it as a cell of its own, xterm.js as a
//     cell without width. Unicode 3.6 (D57) calls such a sequence defective, but not ill-formed.
//   - A new size with a wrap pending on the alternate screen: no specification has sizes that change.
func outOfScope(s *session) string {
	t := vt.New(vt.Options{Cols: s.cols, Rows: s.rows})
	t.Write([]byte("\x1b[?2027l"))
	text := "" // of several steps, as a character may begin in one and end in the next
	for _, st := range s.steps {
		if st.cols == 0 {
			text += st.bytes
			continue
		}
		if why := textOutOfScope(t, text); why != "" {
			return why
		}
		text = ""
		if t.Cursor().Pending && t.Modes().Alternate {
			return "a size with a wrap pending"
		}
		t.Write([]byte(cancel))
		t.Resize(st.cols, st.rows)
	}
	if why := textOutOfScope(t, text); why != "" {
		return why
	}
	return ""
}

func textOutOfScope(t *vt.Terminal, text string) string {
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		before := t.Cursor()
		cols, _ := t.Size()
		switch {
		case r < 0xa0:
		case vt.RuneWidth(r) == 0 && !markHasBase(t, before):
			return "a mark behind no character"
		case vt.RuneWidth(r) == 2:
			t.Write([]byte(text[:n]))
			after := t.Cursor()
			if (!before.Pending || !t.Modes().Autowrap) && (after.Row != before.Row || after.Col < before.Col || before.Col == cols-1) || after == before {
				return "a wide character at the edge"
			}
			text = text[n:]
			continue
		}
		t.Write([]byte(text[:n]))
		text = text[n:]
	}
	return ""
}

func markHasBase(t *vt.Terminal, c vt.Cursor) bool {
	x := c.Col
	if !c.Pending {
		x--
	}
	return x >= 0 && (t.Row(c.Row).Cells()[x].IsSpacer() || t.Row(c.Row).Cells()[x].Rune() != 0)
}
