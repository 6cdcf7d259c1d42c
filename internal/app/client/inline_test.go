package client

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// inlined runs f beside a client that shows its session inline, in a terminal of 20x5 that shows a command line. The
// session has printed lines 0 to n-1.
func inlined(t *testing.T, n int, f func(a *attachment)) {
	t.Helper()
	attached(t, func(a *attachment) {
		a.opts.Inline, a.opts.Above = true, 3
		a.term.vt = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
		a.term.vt.Write([]byte("$ true\r\n$ vev\r\n"))
		for i := range n {
			_, _ = fmt.Fprintf(a.daemon.term, "line %d\r\n", i)
		}
	}, f)
}

// historyText are the lines in a terminal's history.
func historyText(t *vt.Terminal) []string {
	out := []string{}
	var line vt.Line
	for n := t.FirstLine(); n < t.ScreenTop(); n++ {
		t.ReadLine(n, &line)
		out = append(out, strings.TrimRight(lineOf(t, &line).Text, " "))
	}
	return out
}

// inOrder requires that the terminal's history has, behind the command lines, the session's lines from the first on,
// and that its screen is the session's.
func (a *attachment) inOrder(first uint64) {
	a.t.Helper()
	synctest.Wait()
	require.Equal(a.t, append([]string{"$ true", "$ vev"}, historyText(a.daemon.term)[first:]...), historyText(a.term.vt))
	require.Equal(a.t, screenText(a.daemon.term), screenText(a.term.vt))
}

func TestInlineAddsToTheTerminalsHistory(t *testing.T) {
	inlined(t, 50, func(a *attachment) {
		require.False(t, a.term.vt.Modes().Alternate)
		a.inOrder(43)
		for i := range 30 {
			a.daemon.prints(fmt.Sprintf("more %d\r\nand more\r\n", i))
			synctest.Wait()
		}
		a.inOrder(43)
		a.daemon.prints(strings.Repeat("y\r\n", 3000))
		time.Sleep(time.Second)
		a.inOrder(43)
		require.Equal(t, vt.MouseNone, a.term.vt.Modes().Mouse)
	})
}

// A session that this attach made has all its lines in the terminal's history, however much it printed before its first
// state could be had; what the daemon dropped by then is said.
func TestInlineHasAllOfANewSession(t *testing.T) {
	for _, c := range []struct{ lines, lost int }{{3, 0}, {3000, 0}, {10_050, 46}} {
		attached(t, func(a *attachment) {
			a.opts.Inline, a.opts.Above, a.daemon.created = true, 3, true
			a.term.vt = vt.New(vt.Options{Cols: 60, Rows: 5, HistoryLines: 20_000})
			for i := range c.lines {
				_, _ = fmt.Fprintf(a.daemon.term, "line %d\r\n", i)
			}
		}, func(a *attachment) {
			time.Sleep(5 * time.Second)
			synctest.Wait()
			var want []string
			if c.lost > 0 {
				want = []string{fmt.Sprintf("[vev: %d lines are missing here]", c.lost)}
			}
			for i := c.lost; i < c.lines-4; i++ {
				want = append(want, fmt.Sprintf("line %d", i))
			}
			require.Equal(t, strings.Join(want, "\n"), strings.Join(historyText(a.term.vt), "\n"))
		})
	}
}

func TestInlineLeavesThePromptBelow(t *testing.T) {
	inlined(t, 50, func(a *attachment) {
		a.types(lead)
		a.types("d")
		_, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, []string{"$ true", "$ vev", "line 43", "line 44", "line 45"}, historyText(a.term.vt))
		require.Equal(t, "line 46\nline 47\nline 48\nline 49\n\n", screenText(a.term.vt), "without the notice of the leader")
		require.Equal(t, []int{4, 0}, []int{a.term.vt.Cursor().Row, a.term.vt.Cursor().Col})
	})
}

func TestInlineSurvivesACut(t *testing.T) {
	inlined(t, 5, func(a *attachment) {
		a.daemon.set(func() { a.daemon.unanswering = true })
		a.daemon.prints("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n")
		synctest.Wait()
		a.daemon.cut(false)
		a.daemon.set(func() {
			a.daemon.term.Write([]byte("g\r\nh\r\n"))
			a.daemon.unanswering = false
		})
		time.Sleep(5 * time.Second)
		a.inOrder(0)
	})
}

