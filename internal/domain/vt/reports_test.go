package vt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnswers: questions and what comes back, each under every split.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"mode 2048 answers at once and at a resize", "\x1b[?2048h", "\x1b[48;24;80;0;0t"},
		{"mode 2048 off", "\x1b[?2048h\x1b[?2048l", "\x1b[48;24;80;0;0t"},
		{"dark", "\x1b[?996n", "\x1b[?997;1n"},
		{"light", "\x1b]11;#eee\x07\x1b[?996n", "\x1b[?997;2n"},
		{"no sixel", "\x1b[?2;1;0S", "\x1b[?2;3;0S"},
		{"no such graphics item", "\x1b[?9;1;0S", "\x1b[?9;1;0S"},
		{"displayed extent", "\x1b[\"v", "\x1b[24;80;1;1;1\"w"},
		{"no locator", "\x1b['|", "\x1b[0&w"},
		{"cursor report", "\x1b[3;4H\x1b[1;7mé\x1b)0\x0e\x1b[1$w", "\x1bP1$u3;5;1;I;@;@;1;2;@;B0BB\x1b\\"},
		{"cursor report, pending and protected", "\x1b[1\"q\x1b[1;80Hx\x1b[1$w", "\x1bP1$u1;80;1;@;A;H;0;2;@;BBBB\x1b\\"},
		{"tab stops", "\x1b[3g\x1b[1;5H\x1bH\x1b[1;9H\x1bH\x1b[2$w", "\x1bP2$u5/9\x1b\\"},
		{"rectangle extent", "\x1bP$q*x\x1b\\\x1b[2*x\x1bP$q*x\x1b\\", "\x1bP1$r1*x\x1b\\\x1bP1$r2*x\x1b\\"},
		{"no status line", "\x1bP$q$}\x1b\\\x1bP$q$~\x1b\\", "\x1bP1$r0$}\x1b\\\x1bP1$r0$~\x1b\\"},
		{"a boolean capability", "\x1bP+q5463\x1b\\", "\x1bP1+r5463\x1b\\"},
		{"a capability with a value", "\x1bP+q5365\x1b\\", "\x1bP1+r5365=1B5B302071\x1b\\"},
		{"kept modes", "\x1b[?4h\x1b[?4$p\x1b[?8$p\x1b[?18$p\x1b[?19$p", "\x1b[?4;1$y\x1b[?8;1$y\x1b[?18;2$y\x1b[?19;2$y"},
		{"no VT52, no 132 columns", "\x1b[?2$p\x1b[?40h\x1b[?3h\x1b[?3$p", "\x1b[?2;4$y\x1b[?3;4$y"},
		{"colours of renditions", "\x1b]5;0;red\x07\x1b]5;0;?\x07\x1b]4;256;?\x07", "\x1b]5;0;rgb:ffff/0000/0000\x07\x1b]4;256;rgb:ffff/0000/0000\x07"},
		{"reset of one", "\x1b]5;1;red\x07\x1b]105;1\x07\x1b]5;1;?\x07", "\x1b]5;1;rgb:d8d8/d8d8/d8d8\x07"},
		{"reset of all", "\x1b]5;1;red\x07\x1b]105\x07\x1b]5;1;?\x07", "\x1b]5;1;rgb:d8d8/d8d8/d8d8\x07"},
		{"no such colour", "\x1b]4;261;?\x07\x1b]5;5;?\x07\x1b]4;99999;?\x07\x1b]4;x;?\x07", ""},
		{"highlight", "\x1b]17;#123\x07\x1b]17;?\x07\x1b]117\x07\x1b]17;?\x07", "\x1b]17;rgb:1010/2020/3030\x07\x1b]17;rgb:d8d8/d8d8/d8d8\x07"},
		{"one colour for each number", "\x1b]12;?;?;?;?;?;?\x07", "\x1b]12;rgb:d8d8/d8d8/d8d8\x07\x1b]13;rgb:d8d8/d8d8/d8d8\x07\x1b]14;rgb:0000/0000/0000\x07\x1b]17;rgb:d8d8/d8d8/d8d8\x07"},
		{"names of colours", "\x1b]11;Alice Blue\x07\x1b]11;?\x07\x1b]11;grey51\x07\x1b]11;?\x07\x1b]11;nosuch\x07\x1b]11;?\x07", "\x1b]11;rgb:f0f0/f8f8/ffff\x07\x1b]11;rgb:8282/8282/8282\x07\x1b]11;rgb:8282/8282/8282\x07"},
		{"stack of colours", "\x1b]4;1;blue\x07\x1b[#P\x1b]4;1;red\x07\x1b[#R\x1b[#Q\x1b]4;1;?\x07\x1b[#R", "\x1b[1;1#Q\x1b]4;1;rgb:0000/0000/ffff\x07\x1b[0;0#Q"},
		{"style that an area has in common", "\x1b[1;4:3;31mab\x1b[22mc\x1b[1;1;1;2#|\x1b[1;1;1;3#|", "\x1b[0;1;4:3;31m\x1b[0;4:3;31m"},
		{"program status is known", "\x1b]7501;?\x1b\\", "\x1b]7501;?\x1b\\"},
		{"the sync mode is not saved", "\x1b[?2026h\x1b[?2026s\x1b[?2026l\x1b[?2026r\x1b[?2026$p", "\x1b[?2026;2$y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := screen80(t, c.in)
			require.Equal(t, c.want, s.Replies)
		})
	}
}

