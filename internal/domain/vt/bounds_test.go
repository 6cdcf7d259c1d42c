package vt

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestCellIsSmall(t *testing.T) {
	require.EqualValues(t, 16, unsafe.Sizeof(Cell{}))
}

func TestSizesAreClamped(t *testing.T) {
	tm := New(Options{Cols: 0, Rows: -5})
	cols, rows := tm.Size()
	require.Equal(t, [2]int{1, 1}, [2]int{cols, rows})
	tm.Resize(MaxCols+1, MaxRows+1)
	cols, rows = tm.Size()
	require.Equal(t, [2]int{MaxCols, MaxRows}, [2]int{cols, rows})
	require.Len(t, tm.Row(MaxRows-1).Cells(), MaxCols)
}

func TestRepliesAreBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	for range maxReplyBytes {
		tm.Write([]byte("\x1b[5n"))
	}
	r := string(tm.TakeReplies())
	require.LessOrEqual(t, len(r), maxReplyBytes)
	require.Equal(t, strings.Repeat("\x1b[0n", len(r)/4), r, "answers are dropped whole")
	tm.Write([]byte("\x1b[5n"))
	require.Equal(t, "\x1b[0n", string(tm.TakeReplies()))
}

func TestEventsAreBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	for i := range maxEvents + 7 {
		tm.Write(fmt.Appendf(nil, "\x1b]9;note %d\x07", i))
	}
	events := tm.TakeEvents()
	require.Len(t, events, maxEvents+1)
	require.Equal(t, Event{Kind: EventDropped, Count: 7}, events[0])
	require.Equal(t, fmt.Sprintf("note %d", maxEvents+6), events[maxEvents].Text)
	require.Nil(t, tm.TakeEvents())
}

func TestEventsOfOneKindAreMerged(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	tm.Write([]byte("\a\a\x1b]2;a\x07\x1b]7;file:///a\x07\x1b]2;b\x07\x1b]9;4;1;30\x07\x1b]9;4;1;40\x07\x1b]52;c;YQ==\x07\x1b]52;p;Yg==\x07\x1b]52;c;Yw==\x07\a"))
	require.Equal(t, []Event{
		{Kind: EventBell, Count: 3},
		{Kind: EventCwd, Text: "file:///a"},
		{Kind: EventTitle, Text: "b"},
		{Kind: EventProgress, Progress: Progress{State: ProgressNormal, Percent: 40}},
		{Kind: EventClipboard, Text: "p", Data: []byte("b")},
		{Kind: EventClipboard, Text: "c", Data: []byte("c")},
	}, tm.TakeEvents())
}

func TestTitlesAreCleanAndBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	tm.Write([]byte("\x1b]2;a\x01b\xff\u202ec\x7fd" + strings.Repeat("é", maxTitleBytes) + "\x07"))
	require.True(t, strings.HasPrefix(tm.Title(), "ab�cdé"))
	require.LessOrEqual(t, len(tm.Title()), maxTitleBytes)
	for range maxTitles + 5 {
		tm.Write([]byte("\x1b[22;0t"))
	}
	require.Len(t, tm.titles, maxTitles)
}

func TestClusterTableIsSwept(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 100})
	gen := tm.Generation()
	marks := []rune{0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308}
	n := 0
	for i := range maxClusters {
		tm.Write([]byte(string([]rune{rune('a' + i%26), marks[i%8], marks[i/8%8], marks[i/64%8], marks[i/512%8], marks[i/4096%8]})))
		n++
	}
	require.Greater(t, tm.Generation(), gen)
	require.LessOrEqual(t, len(tm.tables.clusters), maxClusters)
	checkInvariants(t, tm)
	x, _ := tm.before()
	i := n - 1
	want := string([]rune{rune('a' + i%26), marks[i%8], marks[i/8%8], marks[i/64%8], marks[i/512%8], marks[i/4096%8]})
	require.Equal(t, want, string(tm.AppendCell(nil, tm.Row(tm.cy).Cells()[x])), "what is shown survives a sweep")
}

func TestFullSideTableRefuses(t *testing.T) {
	tm := New(Options{Cols: MaxCols, Rows: 50})
	for i := range 3 * maxSides {
		tm.Write(fmt.Appendf(nil, "\x1b[58;2;%d;%d;%dmx", i>>16&255, i>>8&255, i&255))
	}
	require.LessOrEqual(t, len(tm.tables.sides), maxSides+1)
	require.Equal(t, RGB(0, 0, 1), tm.UnderlineColor(tm.Row(0).Cells()[1]))
}

