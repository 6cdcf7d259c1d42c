package vt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// paragraphs returns the text of history and main screen, wrapped rows joined, trailing blanks and lines cut.
func paragraphs(tm *Terminal) string {
	var b strings.Builder
	var l Line
	for n := tm.FirstLine(); tm.ReadLine(n, &l); n++ {
		cells := l.Cells
		for _, c := range cells {
			if c.Rune() == 0 && !c.IsSpacer() {
				b.WriteByte(' ')
			}
			b.Write(tm.AppendCell(nil, c))
		}
		if !l.Wrapped {
			b.WriteByte('\n')
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestReflowKeepsText: whatever sizes a terminal goes through, the text it holds is the same, and the cursor stays
// behind the same character.
func TestReflowKeepsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tm := New(Options{Cols: rapid.IntRange(2, 30).Draw(t, "cols"), Rows: rapid.IntRange(2, 10).Draw(t, "rows"), HistoryLines: 10_000})
		var want strings.Builder
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			line := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"abc", "x", "宽", "e\u0301", "0123456789", " y"}), 0, 12).Draw(t, "line"), "")
			want.WriteString(line + "\n")
			tm.Write([]byte(line + "\r\n"))
		}
		tm.Write([]byte("end"))
		want.WriteString("end")
		text := strings.TrimRight(want.String(), "\n")
		if got := paragraphs(tm); got != text {
			t.Fatalf("before: want %q, got %q", text, got)
		}
		for range rapid.IntRange(1, 6).Draw(t, "resizes") {
			tm.Resize(rapid.IntRange(2, 40).Draw(t, "cols"), rapid.IntRange(1, 12).Draw(t, "rows"))
			if got := paragraphs(tm); got != text {
				t.Fatalf("at %dx%d: want %q, got %q", tm.cols, tm.nrows, text, got)
			}
		}
		tm.Resize(40, 12)
		tm.Write([]byte("!"))
		if got := paragraphs(tm); got != text+"!" {
			t.Fatalf("the cursor left its place: want %q, got %q", text+"!", got)
		}
		checkInvariants(t, tm)
	})
}

func TestResizeBack(t *testing.T) {
	tm := New(Options{Cols: 20, Rows: 5, HistoryLines: 100})
	tm.Write([]byte("one\r\ntwo two two two two\r\nthree\r\n\x1b[44mfour\x1b[K\x1b[m\r\n$ "))
	want := screenText(tm)
	cursor := tm.Cursor()
	for _, size := range [][2]int{{7, 5}, {20, 2}, {3, 9}, {20, 5}} {
		tm.Resize(size[0], size[1])
	}
	require.Equal(t, want, screenText(tm))
	require.Equal(t, cursor, tm.Cursor())
	require.Equal(t, Indexed(4), tm.Row(3).Cells()[19].Background(), "the filled rest of a line is filled again")
}

func TestResizeOfTheAlternateScreen(t *testing.T) {
	tm := New(Options{Cols: 20, Rows: 5, HistoryLines: 100})
	tm.Write([]byte("main 1\r\nmain 2 is long\x1b[?1049h\x1b[Halt 宽字 text\x1b[3;20H"))
	tm.Resize(6, 3)
	require.Equal(t, []string{"alt 宽", "", ""}, screenText(tm))
	require.Equal(t, 5, tm.Cursor().Col)
	tm.Resize(5, 3)
	require.Equal(t, "alt", rowText(tm, tm.Row(0)), "a wide character cut in two is gone")
	tm.Resize(20, 5)
	tm.Write([]byte("\x1b[?1049l!"))
	require.Equal(t, []string{"main 1", "main 2 is long!", "", "", ""}, screenText(tm))

	tm.Write([]byte("\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4\x1b7"))
	tm.Resize(20, 2)
	require.Equal(t, []string{"3", "4"}, screenText(tm), "the cursor's line stays")
	tm.Write([]byte("a\x1b8b"))
	require.Equal(t, []string{"3", "4b"}, screenText(tm))
}

func TestClearedScreenGrowsEmpty(t *testing.T) {
	tm := New(Options{Cols: 20, Rows: 4, HistoryLines: 100})
	tm.Write([]byte("1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[H\x1b[2J$ "))
	tm.Resize(20, 8)
	require.Equal(t, []string{"$", "", "", "", "", "", "", ""}, screenText(tm))
}