func TestInlineSaysWhatIsMissing(t *testing.T) {
	inlined(t, 5, func(a *attachment) {
		a.daemon.set(func() { a.daemon.unanswering = true })
		a.daemon.prints("x\r\n")
		synctest.Wait()
		a.daemon.prints(strings.Repeat("y\r\n", 10_100))
		synctest.Wait()
		a.daemon.cut(false)
		a.daemon.set(func() { a.daemon.unanswering = false })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got := historyText(a.term.vt)
		require.Equal(t, []string{"[vev: 101 lines are", "missing here]", "y"}, got[len(got)-10_002:len(got)-9_999])
	})
}

func TestInlineShowsFullScreenProgramsOnTheOtherScreen(t *testing.T) {
	inlined(t, 50, func(a *attachment) {
		a.daemon.prints("\x1b[?1049h\x1b[2J\x1b[Hfull screen")
		synctest.Wait()
		require.True(t, a.term.vt.Modes().Alternate)
		require.Equal(t, "full screen", strings.TrimSpace(screenText(a.term.vt)))
		a.daemon.prints("\x1b[?1049l")
		synctest.Wait()
		require.False(t, a.term.vt.Modes().Alternate)
		a.inOrder(43)
		a.daemon.prints("\x1b[?1049h")
		a.types(lead + "d")
		_, err := a.ends(0)
		require.NoError(t, err)
		require.False(t, a.term.vt.Modes().Alternate)
	})
}

func TestInlineHasTheLastLinesOfAProgramThatEnds(t *testing.T) {
	inlined(t, 0, func(a *attachment) {
		a.daemon.set(func() { a.daemon.unanswering = true })
		a.daemon.prints(strings.Repeat("y\r\n", 2500) + "done")
		synctest.Wait()
		a.daemon.set(func() { a.daemon.unanswering = false })
		a.daemon.says(&protocol.Ended{Reason: protocol.EndExited})
		_, err := a.ends(0)
		require.NoError(t, err)
		all := strings.Join(historyText(a.term.vt)[2:], "\n") + "\n" + screenText(a.term.vt)
		require.True(t, strings.Repeat("y\n", 2500)+"done" == strings.TrimRight(all, "\n"), "%d bytes", len(all))
	})
}

func TestInlineScrollModeIsOverTheSession(t *testing.T) {
	inlined(t, 50, func(a *attachment) {
		a.types(scrollKey + "g")
		a.shows("line 0       [46/46]", "line 1", "line 2", "line 3", "line 4")
		a.daemon.prints("more\r\n")
		a.types("q")
		a.inOrder(43)
	})
}

var missingLines = regexp.MustCompile(`^\[vev: (\d+) lines are missing here\]$`)

// withoutMissing is the session's lines without those of which the terminal's history says that they are missing there.
func withoutMissing(all, there []string) (left, shown []string) {
	for i := 0; i < len(there); i++ {
		if i+1 < len(there) {
			if m := missingLines.FindStringSubmatch(fmt.Sprintf("%-20s", there[i]) + there[i+1]); m != nil { // it takes two rows
				n, _ := strconv.Atoi(m[1])
				all = all[min(n, len(all)):]
				i++
				continue
			}
		}
		shown = append(shown, there[i])
		if len(all) > 0 {
			left, all = append(left, all[0]), all[1:]
		}
	}
	return append(left, all...), shown
}