func TestHistoryLimits(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 2, HistoryLines: 10})
	for i := range 100 {
		tm.Write(fmt.Appendf(nil, "line %d\r\n", i))
	}
	require.EqualValues(t, 99, tm.ScreenTop())
	require.EqualValues(t, 89, tm.FirstLine())
	var l Line
	require.False(t, tm.ReadLine(88, &l))
	require.True(t, tm.ReadLine(89, &l))
	require.Equal(t, "line 89", rowText(tm, &Row{cells: l.Cells}))
	require.True(t, tm.ReadLine(99, &l))
	require.Equal(t, "line 99", rowText(tm, &Row{cells: l.Cells}))
	require.False(t, tm.ReadLine(101, &l))
	tm.Write([]byte("\x1b[3J"))
	require.EqualValues(t, 99, tm.FirstLine())
	require.Zero(t, tm.HistoryBytesUsed())

	none := New(Options{Cols: 80, Rows: 2})
	none.Write([]byte("a\r\nb\r\nc"))
	require.EqualValues(t, 1, none.FirstLine())
	require.EqualValues(t, 1, none.ScreenTop())
}

func TestHistoryBytesAreBounded(t *testing.T) {
	tm := New(Options{Cols: 200, Rows: 2, HistoryLines: 1 << 30, HistoryBytes: 3 * chunkBytes})
	for i := range 20_000 {
		tm.Write(fmt.Appendf(nil, "line %d %0150d\r\n", i, i))
		require.LessOrEqual(t, tm.HistoryBytesUsed(), 4*chunkBytes)
	}
	var l Line
	for n := tm.FirstLine(); n < tm.ScreenTop(); n++ {
		require.True(t, tm.ReadLine(n, &l))
		require.Equal(t, fmt.Sprintf("line %d %0150d", n, n), rowText(tm, &Row{cells: l.Cells}))
	}
}

func TestHistoryMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		line string
		max  int
	}{
		{"text", strings.Repeat("the quick brown fox jumps over a lazy dog; ", 2)[:79], 1 << 20},
		{"colour log", strings.Repeat("\x1b[33mword12 \x1b[0m", 11), 2_500_000},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 10_000})
		for range 20_000 {
			tm.Write([]byte(c.line + "\r\n"))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := int(after.HeapAlloc) - int(before.HeapAlloc)
		t.Logf("%s: %d kB", c.name, used>>10)
		require.LessOrEqual(t, used, c.max+300_000, c.name)
		runtime.KeepAlive(tm)
	}
}

// TestLongLineFits: a line that is longer than a chunk, packed, loses its links and then its marks.
func TestLongLineFits(t *testing.T) {
	tm := New(Options{Cols: MaxCols, Rows: 2, HistoryLines: 10})
	for i := range MaxCols {
		tm.Write(fmt.Appendf(nil, "\x1b]8;;http://%0500d\x07%c%s", i, 'a'+i%26, strings.Repeat("\u0301", 20)))
	}
	tm.Write([]byte("\r\n\n"))
	var l Line
	require.True(t, tm.ReadLine(0, &l))
	require.Len(t, l.Cells, MaxCols)
	require.Zero(t, tm.Link(l.Cells[0]))
	require.Equal(t, "a\u0301\u0301", string(tm.AppendCell(nil, l.Cells[0]))[:5])
}

func TestHistoryKeepsEverything(t *testing.T) {
	in := "\x1b[1;4:3;58:5:9;31;48;2;1;2;3mstyled\x1b[m plain 宽e\u0301\x1b]8;id=i;http://x\x07link\x1b]8;;\x07 👨‍👩‍👧 🇩🇪\x1b[44m\x1b[K"
	a := New(Options{Cols: 60, Rows: 3, HistoryLines: 10})
	a.Write([]byte(in))
	want := describe(a, a.Row(0).Cells(), false)
	a.Write([]byte("\x1b[m\r\n\n\n"))
	var l Line
	require.True(t, a.ReadLine(0, &l))
	require.Equal(t, want, describe(a, l.Cells, l.Wrapped))
}

func TestWriteDoesNotAllocate(t *testing.T) {
	for name, in := range map[string]string{
		"text":      strings.Repeat("hello world\r\n", 100),
		"colours":   strings.Repeat("\x1b[1;38;2;1;2;3mx\x1b[0;4:3;58:5:4my\x1b[m\r\n", 100),
		"wide":      strings.Repeat("宽字符e\u0301🇩🇪👩‍👩‍👧\r\n", 30),
		"editing":   strings.Repeat("\x1b[5;5H\x1b[2@\x1b[P\x1b[K\x1b[L\x1b[M\x1b[3;9r\x1b[S\x1b[T\x1b[r", 30),
		"alternate": strings.Repeat("\x1b[?1049hx\x1b[?1049l", 10),
		"links":     strings.Repeat("\x1b]8;;http://example.com\x07link\x1b]8;;\x07", 10),
	} {
		tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 50})
		tm.Write([]byte(in))
		b := []byte(in)
		require.Zero(t, testing.AllocsPerRun(20, func() { tm.Write(b) }), name)
	}
}

