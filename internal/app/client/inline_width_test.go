package client

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

// cut is what a terminal that does not wrap its lines anew makes of its screen and history in a new size.
func cut(t *vt.Terminal, size domain.Size) *vt.Terminal {
	cols, rows := t.Size()
	n := vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 20_000})
	row := func(l *vt.Line) {
		l.Cells, l.Wrapped = l.Cells[:min(len(l.Cells), size.Cols, cols)], false
		_, _ = n.Write([]byte("\x1b[?7l" + lineOf(t, l).Text + "\x1b[?7h"))
	}
	var line vt.Line
	for at := t.FirstLine(); at < t.ScreenTop(); at++ {
		t.ReadLine(at, &line)
		row(&line)
		_, _ = n.Write([]byte("\r\n"))
	}
	_, _ = n.Write([]byte(strings.Repeat("\n", rows-1)))
	for y := range rows {
		_, _ = n.Write(fmt.Appendf(nil, "\x1b[%dH", y+1))
		t.ReadLine(t.ScreenTop()+uint64(y), &line)
		row(&line)
	}
	full := t.Modes().Alternate
	if full {
		_, _ = t.Write([]byte("\x1b[?1049l")) // to where the main screen's cursor is
	}
	c := t.Cursor()
	_, _ = n.Write(fmt.Appendf(nil, "\x1b[%d;%dH", c.Row+1, c.Col+1))
	if n.Resize(size.Cols, size.Rows); full {
		_, _ = n.Write([]byte("\x1b[?1049h"))
	}
	return n
}

// textOf is what is in a terminal's history and on its screen, without the ends of rows.
func textOf(t *vt.Terminal) (history, screen string) {
	_, rows := t.Size()
	var line vt.Line
	for n := t.FirstLine(); n < t.ScreenTop()+uint64(rows); n++ {
		t.ReadLine(n, &line)
		text := strings.TrimRight(lineOf(t, &line).Text, " ")
		if n < t.ScreenTop() {
			history += text
		} else {
			screen += text
		}
	}
	return history, screen
}

// widthStep is a size of the terminal, and how long the lines are that are printed then.
type widthStep struct {
	size  domain.Size
	lines []int
	cut   bool // the connection is away while the size changes
	full  bool // a full-screen program shows while the size changes
	more  bool // and goes on to while it changes next; lines are not printed then
	// The program drops the session's history, which has come, before. It counts only for the last step, to a smaller size:
	// what a terminal takes back from its history when it becomes larger can then be had from nobody.
	drops bool
}

func drawWidths(rt *rapid.T, least int) []widthStep {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) widthStep {
		return widthStep{
			domain.Size{Cols: rapid.IntRange(least, 30).Draw(rt, "cols"), Rows: rapid.IntRange(2, 9).Draw(rt, "rows")},
			rapid.SliceOfN(rapid.IntRange(0, 70), 0, 8).Draw(rt, "lines"),
			rapid.IntRange(0, 2).Draw(rt, "cut") == 2,
			rapid.IntRange(0, 2).Draw(rt, "full") == 2,
			rapid.Bool().Draw(rt, "more"),
			rapid.IntRange(0, 5).Draw(rt, "drops") == 5,
		}
	}), 1, 8).Draw(rt, "steps")
}

