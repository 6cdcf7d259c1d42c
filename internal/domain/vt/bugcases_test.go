package vt

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bugCase is an input and what must come of it; empty fields are not looked at. Rows and columns are 1-based.
type bugCase struct {
	name    string
	in      string
	rows    map[int]string
	cursor  [2]int // row, column
	replies string
}

var bugCases = []bugCase{
	{name: "BC-01 cut UTF-8", in: "\xe2\x94\x80X", rows: map[int]string{1: "─X"}, cursor: [2]int{1, 3}},
	{name: "BC-01 cut combining mark", in: "B\xcc\x81C\xe2\x94\x80", rows: map[int]string{1: "B\u0301C─"}, cursor: [2]int{1, 4}},
	{name: "BC-01 broken UTF-8", in: "\xe2\x94A\xf0\x9f\x98B\xc0\xafC", rows: map[int]string{1: "�A�B��C"}},
	{name: "BC-02 ST in two", in: "\x1b]2;hi\x1b\\AB", rows: map[int]string{1: "AB"}},
	{name: "BC-05 eszett", in: "\xc3\x9f", rows: map[int]string{1: "ß"}},
	{name: "BC-05 raw C1", in: "\x9b31mR", rows: map[int]string{1: "�31mR"}},
	{name: "BC-05 U+009B", in: "\xc2\x9b31mR", rows: map[int]string{1: "R"}},
	{name: "BC-07 parameter flood", in: "\x1b[" + strings.Repeat("38:", 500) + "mX\x1b[m", rows: map[int]string{1: "X"}},
	{name: "BC-08 combining flood", in: "A" + strings.Repeat("\u0300", 2000) + "B\x1b[6n", replies: "\x1b[1;3R"},
	{
		name: "BC-09 wide at the margin", in: "\x1b[2J\x1b[1;80H测\x1b[6n", rows: map[int]string{1: "", 2: "测"},
		replies: "\x1b[2;3R",
	},
	{name: "BC-09 without autowrap", in: "\x1b[?7l\x1b[2J\x1b[1;80H测\x1b[6n", rows: map[int]string{1: ""}, replies: "\x1b[1;80R"},
	{name: "BC-11 VS16", in: "⚠\ufe0f|\x1b[6n", replies: "\x1b[1;4R"},
	{name: "BC-11 VS16, legacy widths", in: "\x1b[?2027l⚠\ufe0f|\x1b[6n", replies: "\x1b[1;3R"},
	{name: "BC-11 flag", in: "一🇸🇬|\x1b[6n", rows: map[int]string{1: "一🇸🇬|"}, replies: "\x1b[1;6R"},
	{name: "BC-12 saved wrap", in: "O\x1b7\x1b[24;80HA\x1b8K", rows: map[int]string{1: "OK", 24: strings.Repeat(" ", 79) + "A"}},
	{name: "BC-13 EL", in: "\x1b[1;80HX\x1b[KY", rows: map[int]string{1: strings.Repeat(" ", 79) + "Y", 2: ""}},
	{name: "BC-13 SGR", in: "\x1b[1;80HX\x1b[mY", rows: map[int]string{2: "Y"}, cursor: [2]int{2, 2}},
	{name: "BC-13 CPR", in: "\x1b[1;80HX\x1b[6n", replies: "\x1b[1;80R"},
	{name: "BC-13 CR LF", in: "\x1b[1;80HX\r\nY", rows: map[int]string{2: "Y"}, cursor: [2]int{2, 2}},
	{name: "BC-14 1047", in: "\x1b[5;5H\x1b[?1047h\x1b[1;1Hx\x1b[?1047l\x1b[6n", rows: map[int]string{1: ""}, replies: "\x1b[1;2R"},
	{name: "BC-14 1049 twice", in: "A\x1b[?1049h\x1b[?1049hB\x1b[?1049lC\x1b[6n", rows: map[int]string{1: "AC"}, replies: "\x1b[1;3R"},
	{name: "BC-16 LF below the region", in: "\x1b[2J\x1b[5;10r\x1b[24;1Hlast\r\n\r\n\r\nX", rows: map[int]string{24: "Xast"}},
	{
		name: "BC-19 origin", in: "\x1b[2J\x1b[5;10r\x1b[?6h\x1b[1;1HX\x1b[6n\x1b[?6l\x1b[1;1HY",
		rows: map[int]string{1: "Y", 5: "X"}, replies: "\x1b[1;2R",
	},
	{name: "BC-20 REP", in: "A\x1b[5b|", rows: map[int]string{1: "AAAAAA|"}},
	{name: "BC-21 edits", in: "\x1b[2J\x1b[HABCDEF\x1b[1;3H\x1b[2@\x1b[2P\x1b[44m\x1b[3X\x1b[6n", rows: map[int]string{1: "AB   F"}, replies: "\x1b[1;3R"},
	{name: "BC-21 wide, alternate", in: "🕙 helloworld \r\n\x1b[?1049hX\x1b[?1049l", rows: map[int]string{1: "🕙 helloworld"}},
	{name: "BC-23 CR in CSI", in: "abc\x1b[3\r1mX", rows: map[int]string{1: "Xbc"}},
	{name: "BC-23 CAN and SUB", in: "A\x1b[31\x18B\x1b]0;x\x1aC", rows: map[int]string{1: "ABC"}},
	{name: "BC-23 string without end", in: "\x1b]0;never-ended\x1b[31mred\x1b[m", rows: map[int]string{1: "red"}},
	{name: "BC-25 passthrough", in: "a\x1bPtmux;\x1b\x1b]9;hello\x07\x1b\\b", rows: map[int]string{1: "ab"}},
	{
		name: "BC-26 queries", in: "\x1b[c\x1b[>c\x1b[>q\x1b[5n\x1b[6n\x1b]11;?\x07",
		replies: replyDA1 + replyDA2 + replyVersion + "\x1b[0n\x1b[1;1R\x1b]11;rgb:0000/0000/0000\x07",
	},
	{name: "BC-27 DECRQM", in: "\x1b[?2026$p\x1b[?2004$p\x1b[?9999$p", replies: "\x1b[?2026;2$y\x1b[?2004;2$y\x1b[?9999;0$y"},
	{
		name: "BC-27 nested", in: "\x1b[?2026h\x1b[?2026hNESTED\x1b[?2026l\x1b[?2026l\r\nAFTER",
		rows: map[int]string{1: "NESTED", 2: "AFTER"},
	},
	{name: "BC-29 kitty stack", in: "\x1b[>1u\x1b[?u\x1b[>u\x1b[?u\x1b[<u\x1b[?u", replies: "\x1b[?1u\x1b[?0u\x1b[?1u"},
}

