package vt

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestTableInAnyOrder: the examples of the table, text and resizes, in any order: every state is sound, and does not
// depend on how its input was cut.
func TestTableInAnyOrder(t *testing.T) {
	var pieces []string
	for _, s := range sequenceTable(t) {
		pieces = append(pieces, s.setup+s.example)
	}
	texts := []string{
		"word", "0123456789", "─│┌ж", "宽字", "e\u0301", "🇸🇬", "👩‍👩‍👧", "\xe5", "\x9b", "\r\n", "\x1b", "\x1b[", "\x1b]8;;http://x\x07",
		"\x1b[1;99H", "\x1b[?69h\x1b[3;7s", "\x1b[2;4r", "\x1b[31;4;1m",
	}
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(texts))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, "n") }
		o := Options{Cols: draw(1, 20), Rows: draw(1, 8), HistoryLines: draw(0, 20)}
		whole, cut := New(o), New(o)
		for range draw(1, 4) {
			in := ""
			for _, p := range rapid.SliceOfN(piece, 1, 30).Draw(t, "pieces") {
				in += p
			}
			whole.Write([]byte(in))
			for len(in) > 0 {
				n := draw(1, len(in))
				cut.Write([]byte(in[:n]))
				in = in[n:]
			}
			checkInvariants(t, whole)
			if a, b := snap(whole), snap(cut); !reflect.DeepEqual(a, b) {
				t.Fatalf("whole %+v\ncut %+v", a, b)
			}
			cols, rows := draw(1, 20), draw(1, 8)
			whole.Resize(cols, rows)
			cut.Resize(cols, rows)
			checkInvariants(t, whole)
		}
	})
}
