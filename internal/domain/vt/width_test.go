package vt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuneWidth(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, 0xa0: 1, 0xad: 1, 'é': 1, 0x301: 0, 0x200b: 0, 0x200d: 0, 0xfe0f: 0, 0x1160: 0, 0x1100: 2, '가': 2, '宽': 2, '─': 1,
		'→': 1, '⚠': 1, '⌚': 2, '😀': 2, 0x1f1e9: 1, 0xe0b0: 1, 0xff21: 2, 0xff71: 1, 0x1faea: 2, 0x3fffd: 2, 0x10fffd: 1, -1: 1, 0x110000: 1,
	} {
		require.Equal(t, want, RuneWidth(r), "%U", r)
	}
}

// TestClusterWidths prints clusters one code point at a time and looks where the cursor is, with and without grapheme
// mode.
func TestClusterWidths(t *testing.T) {
	for _, c := range []struct {
		text           string
		grapheme, wcwd int
	}{
		{"e\u0301", 1, 1},
		{"👩‍👩‍👧‍👦", 2, 8},
		{"👩🏽‍🚀", 2, 6},
		{"👍🏽", 2, 4},
		{"☝🏽", 2, 3},
		{"🇩🇪", 2, 2},
		{"🇩🇪🇫🇷🇩", 5, 5},
		{"⚠\ufe0f", 2, 1},
		{"1\ufe0f\u20e3", 2, 1},
		{"a\ufe0f", 1, 1},
		{"❤\ufe0f\u200d🔥", 2, 3},
		{"가", 2, 2},
		{"각", 2, 2},
		{"क्ष", 1, 2},
		{"กำ", 1, 2},
		{"🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2, 2},
	} {
		for mode, want := range map[string]int{"\x1b[?2027h": c.grapheme, "\x1b[?2027l": c.wcwd} {
			tm := New(Options{Cols: 40, Rows: 2})
			tm.Write([]byte(mode + c.text))
			require.Equal(t, want, tm.Cursor().Col, "%q in %q", c.text, mode)
			tm.Write([]byte("\x1b[4;1H" + c.text + "|"))
			require.Equal(t, c.text+"|", rowText(tm, tm.Row(1)), "no code point is lost")
		}
	}
}

func TestClustersAtTheMargin(t *testing.T) {
	for _, text := range []string{"⚠\ufe0f", "🇩🇪", "☝🏽", "👩‍👩‍👧"} {
		tm := New(Options{Cols: 5, Rows: 2})
		tm.Write([]byte("\x1b[1;5H" + text + "|"))
		require.Equal(t, []string{"", text + "|"}, screenText(tm), "%q", text)
		require.True(t, tm.Row(0).Wrapped())
		checkInvariants(t, tm)
	}
}