func TestBugCases(t *testing.T) {
	for _, c := range bugCases {
		t.Run(c.name, func(t *testing.T) {
			tm, s := screen80(t, c.in)
			for y, want := range c.rows {
				require.Equal(t, want, rowText(tm, tm.Row(y-1)), "row %d", y)
			}
			if c.cursor != [2]int{} {
				require.Equal(t, c.cursor, [2]int{s.Cursor.Row + 1, s.Cursor.Col + 1}, "cursor")
			}
			if c.replies != "" {
				require.Equal(t, c.replies, s.Replies)
			}
		})
	}
}

func TestBC02Title(t *testing.T) {
	_, s := screen80(t, "\x1b]2;hi\x1b\\AB")
	require.Equal(t, "hi", s.Title)
}

func TestBC03BellEndsOSC(t *testing.T) {
	tm, s := screen80(t, "\x1b]0;t\x07\x1b[1mB\x1b[m\x1b]11;?\x07\x1b[c")
	require.Equal(t, "t", s.Title)
	require.Equal(t, Bold, tm.Row(0).Cells()[0].Attrs())
	require.Equal(t, "\x1b]11;rgb:0000/0000/0000\x07"+replyDA1, s.Replies)
}

func TestBC05C1IsCSI(t *testing.T) {
	tm, _ := screen80(t, "\xc2\x9b31mR")
	require.Equal(t, Indexed(1), tm.Row(0).Cells()[0].Foreground())
}