func TestVersionTellsVisibleChanges(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	for _, c := range []struct {
		in      string
		changes bool
	}{
		{"a", true},
		{"\x1b[c", false},
		{"\x1b[31m", false},
		{"\x1b[C", true},
		{"\x1b[?25l", true},
		{"\x1b[?25l", false},
		{"\x1b]2;t\x07", true},
		{"\x1b]2;t\x07", false},
		{"\x1b]11;#112233\x07", true},
		{"\a", false},
		{"\x1b[?2004h", true},
		{"\x1b[", false},
		{"2J", true},
		{"", false},
	} {
		v := tm.Version()
		tm.Write([]byte(c.in))
		require.Equal(t, c.changes, tm.Version() > v, "%q", c.in)
	}
}

func TestSmallBounds(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	var all strings.Builder
	for i := range maxParams + 8 {
		fmt.Fprintf(&all, "%d;", 31+i%2)
	}
	tm.Write([]byte("\x1b[" + all.String() + "1mx"))
	require.Equal(t, Style{Fg: Indexed((maxParams-1)%2) + 1}, tm.Style(tm.Row(0).Cells()[0]), "parameters over the limit are ignored")

	tm.Write([]byte("\x1b[99999999999999999999C\x1b[2;99999999999999999999H"))
	require.Equal(t, 79, tm.Cursor().Col)

	for range maxSGRStack + 5 {
		tm.Write([]byte("\x1b[#{"))
	}
	require.Len(t, tm.sgrStack, maxSGRStack)

	for i := range maxSavedModes + 5 {
		tm.Write(fmt.Appendf(nil, "\x1b[?%ds", i))
	}
	require.Equal(t, maxSavedModes, tm.savedModes.n)

	tm.Write([]byte("\x1b]7;" + strings.Repeat("x", maxCwdBytes) + "\x07"))
	require.Len(t, tm.Cwd(), maxCwdBytes)
	tm.Write([]byte("\x1b]7;" + strings.Repeat("y", maxCwdBytes+1) + "\x07"))
	require.Len(t, tm.Cwd(), maxCwdBytes)
	require.Equal(t, byte('x'), tm.Cwd()[0], "a longer directory is ignored")
	tm.TakeEvents()

	tm.Write([]byte("\x1b]9;" + strings.Repeat("n", maxNoteBytes+1) + "\x07"))
	require.Len(t, tm.TakeEvents()[0].Text, maxNoteBytes)

	uri := strings.Repeat("u", maxLinkBytes-1)
	tm.Write([]byte("\x1b]8;;" + uri + "\x07\rL"))
	require.Equal(t, uri, tm.Link(tm.Row(1).Cells()[0]).URI)
	tm.Write([]byte("\x1b]8;;" + uri + "uu\x07\rL"))
	require.Zero(t, tm.Link(tm.Row(1).Cells()[0]), "a longer link is none")
	for _, link := range []string{";" + strings.Repeat("\x93", maxLinkBytes/3+1), "id=" + strings.Repeat("\x93", maxLinkBytes/3) + ";u"} {
		tm.Write([]byte("\x1b]8;" + link + "\x07\rL"))
		require.Zero(t, tm.Link(tm.Row(1).Cells()[0]), "nor one that is too long as text")
	}
	tm.Write([]byte("\x1b]8;id=" + strings.Repeat("\x93", maxLinkBytes/3-2) + ";u\x07\rL"))
	require.Equal(t, strings.Repeat("\ufffd", maxLinkBytes/3-2), tm.Link(tm.Row(1).Cells()[0]).ID)

	tm.TakeReplies()
	tm.Write([]byte("\x1bP+q" + strings.Repeat("544e;", maxTermcap+3) + "\x1b\\"))
	require.Equal(t, maxTermcap, strings.Count(string(tm.TakeReplies()), "\x1bP1+r544E="))
}

// TestLongLineReflowIsBounded: one line of the whole history is cut where a resize would take back too much of it.
func TestLongLineReflowIsBounded(t *testing.T) {
	tm := New(Options{Cols: 20, Rows: 4, HistoryLines: 10_000})
	tm.Write([]byte(strings.Repeat("0123456789", 10_000)))
	top := tm.ScreenTop()
	tm.Resize(40, 4)
	require.EqualValues(t, top-maxPulled+maxPulled/2, tm.ScreenTop()+2)
	require.Equal(t, strings.Repeat("0123456789", 10_000), paragraphs(tm))
}

// TestRunsOfAnyLengthArePacked: how many columns a run in one style has takes one byte or two.
func TestRunsOfAnyLengthArePacked(t *testing.T) {
	for _, n := range []int{1, 126, 127, 128, 129, 255, 256, MaxCols - 2} {
		tm := New(Options{Cols: MaxCols, Rows: 1, HistoryLines: 1})
		tm.Write([]byte("\x1b[1mab\x1b[0;31m" + strings.Repeat("x", n-1) + "é\x1b[m\r"))
		want := append([]Cell(nil), tm.Row(0).Cells()[:tm.Row(0).Used()]...)
		tm.Write([]byte("\n"))
		var got Line
		require.True(t, tm.ReadLine(0, &got))
		require.Equal(t, want, got.Cells, "%d", n)
	}
}
