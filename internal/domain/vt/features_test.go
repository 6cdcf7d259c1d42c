package vt

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScreens: inputs and the rows that show behind them, each under every split; rows are those from the first on.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"EL leaves what SPA protects", "ab\x1bVc\x1bWd\x1b[2K", []string{"  c"}},
		{"ED too", "ab\x1bVc\x1bWd\x1b[2J", []string{"  c"}},
		{"ECH too", "ab\x1bVc\x1bWd\x1b[1;1H\x1b[9X", []string{"  c"}},
		{"DECSERA does not", "ab\x1bVc\x1bWd\x1b[1;1;1;9${", []string{""}},
		{"behind DECSCA, EL erases all", "ab\x1bVc\x1bWd\x1b[1\"q\x1b[2K", []string{""}},
		{"DECSEL leaves what DECSCA protects", "a\x1b[1\"qb\x1b[0\"qc\x1b[?2K", []string{" b"}},
		{"a tab with a pending wrap stays", strings.Repeat("x", 80) + "\ty", []string{strings.Repeat("x", 80), "y"}},
		{"with mode 41 it wraps", "\x1b[?41h" + strings.Repeat("x", 80) + "\ty", []string{strings.Repeat("x", 80), "        y"}},
		{"national set", "\x1b(K\x1b[?42h[\\]{|}~@\x1b[?42l[]", []string{"ÄÖÜäöüß§[]"}},
		{"UK set without the mode", "\x1b(A#\x1b(B#", []string{"£#"}},
		{"a set whose name has two bytes", "\x1b(%6\x1b[?42h[\\]", []string{"ÃÇÕ"}},
		{"96 characters", "\x1b-A\x0eid", []string{"éä"}},
		{"a set that is not here is ASCII", "\x1b(>[", []string{"["}},
		{"double-size lines are plain", "\x1b#3a\x1b#4b\x1b#6c\x1b#5d", []string{"abcd"}},
		{"kitty graphics", "a\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\b", []string{"ab"}},
		{"sixel", "a\x1bPq#0;2;0;0;0~~@@vv\x1b\\b", []string{"ab"}},
		{"iTerm2 image", "a\x1b]1337;File=inline=1:AAAA\x07b", []string{"ab"}},
		{"APC ended by U+009C", "a\u009fGi=1;“x”\u009cb", []string{"ab"}},
		{"sixel ended by U+009C", "a\u0090q#0“~~\u009cb", []string{"ab"}},
		{"what looks like it", "a\x1b_\xc3\x9c\xe2\x80\x9c\xc2\x18b", []string{"ab"}},
		{"string of privacy", "a\x1b^secret\x1b\\b\x1bXsecret\x1b\\c", []string{"abc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm, s := screen80(t, c.in)
			for y, want := range c.want {
				require.Equal(t, want, rowText(tm, tm.Row(y)))
			}
			require.Empty(t, s.Replies, "an image is no question that has an answer here: DA1 says that there is no sixel")
			require.Empty(t, s.Events)
		})
	}
}

// attrs are the renditions of the first cells of a row, underlines as "underline".
func attrs(tm *Terminal, y, n int) []string {
	var out []string
	for _, c := range tm.Row(y).Cells()[:n] {
		names := c.Attrs().Names()
		if u := c.Attrs().Underline(); u != UnderlineNone {
			names = append(names, u.String())
		}
		out = append(out, strings.Join(names, "+"))
	}
	return out
}

