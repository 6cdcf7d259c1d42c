package vt

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// unicodeFile returns the lines of a file of Unicode's, without comments, or skips the test.
func unicodeFile(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("/usr/share/unicode", name))
	if os.IsNotExist(err) {
		t.Skipf("%s of package unicode-data is not installed", name)
	}
	require.NoError(t, err)
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		if line, _, _ := strings.Cut(s.Text(), "#"); strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	require.NoError(t, s.Err())
	return lines
}

// codePoints reads hexadecimal code points separated by spaces.
func codePoints(t *testing.T, s string) string {
	var b strings.Builder
	for f := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(f, 16, 32)
		require.NoError(t, err)
		b.WriteRune(rune(n))
	}
	return b.String()
}

// cellTexts returns the text of each cell that has any.
func cellTexts(tm *Terminal) []string {
	var out []string
	for y := range tm.nrows {
		for _, c := range tm.Row(y).Cells() {
			if text := string(tm.AppendCell(nil, c)); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// graphemeExceptions are tests of Unicode 15.0 that the pinned version answers differently.
var graphemeExceptions = map[string]string{
	"÷ 2701 × 200D × 2701 ÷": "U+2701 is not Extended_Pictographic any more (Unicode 17, emoji-data), so GB11 does not join the two",
}

// TestGraphemeBreaks: every cluster of Unicode's test is a cell. What is no text to a terminal is left out: controls, and
// what begins with a code point without width. A cell has a base; such a code point joins the cell before, or is dropped.
func TestGraphemeBreaks(t *testing.T) {
	tested := 0
	for _, line := range unicodeFile(t, "auxiliary/GraphemeBreakTest.txt") {
		var want []string
		for cluster := range strings.SplitSeq(line, "÷") {
			if text := codePoints(t, strings.ReplaceAll(cluster, "×", " ")); text != "" {
				want = append(want, text)
			}
		}
		if whole := strings.Join(want, ""); strings.ContainsFunc(whole, notText) || baseless(want) || graphemeExceptions[line] != "" {
			continue
		}
		tested++
		tm := New(Options{Cols: 40, Rows: 2})
		tm.Write([]byte(strings.Join(want, "")))
		checkInvariants(t, tm)
		if got := cellTexts(tm); strings.Join(got, "÷") != strings.Join(want, "÷") {
			t.Errorf("%s: want %q, got %q", line, want, got)
		}
	}
	require.Greater(t, tested, 150)
}

func notText(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// baseless reports whether a cluster begins with a code point without width.
func baseless(clusters []string) bool {
	for _, c := range clusters {
		if r, _ := utf8.DecodeRuneInString(c); RuneWidth(r) == 0 {
			return true
		}
	}
	return false
}

// TestEmojiAreOneCell: every emoji of Unicode's list is one cell of two columns.
func TestEmojiAreOneCell(t *testing.T) {
	tested := 0
	for _, line := range unicodeFile(t, "emoji/emoji-test.txt") {
		points, status, ok := strings.Cut(line, ";")
		require.True(t, ok, line)
		if strings.TrimSpace(status) != "fully-qualified" {
			continue
		}
		text := codePoints(t, points)
		tm := New(Options{Cols: 10, Rows: 1})
		tm.Write([]byte(text + "|"))
		require.Equal(t, []string{text, "|"}, cellTexts(tm), line)
		require.Equal(t, 3, tm.Cursor().Col, line)
		tested++
	}
	require.Greater(t, tested, 3000)
}