// The history of the terminal is that of the session, whatever is printed, cut and resumed: each line once and in order,
// behind as many that were there on attaching as are asked for. A program that drops the session's history takes nothing
// from the terminal's; what had not come by then is said to be missing.
func TestInlineHistoryLaw(t *testing.T) {
	type step struct {
		kind, n int
		text    string
	}
	pieces := []string{
		"a", "word ", "\r\n", "\r\n\r\n", "\x1b[1;34m", "\x1b[m", "\x1b[44m", "\x1b[3;4H", "\x1b[H", "\x1b[2J", "日本", strings.Repeat("long line ", 9),
		"\n\n\n\n\n\n\n\n", "\x1bM", "\x1b[L", "\x1b[M", "\x1b[2;4r", "\x1b[r", "\x1b[2S", "\x1b[?1049h", "\x1b[?1049l", "\x1b[3J",
	}
	rapid.Check(t, func(rt *rapid.T) {
		before, above := rapid.IntRange(0, 40).Draw(rt, "before"), rapid.IntRange(0, 12).Draw(rt, "above")
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			s := step{kind: rapid.IntRange(0, 9).Draw(rt, "kind"), n: rapid.IntRange(1, 3).Draw(rt, "n")}
			s.text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(rt, "text"), "")
			return s
		}), 1, 25).Draw(rt, "steps")
		var want, got []string
		var wantScreen, gotScreen string
		attached(t, func(a *attachment) {
			a.opts.Inline, a.opts.Above = true, above
			a.term.vt = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
			a.term.vt.Write([]byte("$ true\r\n$ vev\r\n"))
			a.daemon.keeping = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
			for i := range before {
				a.daemon.write(fmt.Sprintf("line %d\r\n", i))
			}
		}, func(a *attachment) {
			a.daemon.prints("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n")
			for _, s := range steps {
				switch s.kind {
				case 0:
					a.daemon.cut(true)
				case 1:
					a.daemon.cut(false)
				case 2:
					time.Sleep(time.Duration(s.n) * 100 * time.Millisecond)
				default:
					a.daemon.prints(s.text)
				}
				if s.n == 1 {
					synctest.Wait()
				}
			}
			a.types("\x1b")
			a.daemon.prints("\x1b[?1049l")
			time.Sleep(10 * time.Second)
			synctest.Wait()
			want, got = historyText(a.daemon.keeping), historyText(a.term.vt)
			wantScreen, gotScreen = screenText(a.daemon.keeping), screenText(a.term.vt)
		})
		atAttach := max(0, before-4) // lines of history then
		want, got = withoutMissing(want[atAttach-min(atAttach, above):], got[2:])
		require.Equal(rt, append(want, wantScreen), append(got, gotScreen))
	})
}

func TestInlineFollowsTheTerminalsHeight(t *testing.T) {
	inlined(t, 50, func(a *attachment) {
		a.daemon.set(func() { a.daemon.obedient = true })
		for _, size := range []domain.Size{{Cols: 20, Rows: 8}, {Cols: 20, Rows: 3}, {Cols: 20, Rows: 6}, {Cols: 30, Rows: 5}} {
			a.term.resize(size.Cols, size.Rows)
			synctest.Wait()
			a.daemon.prints("after a resize\r\n")
			synctest.Wait()
			require.Equal(t, screenText(a.daemon.term), screenText(a.term.vt))
		}
		time.Sleep(2 * time.Second)
		a.daemon.prints("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		a.inOrder(43)
	})
}

// Whatever the heights of the terminal and whatever is printed between, its history is the session's. Lines that the
// terminal held before are not the session's: it starts with none.
func TestInlineResizeLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct{ rows, lines int }
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(0, 12).Draw(rt, "lines")}
		}), 1, 8).Draw(rt, "steps")
		var want, got []string
		attached(t, func(a *attachment) {
			a.opts.Inline, a.daemon.obedient = true, true
			a.term.vt = vt.New(vt.Options{Cols: 20, Rows: 5, HistoryLines: 20_000})
		}, func(a *attachment) {
			line := 0
			for _, s := range steps {
				a.term.resize(20, s.rows)
				synctest.Wait()
				for range s.lines {
					line++
					a.daemon.prints(fmt.Sprintf("%d\r\n", line))
				}
				synctest.Wait()
			}
			time.Sleep(2 * time.Second)
			a.daemon.prints("end\r\n")
			synctest.Wait()
			want = append(historyText(a.daemon.term), screenText(a.daemon.term))
			got = append(historyText(a.term.vt), screenText(a.term.vt))
		})
		require.Equal(rt, want, got)
	})
}