func TestResizeIsReported(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	tm.Write([]byte("\x1b[?2048h"))
	tm.TakeReplies()
	tm.Resize(80, 24)
	require.Empty(t, tm.TakeReplies(), "the same size is no news")
	tm.Resize(100, 30)
	require.Equal(t, "\x1b[48;30;100;0;0t", string(tm.TakeReplies()))
	tm.Write([]byte("\x1bc"))
	tm.Resize(80, 24)
	require.Empty(t, tm.TakeReplies(), "a reset ends it")
}

// TestPresentationComesBack: what DECRQPSR reports, DECRSPS restores.
func TestPresentationComesBack(t *testing.T) {
	for _, state := range []string{
		"\x1b[3;4H\x1b[1;4;5;7m\x1b[1\"q\x1b)0\x1b*A\x1b+K\x0e",
		"\x1b[5;80Hx",
		"\x1b-A\x1b[2;9r\x1b[?6h\x1b[3;3H\x1bO",
		"\x1b(%6\x1bn",
	} {
		a := New(Options{Cols: 80, Rows: 24})
		a.Write([]byte(state + "\x1b[1$w\x1b[2$w"))
		report := string(a.TakeReplies())
		b := New(Options{Cols: 80, Rows: 24})
		b.Write([]byte("\x1b[2;9r\x1b[3g" + strings.ReplaceAll(report, "$u", "$t") + "\x1b[1$w\x1b[2$w"))
		require.Equal(t, report, string(b.TakeReplies()), "%q", state)
	}
	tm := New(Options{Cols: 80, Rows: 24})
	for _, broken := range []string{"", "1;1", "1;1;1;@;@;@;0;2;@;BBB", "1;1;1;@;@;@;9;2;@;BBBB", "x;1;1;@;@;@;0;2;@;BBBB", "1;1;1;@@;@;@;0;2;@;BBBB"} {
		tm.Write([]byte("\x1b[7;7H\x1bP1$t" + broken + "\x1b\\"))
		require.Equal(t, 6, tm.Cursor().Row, "%q changes nothing", broken)
	}
}

