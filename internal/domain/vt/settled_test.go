package vt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSettledDifferences holds what comparing with xterm and xterm.js found: each case was answered differently by the
// engine once.
func TestSettledDifferences(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rows     []string
		col, row int
	}{
		{"REP of more than a screen ends in the column of its count", "q\x1b[997b", []string{"qqqqqqqq", "qqqqqqqq", "qqqqqq"}, 6, 2},
		{"DECALN ends origin mode", "\x1b[2;3r\x1b[?6h\x1b#8\x1b[2;2Hx", []string{"EEEEEEEE", "ExEEEEEE", "EEEEEEEE"}, 2, 1},
		{"CSI s saves whatever its parameters, without DECLRMM", "a\x1b[2;3s\x1b[3;3H\x1b[ub", []string{"ab", "", ""}, 2, 0},
		{"SL keeps a pending wrap", "abcdefgh\x1b[2 @i", []string{"cdefgh", "i", ""}, 1, 1},
		{"SR keeps a pending wrap", "abcdefgh\x1b[2 Ai", []string{"  abcdef", "i", ""}, 1, 1},
		{"DECLRMM set again keeps its margins", "\x1b[?69h\x1b[3;5s\x1b[?69h\x1b[1;3Habcd", []string{"  abc", "  d", ""}, 3, 1},
	} {
		tm := New(Options{Cols: 8, Rows: 3})
		tm.Write([]byte(c.in))
		require.Equal(t, c.rows, screenText(tm), c.name)
		require.Equal(t, [2]int{c.col, c.row}, [2]int{tm.Cursor().Col, tm.Cursor().Row}, c.name)
	}
}

// TestCutWideCharacterIsErased: both halves of a wide character that something cut have the background of an erase.
func TestCutWideCharacterIsErased(t *testing.T) {
	for _, what := range []string{"\x1b[K", "\x1b[@", "\x1b[P", "\x1b[X", "\x1b[1;3;1;3$z", "\x1b[65;1;3;1;3$x"} {
		tm := New(Options{Cols: 8, Rows: 2})
		tm.Write([]byte("a中b\x1b[41m\x1b[1;3H" + what))
		require.Equal(t, Indexed(1), tm.Row(0).Cells()[1].Background(), "%q", what)
		checkInvariants(t, tm)
	}
	for _, what := range []string{"x", "中"} {
		tm := New(Options{Cols: 8, Rows: 2})
		tm.Write([]byte("a中b\x1b[3;41m\x1b[1;3H" + what))
		require.Equal(t, Style{Bg: Indexed(1), Attrs: Italic}, tm.Style(tm.Row(0).Cells()[1]), "%q", what)
		checkInvariants(t, tm)
	}
}

// TestAlignmentTestResetsTheRendition: the attributes are off behind DECALN, the colours stay.
func TestAlignmentTestResetsTheRendition(t *testing.T) {
	tm := New(Options{Cols: 8, Rows: 2})
	tm.Write([]byte("\x1b[1;7;31m\x1b#8x"))
	require.Equal(t, Style{}, tm.Style(tm.Row(1).Cells()[0]))
	require.Equal(t, Style{Fg: Indexed(1)}, tm.Style(tm.Row(0).Cells()[0]))
}