func TestBC06Colons(t *testing.T) {
	tm, _ := screen80(t, "\x1b[4:1mA\x1b[m\x1b[4;1mB\x1b[m\x1b[4:3;58:2::255:0:0mC\x1b[m\x1b[38:2::10:20:30mD\x1b[m"+
		"\x1b[38:2:10:20:30mE\x1b[m\x1b[58;5;4mF\x1b[m")
	style := func(x int) Style { return tm.Style(tm.Row(0).Cells()[x]) }
	single := Attrs(0).WithUnderline(UnderlineSingle)
	require.Equal(t, Style{Attrs: single}, style(0))
	require.Equal(t, Style{Attrs: single | Bold}, style(1))
	require.Equal(t, Style{Attrs: Attrs(0).WithUnderline(UnderlineCurly), Underline: RGB(255, 0, 0)}, style(2))
	require.Equal(t, Style{Fg: RGB(10, 20, 30)}, style(3))
	require.Equal(t, Style{Fg: RGB(10, 20, 30)}, style(4))
	require.Equal(t, Style{Underline: Indexed(4)}, style(5))
}

func TestBC08CellTextIsBounded(t *testing.T) {
	tm, s := screen80(t, "A"+strings.Repeat("\u0300", 2000)+"B\x1b[6n")
	require.LessOrEqual(t, len(tm.AppendCell(nil, tm.Row(0).Cells()[0])), maxClusterBytes)
	require.Equal(t, "\x1b[1;3R", s.Replies)
}

func TestBC09FillerIsNoText(t *testing.T) {
	o := Options{Cols: 80, Rows: 24}
	tm, _ := script{"\x1b[1;80H测"}.check(t, o)
	require.True(t, tm.Row(0).Wrapped())
	tm, _ = script{"\x1b[1;80H测", size{82, 24}}.check(t, o)
	require.Equal(t, strings.Repeat(" ", 79)+"测", rowText(tm, tm.Row(0)))
}

// TestBC11WidthsAgree: the cursor report, the cells and the columns of the history say the same.
func TestBC11WidthsAgree(t *testing.T) {
	for _, c := range []struct {
		in     string
		column int
	}{
		{"⚠\ufe0f|", 4},
		{"\x1b[?2027l⚠\ufe0f|", 3},
		{"一🇸🇬|", 6},
		{"\x1b[?2027l一🇸🇬|", 6},
		{"👩‍👩‍👧|", 4},
	} {
		tm, s := screen80(t, c.in+"\x1b[6n")
		require.Equal(t, fmt.Sprintf("\x1b[1;%dR", c.column), s.Replies, "%q", c.in)
		require.Equal(t, "|", string(tm.AppendCell(nil, tm.Row(0).Cells()[c.column-2])), "%q", c.in)
		row := describe(tm, tm.Row(0).Cells(), false)
		tm, _ = screen80(t, c.in+strings.Repeat("\r\n", 24))
		var l Line
		require.True(t, tm.ReadLine(0, &l))
		require.Equal(t, row, describe(tm, l.Cells, false), "%q", c.in)
	}
}