func TestStatusRecords(t *testing.T) {
	tm, s := screen80(t, "\x1b]7501;state=working:app=build:progress=40\x1b\\"+
		"\x1b]7501;id=a/b:state=blocked:kind=permission:msg=RGVwbG95Pw==\x07"+
		"\x1b]7501;id=done:state=done:title=4oCueA\x07")
	require.Equal(t, []Event{{Kind: EventStatus}}, s.Events)
	require.Equal(t, []ProgramStatus{
		{State: StatusWorking, App: "build", Progress: 40, Updated: 1},
		{ID: "a/b", State: StatusBlocked, Kind: StatusPermission, Progress: -1, App: "build", Message: "Deploy?", Updated: 2},
		{ID: "done", State: StatusDone, Progress: -1, App: "build", Title: "x", Updated: 3},
	}, tm.Statuses())

	tm.Write([]byte("\x1b]133;A\x07"))
	require.Len(t, tm.Statuses(), 1, "a prompt ends work and waiting")
	tm.Write([]byte("\x1b[!p\x1b[?1049h"))
	require.Len(t, tm.Statuses(), 1, "a soft reset and the other screen end nothing")
	tm.Write([]byte("\x1bc"))
	require.Empty(t, tm.Statuses())

	tm.Write([]byte("\x1b]7501;state=working\x07\x1b]7501;id=x:state=working\x07\x1b]7501;id=x/y:state=idle\x07\x1b]7501;id=xy:state=error\x07"))
	tm.Write([]byte("\x1b]7501;id=x:state=clear\x07"))
	require.Len(t, tm.Statuses(), 2, "a record is cleared with all below it")
	tm.EndStatuses()
	require.Len(t, tm.Statuses(), 1)
	tm.Write([]byte("\x1b]7501;state=clear\x07"))
	require.Empty(t, tm.Statuses())
}

func TestStatusReportsThatCountForNothing(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, report := range []string{
		"", "state=", "state=flying", "app=x", "state=idle:msg=!!", "state=idle:msg=****", "state=idle:title=YQo", // a line feed
		"state=idle:msg=//8", // not UTF-8
		"state=idle:app=" + long(maxStatusName+1),
		"state=idle:id=" + long(maxStatusName+1),
		"state=idle:id=a/b/c/d/e/f/g/h/i",
		"state=idle:id=a//b",
		"state=idle:" + long(maxStatusKey+1) + "=1",
		"state=idle:title=" + strings.Repeat("YWFh", maxStatusTitle/3+1),
		"state=idle:msg=" + strings.Repeat("YWFh", maxStatusMessage/3+1),
		"state=idle:x=" + long(maxStatusReport),
	} {
		tm.Write([]byte("\x1b]7501;" + report + "\x07"))
		if report == "state=idle:msg=!!" || report == "state=idle:msg=****" {
			require.Len(t, tm.Statuses(), 1, "a malformed pair alone is skipped: %q", report)
			tm.Write([]byte("\x1b]7501;state=clear\x07"))
			continue
		}
		require.Empty(t, tm.Statuses(), "%q", report)
	}
	tm.Write([]byte("\x1b]7501;junk:=1:State=x:state=idle:state=working:progress=x:kind=auth:unknown=1\x07"))
	require.Equal(t, []ProgramStatus{{State: StatusWorking, Progress: -1, Updated: 3}}, tm.Statuses())
}

func TestStatusLimits(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24})
	fits := "state=idle:id=a/b/c/d/e/f/g/" + strings.Repeat("h", maxStatusName) + ":app=" + strings.Repeat("p", maxStatusName) +
		":title=" + strings.Repeat("YWFh", maxStatusTitle/3) + ":msg=" + strings.Repeat("YWFh", maxStatusMessage/3)
	tm.Write([]byte("\x1b]7501;" + fits + ":" + strings.Repeat("x", maxStatusReport-statusFrame-len(fits)-1) + "\x07"))
	require.Empty(t, tm.Statuses(), "the filler is a key over the limit")
	tm.Write([]byte("\x1b]7501;" + fits + "\x07"))
	require.Len(t, tm.Statuses(), 1)
	for i := range maxStatuses {
		tm.Write([]byte("\x1b]7501;state=idle:id=r" + strings.Repeat("x", i%10) + string(rune('A'+i/10)) + "\x07"))
	}
	list := tm.Statuses()
	require.Len(t, list, maxStatuses)
	require.Equal(t, "rA", list[0].ID, "the oldest was dropped")
}