func TestAttributesOfAreas(t *testing.T) {
	grid := "abcd\r\nefgh\r\nijkl"
	for _, c := range []struct {
		name, in string
		want     [3][]string
	}{
		{"DECCARA, a stream", grid + "\x1b[1;2;2;3;1$r", [3][]string{{"", "bold", "bold", "bold"}, {"bold", "bold", "bold", ""}, {"", "", "", ""}}},
		{"DECCARA, a rectangle", grid + "\x1b[2*x\x1b[1;2;2;3;7$r", [3][]string{{"", "inverse", "inverse", ""}, {"", "inverse", "inverse", ""}, {"", "", "", ""}}},
		{"DECCARA takes away", "\x1b[1;3;4m" + grid + "\x1b[2*x\x1b[1;1;1;2;22$r\x1b[2;1;2;2$r", [3][]string{
			{"italic+single", "italic+single", "bold+italic+single", "bold+italic+single"},
			{"italic", "italic", "bold+italic+single", "bold+italic+single"},
			{"bold+italic+single", "bold+italic+single", "bold+italic+single", "bold+italic+single"},
		}},
		{"DECRARA", "\x1b[1;4:3m" + grid + "\x1b[2*x\x1b[1;1;1;2;1;5$t\x1b[2;1;2;2;4$t\x1b[3;1;3;1;0$t", [3][]string{
			{"blink+curly", "blink+curly", "bold+curly", "bold+curly"},
			{"bold", "bold", "bold+curly", "bold+curly"},
			{"blink+inverse", "bold+curly", "bold+curly", "bold+curly"},
		}},
		{"in origin mode", grid + "\x1b[2;3r\x1b[?6h\x1b[2*x\x1b[1;1;1;2;1$r", [3][]string{{"", "", "", ""}, {"bold", "bold", "", ""}, {"", "", "", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm, _ := screen80(t, c.in)
			checkInvariants(t, tm)
			for y, want := range c.want {
				require.Equal(t, want, attrs(tm, y, len(want)), "row %d", y)
			}
		})
	}
	tm, _ := screen80(t, "a宽b\x1b[2*x\x1b[1;3;1;3;7$r\x1b[1;2;1;2;1$r")
	checkInvariants(t, tm)
	require.Equal(t, []string{"", "bold", "bold", ""}, attrs(tm, 0, 4), "both halves of a wide character change with its first")
}

func TestEventsOfStrings(t *testing.T) {
	note := func(title, text string) []Event {
		return []Event{{Kind: EventNotification, Title: title, Text: text}}
	}
	for _, c := range []struct {
		name, in string
		want     []Event
	}{
		{"OSC 9", "\x1b]9;hello\x07", note("", "hello")},
		{"OSC 9, C1", "\u009d9;“hello”\u009c", note("", "“hello”")},
		{"OSC 9 over the limit, C1", "\u009d9;" + strings.Repeat("x", maxString) + "\u009c", []Event{{Kind: EventStringDropped, Count: 1}}},
		{"OSC 777", "\x1b]777;notify;t;b;c\x07\x1b]777;precmd\x07", note("t", "b;c")},
		{"OSC 99 at once", "\x1b]99;;hello\x07", note("hello", "")},
		{"OSC 99 in parts", "\x1b]99;i=1:d=0;He\x07\x1b]99;i=2:d=0;other\x07\x1b]99;i=1:d=0;llo\x07\x1b]99;i=1:p=body;world\x07", note("Hello", "world")},
		{"OSC 99 encoded", "\x1b]99;e=1:p=body;" + base64.StdEncoding.EncodeToString([]byte("a;b")) + "\x07", note("", "a;b")},
		{"OSC 99 that shows nothing", "\x1b]99;i=1:p=close;\x07\x1b]99;i=1:p=?;\x07\x1b]99;e=1;%%\x07\x1b]99;p=icon:d=0;x\x07\x1b]99;broken\x07", nil},
		{"progress", "\x1b]9;4;1;40\x07", []Event{{Kind: EventProgress, Progress: Progress{ProgressNormal, 40}}}},
		{"no progress", "\x1b]9;4;9;40\x07\x1b]9;4;0\x07", nil},
		{"commands of ConEmu", "\x1b]9;1;500\x07\x1b]9;2;box\x07\x1b]9;5\x07\x1b]9;12\x07", nil},
		{"a number is a text", "\x1b]9;1\x07", note("", "1")},
		{"directory", "\x1b]9;9;\"/a b\"\x07", []Event{{Kind: EventCwd, Text: "/a b"}}},
		{"directory, as iTerm2 has it", "\x1b]1337;CurrentDir=/x\x07\x1b]1337;SetMark\x07", []Event{{Kind: EventCwd, Text: "/x"}}},
		{"marks", "\x1b]133;A;aid=1\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;7;x\x07\x1b]133;D\x07", []Event{
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'A'}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'B'}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'C'}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'D', Exit: 7, HasExit: true}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'D'}},
		}},
		{"other marks", "\n\x1b]133;N\x07\x1b]133;P;k=i\x07\x1b]133;P;k=s\x07\x1b]133;I\x07\x1b]133;L\x07\x1b]133;\x07\x1b]133;AB\x07", []Event{
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'A', Line: 1}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'A', Line: 1}},
			{Kind: EventPromptMark, Mark: PromptMark{Kind: 'B', Line: 1}},
		}},
		{"title and icon", "\x1b]0;both\x07\x1b]1;icon\x07", []Event{{Kind: EventTitle, Text: "both"}}},
		{"title stack", "\x1b]2;a\x07\x1b[22;2t\x1b]2;b\x07\x1b[22;1t\x1b[23;2t\x1b[23t", []Event{{Kind: EventTitle, Text: "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := screen80(t, c.in)
			require.Equal(t, c.want, s.Events)
			require.Empty(t, s.Replies)
		})
	}
}

func TestOpenNotesAreBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	for i := range maxOpenNotes + 1 {
		tm.Write([]byte("\x1b]99;i=" + string(rune('a'+i)) + ":d=0;x\x07"))
	}
	require.Len(t, tm.notes, maxOpenNotes)
	tm.Write([]byte("\x1b]99;i=a;y\x07\x1b]99;i=b;y\x07"))
	require.Equal(t, []Event{{Kind: EventNotification, Title: "y"}, {Kind: EventNotification, Title: "xy"}}, tm.TakeEvents(), "the oldest was dropped")

	id := strings.Repeat("i", maxNoteID)
	for range 3 {
		tm.Write([]byte("\x1b]99;d=0:i=" + id + ";" + strings.Repeat("z", maxNoteBytes-1) + "\x07"))
	}
	tm.Write([]byte("\x1b]99;i=" + id + ";\x07\x1b]99;i=" + id + "i;too long a name\x07"))
	events := tm.TakeEvents()
	require.Len(t, events, 1)
	require.Len(t, events[0].Title, maxNoteBytes)
}

// TestLongImagesAreNotMissed: an image that is too long for a string is dropped without a word.
func TestLongImagesAreNotMissed(t *testing.T) {
	long := strings.Repeat("A", maxString)
	tm := New(Options{Cols: 80, Rows: 24})
	for _, in := range []string{"\x1b]1337;File=inline=1:" + long + "\x07", "\x1bPq" + long + "\x1b\\", "\x1b_G" + long + "\x1b\\"} {
		tm.Write([]byte(in))
		for _, half := range []string{in[:5], in[5:]} {
			tm.Write([]byte(half))
		}
		require.Empty(t, tm.TakeEvents())
		require.LessOrEqual(t, cap(tm.par.str), keptString)
	}
}

func TestColorStackIsBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	tm.Write([]byte("\x1b]4;1;blue\x07" + strings.Repeat("\x1b[#P", maxColorStack+3) + "\x1b[99#P\x1b[99#Q"))
	require.Len(t, tm.colorStack, maxColorStack)
	tm.Write([]byte("\x1b]4;1;red\x07\x1b[3#P\x1b]4;1;green\x07\x1b[3#Q"))
	require.Equal(t, RGB(255, 0, 0), tm.Palette().Indexed[1], "a place by its number")
	tm.Write([]byte("\x1b[#Q"))
	require.Equal(t, RGB(0, 0, 255), tm.Palette().Indexed[1])
	tm.Write([]byte("\x1bc\x1b[#Q"))
	require.Zero(t, tm.Palette().Indexed[1], "a reset empties the stack")
}