func TestBC14BackToTheMainScreen(t *testing.T) {
	tm, s := screen80(t, "A\x1b[?1049h\x1b[?1049hB\x1b[?1049lC")
	require.False(t, s.Modes.Alternate, "one reset is enough")
	require.Equal(t, "AC", rowText(tm, tm.Row(0)))
	tm, _ = screen80(t, "\x1b[3;3H\x1b[31m\x1b[?1048h\x1b[m\x1b[H\x1b[?1048lx")
	require.Equal(t, Indexed(1), tm.Row(2).Cells()[2].Foreground(), "1048 is DECSC and DECRC")
	tm, _ = screen80(t, "main\x1b[?47h\x1b[Halt\x1b[?47l\x1b[?47h")
	require.Equal(t, "alt", rowText(tm, tm.Row(0)), "47 clears nothing")
	tm, _ = screen80(t, "main\x1b[?1047h\x1b[Halt\x1b[?1047l\x1b[?47h")
	require.Empty(t, rowText(tm, tm.Row(0)), "1047 clears the alternate screen when it leaves")
}

func TestBC17RegionAndHistory(t *testing.T) {
	lines := "L0\r\nL1\r\nL2\r\nL3\r\nL4\r\nL5"
	tm, s := run(t, 10, 6, lines+"\x1b[1;3r\x1b[3;1H\n")
	require.Equal(t, []string{"L1", "L2", "", "L3", "L4", "L5"}, screenText(tm))
	require.Equal(t, uint64(1), s.Top-s.First, "what leaves the top row goes to the history")
	var l Line
	require.True(t, tm.ReadLine(0, &l))
	require.Equal(t, "L0", rowText(tm, &Row{cells: l.Cells}))

	tm, s = run(t, 10, 6, lines+"\x1b[2;3r\x1b[3;1H\n")
	require.Equal(t, []string{"L0", "L2", "", "L3", "L4", "L5"}, screenText(tm))
	require.Equal(t, s.First, s.Top, "what leaves another row does not")
}

// TestBC20HugeCountsAreCheap: what a count of any size may cost is in TestNoSequenceCostsMoreThanScreens.
func TestBC20HugeCountsAreCheap(t *testing.T) {
	o := Options{Cols: 80, Rows: 24}
	for _, final := range "bABCDEFGIZad`e@PXLMST" {
		in := fmt.Sprintf("#\x1b[999999999%c", final)
		tm, _ := script{in}.check(t, o)
		require.LessOrEqual(t, tm.work, mostWork(o, len(in)), "%q", in)
	}
	tm, _ := screen80(t, "#\x1b[999999999b")
	require.Equal(t, strings.Repeat("#", 80), rowText(tm, tm.Row(0)))
}

func TestBC21ErasedBackground(t *testing.T) {
	tm, _ := screen80(t, "\x1b[2J\x1b[HABCDEF\x1b[1;3H\x1b[2@\x1b[2P\x1b[44m\x1b[3X")
	for x := 2; x < 5; x++ {
		require.Equal(t, Style{Bg: Indexed(4)}, tm.Style(tm.Row(0).Cells()[x]))
	}
}

func TestBC23RedAfterCR(t *testing.T) {
	tm, _ := screen80(t, "abc\x1b[3\r1mX")
	require.Equal(t, Indexed(1), tm.Row(0).Cells()[0].Foreground())
	tm, s := screen80(t, "\x1b]0;never-ended\x1b[31mred\x1b[m")
	require.Equal(t, Indexed(1), tm.Row(0).Cells()[0].Foreground())
	require.Empty(t, s.Title, "a string that ESC cut is dropped")
	_, s = screen80(t, "A\x1b[31\x18B\x1b]0;x\x1aC")
	require.Empty(t, s.Title)
}

// TestBC23StringWithoutEnd: what a string without an end takes is bounded.
func TestBC23StringWithoutEnd(t *testing.T) {
	for _, begin := range []string{"\x1b]0;", "\x1b]52;c;", "\x1bP$q", "\x1bPq", "\x1b_", "\x1b^", "\x1bX"} {
		tm := New(Options{Cols: 80, Rows: 24})
		tm.Write([]byte(begin))
		block := []byte(strings.Repeat("x", 1<<20))
		for range 12 {
			tm.Write(block)
			require.LessOrEqual(t, cap(tm.par.str), 2*clipboardString, "%q", begin)
		}
		require.Zero(t, cap(tm.par.str), "%q: over the limit nothing is kept", begin)
		tm.Write([]byte("\x1b[31mred"))
		require.Equal(t, "red", rowText(tm, tm.Row(0)))
	}
}