// widths resizes a terminal that shows a session inline, and returns the two as they are then.
func widths(t *testing.T, steps []widthStep, cuts bool, check func(session, outer *vt.Terminal)) {
	attached(t, func(a *attachment) {
		a.opts.Inline, a.daemon.obedient, a.opts.Capabilities.CutsLines = true, true, cuts
		a.term.vt = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
		a.term.cuts = cuts
		a.daemon.keeping = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
	}, func(a *attachment) {
		n := 0
		prints := func(lines []int) {
			for _, length := range lines {
				n++
				a.daemon.prints(fmt.Sprintf("<%d:%s>\r\n", n, strings.Repeat(string(rune('a'+n%26)), length)))
			}
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		prints([]int{3, 30, 3, 50, 3, 3})
		was := domain.Size{Cols: 20, Rows: 5}
		full := false
		for i, s := range steps {
			smaller := s.size.Cols <= was.Cols && s.size.Rows <= was.Rows
			if was = s.size; s.drops && smaller && !full && i+1 == len(steps) {
				a.daemon.prints("\x1b[3J")
			}
			if s.full && !full {
				a.daemon.prints("\x1b[?1049h")
				synctest.Wait()
			}
			full = full || s.full
			if s.cut {
				a.daemon.set(func() { a.daemon.dialErr = func(int) error { return errCut } })
				a.daemon.cut(true)
				synctest.Wait()
			}
			a.term.resize(s.size.Cols, s.size.Rows)
			synctest.Wait()
			if s.cut {
				a.daemon.set(func() { a.daemon.dialErr = nil })
				time.Sleep(10 * time.Second)
				synctest.Wait()
			}
			if s.full && s.more && i+1 < len(steps) {
				continue
			}
			if full {
				a.daemon.prints("\x1b[?1049l")
				full = false
			}
			prints(s.lines)
		}
		time.Sleep(5 * time.Second)
		prints([]int{1, 1, 1})
		check(a.daemon.keeping, a.term.vt)
	})
}

// isWithin reports whether all of part is in whole, in its order.
func isWithin[T comparable](part, whole []T) bool {
	for i := 0; i < len(whole) && len(part) > 0; i++ {
		if whole[i] == part[0] {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// Whatever widths and heights a terminal takes that wraps its lines anew, nothing that the session printed is lost, and all is
// in order. What it wraps elsewhere than the session may come twice at the seam of history and screen: at most as much as a
// screen has, for each time.
func TestInlineWidthLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawWidths(rt, 5)
		var all, there string
		widths(t, steps, false, func(session, outer *vt.Terminal) {
			before, shown := textOf(session)
			all = before + shown
			before, shown = textOf(outer)
			there = before + shown
		})
		most, was := 0, 20*5
		for _, s := range steps {
			now := s.size.Cols * s.size.Rows
			most, was = most+max(was, now), now
		}
		require.True(rt, isWithin([]byte(all), []byte(there)), "%s\n%s", all, there)
		require.LessOrEqual(rt, len(there)-len(all), most, "%s\n%s", all, there)
	})
}

// What the terminal takes back from its history while a full-screen program shows comes again.
func TestInlineWidthBehindAFullScreenProgram(t *testing.T) {
	for _, size := range []domain.Size{{Cols: 10, Rows: 9}, {Cols: 20, Rows: 8}, {Cols: 30, Rows: 5}, {Cols: 5, Rows: 2}} {
		for _, cuts := range []bool{false, true} {
			widths(t, []widthStep{{size: size, full: true}}, cuts, func(session, outer *vt.Terminal) {
				before, shown := textOf(session)
				all := lineBegins.FindAllString(before+shown, -1)
				before, shown = textOf(outer)
				there := lineBegins.FindAllString(before+shown, -1)
				require.True(t, isWithin(all, there), "%s, cuts: %v\n%q\n%q", size, cuts, all, there)
				require.LessOrEqual(t, len(there)-len(all), 5+size.Rows)
			})
		}
	}
}

var lineBegins = regexp.MustCompile(`<\d+:`)

// Of a terminal that cuts its lines the same holds for their begins.
func TestInlineWidthLawOfATerminalThatCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawWidths(rt, 6)
		var all, there []string
		widths(t, steps, true, func(session, outer *vt.Terminal) {
			before, shown := textOf(session)
			all = lineBegins.FindAllString(before+shown, -1)
			before, shown = textOf(outer)
			there = lineBegins.FindAllString(before+shown, -1)
		})
		most, was := 0, 5
		for _, s := range steps {
			most, was = most+max(was, s.size.Rows), s.size.Rows
		}
		require.True(rt, isWithin(all, there), "%q\n%q", all, there)
		require.LessOrEqual(rt, len(there)-len(all), most, "%q\n%q", all, there)
	})
}

// A terminal in which nothing of the session is wider than the screen has each line once, whichever of the two kinds it is,
// also when a full-screen program shows while its size changes, once and again.
func TestInlineWidthOfShortLines(t *testing.T) {
	steps := []widthStep{
		{size: domain.Size{Cols: 30, Rows: 5}, lines: []int{2, 3, 4}},
		{size: domain.Size{Cols: 12, Rows: 3}, lines: []int{2, 3, 4, 1, 1, 1}},
		{size: domain.Size{Cols: 40, Rows: 9}, lines: []int{3}},
		{size: domain.Size{Cols: 10, Rows: 4}, lines: []int{1, 2}},
	}
	for i := range 4 {
		cuts, full := i%2 == 1, i/2 == 1
		attached(t, func(a *attachment) {
			a.opts.Inline, a.daemon.obedient, a.opts.Capabilities.CutsLines = true, true, cuts
			a.term.vt = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
			a.term.cuts = cuts
		}, func(a *attachment) {
			n := 0
			for _, s := range steps {
				if full {
					a.daemon.prints("\x1b[?1049h")
					synctest.Wait()
					a.term.resize(s.size.Cols-1, s.size.Rows+2)
					synctest.Wait()
				}
				a.term.resize(s.size.Cols, s.size.Rows)
				synctest.Wait()
				if full {
					a.daemon.prints("\x1b[?1049l")
					synctest.Wait()
				}
				for _, length := range s.lines {
					n++
					a.daemon.prints(fmt.Sprintf("<%d:%s>\r\n", n, strings.Repeat("x", length)))
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
			}
			before, shown := textOf(a.daemon.term)
			history, screen := textOf(a.term.vt)
			require.Equal(t, before+shown, history+screen, "cuts: %v, full: %v", cuts, full)
		})
	}
}
