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
		{"DECFI at the right margin keeps a pending wrap", "abcdefgh\x1b9x", []string{"bcdefgh", "x", ""}, 1, 1},
		{"DECFI at the right margin keeps it outside the others, too", "\x1b[2;3rabcdefgh\x1b9x", []string{"abcdefgh", "x", ""}, 1, 1},
		{"DECBI moves as backspace does in reverse wrap mode", "\x1b[?45habcdefgh\x1b6x", []string{"abcdefgx", "", ""}, 7, 0},
		{"DECBI at the left margin stays where it is outside the others, in reverse wrap mode, too", "\x1b[?45h\x1b[2;3r\x1b[1;1H\x1b6x", []string{"x", "", ""}, 1, 0},
		{"a character that ends a CSI goes with it", "\x1b[3宽1m\x1b[─x\x1b[?中y\x1b[3 ézA", []string{"1mxyzA", "", ""}, 6, 0},
		{"a character that ends an escape sequence goes with it", "\x1b中x\x1b(中y", []string{"xy", "", ""}, 2, 0},
		{"a character in the head of a DCS makes it unknown", "\x1bP─qx\x1b\\y", []string{"y", "", ""}, 1, 0},
		{"C1 in the head of a DCS is carried out", "\u0090\u0085x", []string{"", "x", ""}, 1, 1},
		{"U+009C ends a string that means nothing", "\u0090q\u009cx\x1b_中\u009cy", []string{"xy", "", ""}, 2, 0},
		{"C1 in a CSI is carried out", "\x1b[3\u0085x", []string{"", "x", ""}, 1, 1},
		{"1047 reset clears, and a pending wrap is off", "\x1b[?1047habcdefgh\x1b[?1047li", []string{"       i", "", ""}, 7, 0},
		{"CSI u restores whatever its parameters", "a\x1b[s\x1b[3;3H\x1b[3ub", []string{"ab", "", ""}, 2, 0},
		{"REP inserts as often as it says", "abc\x1b[H\x1b[4hx\x1b[2b", []string{"xxxabc", "", ""}, 3, 0},
		{"REP inserts in every line it comes to", "ab\x1b[2;1Hcd\x1b[1;7H\x1b[4hx\x1b[2b", []string{"ab    xx", "xcd", ""}, 1, 1},
		{"REP scrolls between left and right margins", "abc\r\ndef\r\nghi\x1b[?69h\x1b[2;3s\x1b[3;2Hx\x1b[6b", []string{"axx", "dxx", "gx"}, 2, 2},
		{"DEL is the last character of a set of 96, and else none", "\x7fa\x1b-A\x0eb\x7f\x0f\x7fc\x1b.A\x1bN\x7f\x7fd", []string{"aâÿcÿd", "", ""}, 6, 0},
		{"DECSCA ends SPA's protection", "\x1bVab\x1b[0\"qc\x1b[1K", []string{"", "", ""}, 3, 0},
		{"CSI 0 ^ is one line, CSI 0 T none", "x\x1b[0^y\x1b[0Tz", []string{" yz", "x", ""}, 3, 0},
		{"a single shift is for one character of any kind", "\x1bNé\x1b(0q\x1b(B\x1b*0\x1bN中q\x1bNqq", []string{"é─中q─q", "", ""}, 7, 0},
		{"CBT keeps a pending wrap", "abcdefgh\x1b[Zi", []string{"abcdefgh", "i", ""}, 1, 1},
		{"HT keeps a pending wrap", "abcdefgh\ti", []string{"abcdefgh", "i", ""}, 1, 1},
		{"HT keeps a pending wrap where it moves", "abcdefgh\x1b[999Z\ti", []string{"abcdefgh", "i", ""}, 1, 1},
		{"CHT keeps a pending wrap where it moves", "\x1b[1;4H\x1bH\x1b[Habcdefgh\x1b[2Z\x1b[Ii", []string{"abcdefgh", "i", ""}, 1, 1},
		{"DECSCL makes a soft reset", "ab\x1b[2;3r\x1b[?6h\x1b[4h\x1b[62\"p\x1b[1;1Hx", []string{"xb", "", ""}, 1, 0},
		{"a mark behind a moved cursor goes with the character to its left", "\x1b[3Ha\nq\x1b[B\u0301x\x1b[2;8H\x1b[2G\u0308z", []string{"", "a\u0308z", " q\u0301x"}, 2, 1},
		{"DECLRMM set again keeps its margins", "\x1b[?69h\x1b[3;5s\x1b[?69h\x1b[1;3Habcd", []string{"  abc", "  d", ""}, 3, 1},
	} {
		tm, _ := run(t, 8, 3, c.in)
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

// TestEraseOfTextKeepsItsStyle: DECSERA, unlike other erasing, changes no rendition (VT510 manual, DECSERA).
func TestEraseOfTextKeepsItsStyle(t *testing.T) {
	tm := New(Options{Cols: 8, Rows: 2})
	tm.Write([]byte("\x1b[7;42ma中\x1b[1\"qp\x1b[0\"q\x1b[m\x1b[1;1;1;8${"))
	require.Equal(t, "   p", rowText(tm, tm.Row(0)))
	for x := range 3 {
		require.Equal(t, Style{Bg: Indexed(2), Attrs: Inverse}, tm.Style(tm.Row(0).Cells()[x]))
	}
	require.Equal(t, Cell{}, tm.Row(0).Cells()[4])
	checkInvariants(t, tm)
}

func TestStyleReportIsInXtermsOrder(t *testing.T) {
	tm := New(Options{Cols: 8, Rows: 2})
	tm.Write([]byte("\x1b[1;2;3;4;5;7;9;31mx\x1bP$qm\x1b\\"))
	require.Equal(t, "\x1bP1$r0;1;4;5;7;2;3;9;31m\x1b\\", string(tm.TakeReplies()))
}

// TestSoftResetGivesTheCursorBack: DECSTR makes it visible and the user's own, as xterm does.
func TestSoftResetGivesTheCursorBack(t *testing.T) {
	_, s := run(t, 8, 2, "\x1b[6 q\x1b[?12h\x1b[?25l\x1b[!p")
	require.Equal(t, Cursor{Visible: true}, s.Cursor)
}

func TestResetKeepsTheTitle(t *testing.T) {
	tm := New(Options{Cols: 8, Rows: 2})
	tm.Write([]byte("\x1b]2;pushed\x07\x1b[22t\x1b]2;t\x07\x1bc"))
	require.Equal(t, "t", tm.Title())
	tm.Write([]byte("\x1b[23t"))
	require.Equal(t, "t", tm.Title(), "but none of those that were pushed")
}

// TestAlignmentTestResetsTheRendition: the attributes are off behind DECALN, the colours stay.
func TestAlignmentTestResetsTheRendition(t *testing.T) {
	tm := New(Options{Cols: 8, Rows: 2})
	tm.Write([]byte("\x1b[1;7;31m\x1b#8x"))
	require.Equal(t, Style{}, tm.Style(tm.Row(1).Cells()[0]))
	require.Equal(t, Style{Fg: Indexed(1)}, tm.Style(tm.Row(0).Cells()[0]))
}

// TestRepeatIsForWhatPrecedesIt: REP does nothing behind any control, sequence or string, whole or cut.
func TestRepeatIsForWhatPrecedesIt(t *testing.T) {
	for _, between := range []string{
		"\x00", "\x05", "\a", "\x0f", "\x18", "\x1a", "\x1b(B", "\x1b%G", "\x1b F", "\x1b%6", "\x1b=", "\x1bZ", "\x1b~", "\x1b\\", "\x1b", "\x1b-A", "\x1b]2;x\a", "\x1b]2;x\x1b\\",
		"\x1bP$qm\x1b\\", "\x1bPq~\x1b\\", "\x1b_x\x1b\\", "\x1b[m", "\x1b[?7h", "\x1b[0\"q", "\x1b[3\x18", "\x1b[3", "\x1b[1<2m", "\x1b[1!!!m", "\x1b[3é", "\x1bé", "\x1b(é",
		"\u009bm", "\u009d2;x\u009c", "\u0088", "\x1b[2b",
	} {
		want := "ax"
		if between == "\x1b[2b" {
			want = "aaax"
		}
		tm, _ := run(t, 12, 2, "a"+between+"\x1b[3bx")
		require.Equal(t, want, rowText(tm, tm.Row(0)), "%q", between)
	}
	for _, in := range []string{"a\x1b[3bx", "a\u009b3bx", "é\x1b[A\x1b[Ha\x1b[3bx", "\x1b[Aa\x7f\x1b[3bx"} {
		tm, _ := run(t, 12, 2, in)
		require.Equal(t, "aaaax", rowText(tm, tm.Row(0)), "%q", in)
	}
}

// TestPushedRenditions: XTPUSHSGR saves what SGR changes, or what its parameters name of that, and nothing else.
func TestPushedRenditions(t *testing.T) {
	single := Attrs(0).WithUnderline(UnderlineSingle)
	all := Style{Fg: Indexed(1), Bg: Indexed(2), Underline: Indexed(3), Attrs: Bold | Inverse | Overline | single}
	const on, off = "\x1b[1;4;7;53;31;42;58;5;3m", "\x1b[m"
	for in, want := range map[string]Style{
		on + "\x1b[#{" + off + "\x1b[#}":                         all,
		on + "\x1b[#p" + off + "\x1b[#q":                         all,
		off + "\x1b[#{" + on + "\x1b[#}":                         {},
		on + "\x1b[1;4;31#{" + off + "\x1b[#}":                   {Bg: Indexed(2), Attrs: Bold | single},
		off + "\x1b[21;7;30#{" + on + "\x1b[#}":                  {Bg: Indexed(2), Underline: Indexed(3), Attrs: Bold | Overline},
		on + "\x1b[99#{" + off + "\x1b[#}":                       {},
		"\x1b[1m\x1b[1#{\x1b[m\x1b[4#{\x1b[4m\x1b[#}\x1b[#}":     {Attrs: Bold},
		"\x1b[#{\x1b]8;;http://x\x07\x1b[31m\x1b[#}":             {Link: Link{URI: "http://x"}},
		"\x1b]8;;http://x\x07\x1b[31m\x1b[#{\x1b]8;;\x07\x1b[#}": {Fg: Indexed(1)},
		on + "\x1b[#{\x1bc\x1b[#}":                               {},
	} {
		tm, _ := run(t, 8, 2, in+"x")
		require.Equal(t, want, tm.Style(tm.Row(0).Cells()[0]), "%q", in)
	}
	_, s := run(t, 8, 2, "\x1b[#{\x1b[1\"q\x1b[#}\x1bP$q\"q\x1b\\")
	require.Equal(t, "\x1bP1$r1\"q\x1b\\", s.Replies, "DECSCA is no rendition")
}

// TestSoftResetKeepsTheExtent: DECSTR does not change what DECSACE selects, RIS does.
func TestSoftResetKeepsTheExtent(t *testing.T) {
	for reset, want := range map[string]string{"\x1b[!p": "\x1bP1$r2*x\x1b\\", "\x1bc": "\x1bP1$r1*x\x1b\\"} {
		_, s := run(t, 8, 2, "\x1b[2*x"+reset+"\x1bP$q*x\x1b\\")
		require.Equal(t, want, s.Replies)
	}
}

// TestReversalWithoutAttributesIsNone: DECRARA has no default for them.
func TestReversalWithoutAttributesIsNone(t *testing.T) {
	tm, _ := run(t, 8, 2, "\x1b[4ma\x1b[1;1;1;2$t")
	require.Equal(t, Attrs(0).WithUnderline(UnderlineSingle), tm.Style(tm.Row(0).Cells()[0]).Attrs)
	require.Equal(t, Style{}, tm.Style(tm.Row(0).Cells()[1]))
}

// TestAreaFromRightToLeftIsNone: also for DECCARA and DECRARA over a stream of characters.
func TestAreaFromRightToLeftIsNone(t *testing.T) {
	for _, in := range []string{"\x1b[1;5;3;2;7$r", "\x1b[1;5;3;2;7$t"} {
		tm := New(Options{Cols: 8, Rows: 3})
		tm.Write([]byte("abcdefgh" + in))
		for x := range 8 {
			require.Equal(t, Style{}, tm.Style(tm.Row(0).Cells()[x]), "%q", in)
		}
	}
}