func TestBC24LongStrings(t *testing.T) {
	copyOf := func(n int) string {
		return "\x1b]52;c;" + base64.StdEncoding.EncodeToString(make([]byte, n)) + "\x07OK"
	}
	tm, s := screen80(t, copyOf(100_000))
	require.Equal(t, []Event{{Kind: EventClipboard, Text: "c", Data: make([]byte, 100_000)}}, s.Events)
	require.Equal(t, "OK", rowText(tm, tm.Row(0)))

	_, s = screen80(t, "\x1b]2;"+strings.Repeat("x", maxString)+"\x1b\\OK")
	require.Equal(t, []Event{{Kind: EventStringDropped, Count: 1}}, s.Events, "over the limit nothing is handed over")
	require.Empty(t, s.Title)

	for _, feed := range []func(*Terminal, string){feedWhole, func(tm *Terminal, in string) { // 8 MiB: not byte by byte
		feedSplit(tm, in, rand.New(rand.NewPCG(5, 6)), 50)
	}} {
		tm := New(Options{Cols: 80, Rows: 24})
		feed(tm, copyOf(maxClipboard))
		require.Len(t, tm.TakeEvents()[0].Data, maxClipboard, "the limit itself fits")
		feed(tm, copyOf(maxClipboard+100))
		require.Equal(t, []Event{{Kind: EventStringDropped, Count: 1}}, tm.TakeEvents())
		require.Equal(t, "OKOK", rowText(tm, tm.Row(0)))
		require.LessOrEqual(t, cap(tm.par.str), keptString, "the buffer is given back")
	}
}

func TestBC25WrappedNotification(t *testing.T) {
	_, s := screen80(t, "a\x1bPtmux;\x1b\x1b]9;hello\x07\x1b\\b")
	require.Equal(t, []Event{{Kind: EventNotification, Text: "hello"}}, s.Events)
}

func TestBC26QueriesInOrder(t *testing.T) {
	_, s := screen80(t, "\x1b[5n\x1b]4;1;?\x07\x1bP$qm\x1b\\\x1b[?u\x1b[?2026$p\x1bP+q544e\x1b\\\x1b[6n\x1b[18t\x1b[c")
	require.Equal(t, "\x1b[0n\x1b]4;1;rgb:cdcd/0000/0000\x07\x1bP1$r0m\x1b\\\x1b[?0u\x1b[?2026;2$y"+
		"\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\\x1b[1;1R\x1b[8;24;80t"+replyDA1, s.Replies)
}

func TestBC27SyncEnds(t *testing.T) {
	o := Options{Cols: 80, Rows: 24}
	_, s := script{"\x1b[?2026hstuck"}.check(t, o)
	require.True(t, s.Modes.Sync)
	_, s = script{"\x1b[?2026hstuck", (*Terminal).EndSync}.check(t, o)
	require.False(t, s.Modes.Sync)
	_, s = script{"\x1b[?2026h", size{80, 24}}.check(t, o)
	require.False(t, s.Modes.Sync, "a resize ends it, also to the same size")

	tm := New(o)
	tm.Write([]byte("\x1b[?2026hstuck"))
	v := tm.Version()
	tm.EndSync()
	require.Greater(t, tm.Version(), v, "what was held is shown")
}

