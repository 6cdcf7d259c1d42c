package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

// codePoints is a person's terminal that knows no clusters: each code point has a width of its own.
type codePoints struct{ *vt.Terminal }

func newCodePoints(cols, rows int, enter []byte) codePoints {
	t := codePoints{vt.New(vt.Options{Cols: cols, Rows: rows})}
	t.show([]byte("\x1b[?2027l"))
	t.show(enter)
	return t
}

func (t codePoints) show(b []byte) {
	t.Write(bytes.ReplaceAll(b, []byte("\x1b[?2027h"), []byte("\x1b[?2027l")))
}

// misplaced returns the first row of which a letter is in another column than the frame has it, "" when all are right.
func (t codePoints) misplaced(f *Frame) string {
	var scratch []vt.Cell
	for y := range f.Rows {
		want := f.cells(y, &scratch)
		for x, got := range t.Row(y).Cells() {
			if r := want[x].Rune(); r >= 'a' && r <= 'z' && got.Rune() != r {
				return string(AppendCells(nil, f.rows[y].t, want)) + "|" + string(AppendCells(nil, t.Terminal, t.Row(y).Cells()))
			}
		}
	}
	return ""
}

// TestLettersKeepTheirColumns: in a terminal that gives clusters other widths, what is beside them is where it belongs, in a
// full paint and after any change.
func TestLettersKeepTheirColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cols, rows = 24, 4
		src := vt.New(vt.Options{Cols: cols, Rows: rows})
		p := NewPainter(UserTerminal, Capabilities{})
		user := newCodePoints(cols, rows, p.Enter(nil))
		var f Frame
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
				"word", "x", "letters ", "   ", "中", "👩‍👩‍👧", "⚠\ufe0f", "🇩🇪", "👍🏽", "e\u0301", "1\ufe0f\u20e3", "क्ष", "\r", "\r\n", "\x1b[5G", "\x1b[2;9H", "\x1b[K",
				"\x1b[3P", "\x1b[2@", "\x1b[4X", "\x1b[H", "\x1b[M", "\x1b[L",
			}), 1, 20).Draw(t, "pieces")
			src.Write([]byte(strings.Join(pieces, "")))
			f.SetTerminal(src)
			user.show(p.Paint(nil, &f))
			require.Empty(t, user.misplaced(&f))
		}
	})
}

// TestClusterOverUnchangedText: what a terminal prints of a cluster beyond its columns is painted over.
func TestClusterOverUnchangedText(t *testing.T) {
	for _, c := range []struct{ before, change string }{
		{"xxletters", "\x1b[H👩‍👩‍👧"},
		{"xxab", "\x1b[H👩‍👩‍👧"},
		{"xx      letters", "\x1b[H👩‍👩‍👧👍🏽"},
		{"abcdefghijkxx", "\x1b[1;12H👩‍👩‍👧"},
		{"xx中中letters", "\x1b[H👩‍👩‍👧"},
	} {
		src := vt.New(vt.Options{Cols: 16, Rows: 2})
		p := NewPainter(UserTerminal, Capabilities{})
		user := newCodePoints(16, 2, p.Enter(nil))
		var f Frame
		for _, in := range []string{c.before, c.change} {
			src.Write([]byte(in))
			f.SetTerminal(src)
			user.show(p.Paint(nil, &f))
		}
		require.Empty(t, user.misplaced(&f), "%q", c.change)
	}
}