func TestBC29StacksAreBoundedAndPerScreen(t *testing.T) {
	_, s := screen80(t, strings.Repeat("\x1b[>1u", 1000)+"\x1b[?1049h")
	require.Zero(t, s.Modes.KittyFlags)
	_, s = screen80(t, strings.Repeat("\x1b[>1u", 1000)+"\x1b[?1049h\x1b[>4u\x1b[?1049l")
	require.Equal(t, uint8(1), s.Modes.KittyFlags)
	_, s = screen80(t, strings.Repeat("\x1b[>1u", 1000)+"\x1b[<17u")
	require.Zero(t, s.Modes.KittyFlags)
	_, s = screen80(t, "\x1b[>1u\x1b[=4;2u\x1b[?u\x1b[=1;3u\x1b[?u\x1b[=9u\x1b[?u\x1bc\x1b[?u")
	require.Equal(t, "\x1b[?5u\x1b[?4u\x1b[?9u\x1b[?0u", s.Replies)
}

func TestBC30LinkFlood(t *testing.T) {
	flood := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\x1b]8;;http://example.com/%d\x1b\\x\x1b]8;;\x1b\\", i)
		}
		return b.String()
	}
	last := func(tm *Terminal) Link {
		x, _ := tm.before()
		return tm.Link(tm.Row(tm.cy).Cells()[x])
	}
	tm, _ := script{flood(5000)}.check(t, Options{Cols: 80, Rows: 24, HistoryLines: 10})
	require.Equal(t, "http://example.com/4999", last(tm).URI)

	tm = New(Options{Cols: 80, Rows: 24, HistoryLines: 1000})
	feedWhole(tm, flood(50_000))
	require.LessOrEqual(t, len(tm.tables.links), maxLinks+1)
	require.Equal(t, "http://example.com/49999", last(tm).URI)
	var l Line
	require.True(t, tm.ReadLine(tm.ScreenTop()-1, &l))
	require.NotEmpty(t, tm.Link(l.Cells[0]).URI, "links stay in the history")
}

func TestBC30WrappedLinkStaysOne(t *testing.T) {
	in := "\x1b]8;id=7;http://x\x07" + strings.Repeat("w", 100) + "\x1b]8;;\x07."
	for _, s := range []script{{in}, {in, size{60, 24}}, {in, size{60, 24}, size{200, 24}}, {in, size{7, 2}, size{80, 24}}} {
		tm, _ := s.check(t, Options{Cols: 80, Rows: 24, HistoryLines: 50})
		n := 0
		for y := range tm.nrows {
			for _, c := range tm.Row(y).Cells() {
				if string(tm.AppendCell(nil, c)) == "w" {
					require.Equal(t, Link{URI: "http://x", ID: "7"}, tm.Link(c))
					n++
				}
			}
		}
		require.Equal(t, 100, n)
	}
}

func TestBC32Reflow(t *testing.T) {
	digits := fmt.Sprintf("%0120d", 7)
	o := Options{Cols: 80, Rows: 24, HistoryLines: 100}
	tm, s := script{digits + "\r\nend", size{40, 24}}.check(t, o)
	require.Equal(t, []string{digits[:40], digits[40:80], digits[80:], "end"}, screenText(tm)[:4])
	require.Equal(t, Cursor{Col: 3, Row: 3, Visible: true}, s.Cursor)
	steps := script{digits + "\r\nend", size{40, 24}, size{160, 24}}
	tm, _ = steps.check(t, o)
	require.Equal(t, []string{digits, "end", ""}, screenText(tm)[:3])
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		steps = append(steps, size{1 + rnd.IntN(200), 1 + rnd.IntN(50)})
	}
	tm, _ = append(steps, size{160, 24}).check(t, o)
	require.Equal(t, []string{digits, "end", ""}, screenText(tm)[:3])
}

func TestBC61NothingOfTheProgramComesBack(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]2;;touch /tmp/x;\r\x07\x1b[21t\x1b[20t":            "",
		"\x1bP$qzz;echo pwned\r\x1b\\":                           "\x1bP0$r\x1b\\",
		"\x1bP+q" + "7a7a3b6563686f" + "\x1b\\":                  "\x1bP0+r\x1b\\",
		"\x1b]52;c;?\x07":                                        "",
		"\x1b]99;i=$(id);x\x1b\\":                                "",
		"\x1b]4;1;?;echo;?\x07":                                  "\x1b]4;1;rgb:cdcd/0000/0000\x07",
		"\x1b[?99999999999$p":                                    "\x1b[?65535;0$y",
		"%begin 1 1 1\r\n{\"event\":\"x\"}\r\n\x1b]10;red\x1b\\": "",
	} {
		_, s := screen80(t, in)
		require.Equal(t, want, s.Replies, "%q", in)
	}
}

func TestBC62aModesAreReported(t *testing.T) {
	tm, _ := screen80(t, "\x1b[?2004h\x1b[?1h\x1b=\x1b[?1002h\x1b[?1006h\x1b[?1004h\x1b[5 q")
	m := tm.Modes()
	require.Equal(t, Modes{
		AppCursor: true, AppKeypad: true, AltScroll: true, FocusEvents: true, BracketedPaste: true, Graphemes: true,
		Autowrap: true, Mouse: MouseButton, MouseEncoding: MouseSGR,
	}, m)
	require.Equal(t, CursorBar, tm.Cursor().Style)
	require.True(t, tm.Cursor().Blink)
	require.Contains(t, m.Names(), "mouse-button")
}

// TestBC32PromptIsTheShells: what a shell edits is not wrapped at a resize, as the shell draws it again where it was.
func TestBC32PromptIsTheShells(t *testing.T) {
	o := Options{Cols: 20, Rows: 6, HistoryLines: 50}
	output := "\x1b]133;C\x07" + strings.Repeat("o", 30) + "\r\n\x1b]133;D;0\x07"
	prompt := "\x1b]133;A\x07$ \x1b]133;B\x07" + strings.Repeat("c", 12)

	tm, s := script{output + prompt, size{10, 6}}.check(t, o)
	require.Equal(t, []string{"oooooooooo", "oooooooooo", "oooooooooo", "$ cccccccc", "", ""}, screenText(tm))
	require.Equal(t, Cursor{Col: 9, Row: 3, Visible: true}, s.Cursor, "the shell's row is the one it knows")

	tm, s = script{output + prompt + strings.Repeat("c", 10), size{40, 6}}.check(t, o)
	require.Equal(t, []string{strings.Repeat("o", 30), "$ " + strings.Repeat("c", 18), "cccc", "", "", ""}, screenText(tm))
	require.Equal(t, Cursor{Col: 4, Row: 2, Visible: true}, s.Cursor)

	redraw := "\r\x1b[K$ " + strings.Repeat("c", 12)
	tm, _ = script{output + prompt, size{10, 6}, redraw, size{20, 6}, "\x1b[A" + redraw + "\x1b[J"}.check(t, o)
	require.Equal(t, []string{strings.Repeat("o", 20), strings.Repeat("o", 10), "$ " + strings.Repeat("c", 12), "", "", ""}, screenText(tm))

	tm, _ = script{output + strings.Repeat("\r\n", 3) + prompt, size{20, 3}, size{10, 3}}.check(t, o)
	require.Equal(t, []string{"", "", "$ cccccccc"}, screenText(tm), "wherever the lines went")

	tm, _ = script{prompt + "\r\n" + strings.Repeat("o", 30), size{10, 6}}.check(t, o)
	require.Equal(t, "$ cccccccc|cccc|oooooooooo|oooooooooo|oooooooooo|", strings.Join(screenText(tm), "|"), "without marks of output all is wrapped")
	tm, _ = script{output + prompt + "\r\n\x1b]133;C\x07", size{10, 6}}.check(t, o)
	require.Equal(t, "$ cccccccc|cccc|", strings.Join(screenText(tm)[3:], "|"), "a command that runs is no prompt")
}
