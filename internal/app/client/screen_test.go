package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// difference says where the terminal shows something else than the window of the session's screen, "" if nowhere.
func (a *attachment) difference() string {
	a.daemon.mu.Lock()
	defer a.daemon.mu.Unlock()
	a.term.mu.Lock()
	defer a.term.mu.Unlock()
	a.client.screen.take()
	defer a.client.screen.give()
	got, want := a.term.vt, a.daemon.term
	x0, y0 := 0, 0
	cols, rows := got.Size()
	wcols, wrows := want.Size()
	if cols < wcols {
		x0 = a.client.screen.composer.x
	}
	if rows < wrows {
		y0 = a.client.screen.composer.y
	}
	for y := range rows {
		for x := range cols {
			w := ". " + fmt.Sprint(vt.Style{Attrs: vt.Dim})
			if x+x0 < wcols && y+y0 < wrows {
				w = look(want, x+x0, y+y0)
			}
			if g := look(got, x, y); g != w {
				return fmt.Sprintf("cell %d,%d shows %q, should be %q\n%s\n%s", x, y, g, w, screenText(got), screenText(want))
			}
		}
	}
	gc, wc := got.Cursor(), want.Cursor()
	if gc.Visible != wc.Visible || gc.Visible && (gc.Col != wc.Col-x0 || gc.Row != wc.Row-y0) {
		return fmt.Sprintf("cursor is %+v, should be %+v less %d,%d", gc, wc, x0, y0)
	}
	gm, wm := got.Modes(), terminalModes(want.Modes())
	gm.Alternate, wm.Alternate = false, false
	wm.FocusEvents = !a.opts.Attach.ReadOnly
	gm.AltScroll, wm.AltScroll = false, false
	gm.Autowrap, wm.Autowrap, gm.Origin, wm.Origin = false, false, false, false
	if gm != wm {
		return fmt.Sprintf("modes are %v, should be %v", gm.Names(), wm.Names())
	}
	if got.Title() != want.Title() {
		return fmt.Sprintf("title is %q, should be %q", got.Title(), want.Title())
	}
	return ""
}

// look is what a cell shows.
func look(t *vt.Terminal, x, y int) string {
	c := t.Row(y).Cells()[x]
	text := string(t.AppendCell(nil, c))
	if c.IsBlank() {
		text = " "
	}
	return text + " " + fmt.Sprint(t.Style(c))
}

// settles waits until notices are over and requires that the terminal shows the session.
func (a *attachment) settles() {
	a.t.Helper()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	require.Empty(a.t, a.difference())
}

func TestShowsTheSession(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		require.True(t, a.term.raw)
		require.True(t, a.term.vt.Modes().Alternate)
		a.daemon.prints("hello \x1b[1;31mworld\x1b[m\r\n\x1b]2;a title\a\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[5 q世界")
		synctest.Wait()
		require.Empty(t, a.difference())
		require.Equal(t, protocol.Ack{Epoch: 1, State: 2}, a.acknowledged())
	})
}

func TestLeavesTheTerminalAsItWas(t *testing.T) {
	attached(t, func(a *attachment) {
		a.term.vt.Write([]byte("before\r\n\x1b]2;mine\a"))
	}, func(a *attachment) {
		a.daemon.prints("\x1b]2;theirs\a\x1b[?2004h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?1h\x1b=\x1b[>5u\x1b[5 q\x1b[?25l\x1b]11;#112233\a\x1b[1;4;31mx")
		a.types(lead + "d")
		_, err := a.ends(0)
		require.NoError(t, err)
		fresh := vt.New(vt.Options{Cols: 20, Rows: 5})
		fresh.Write([]byte("before\r\n"))
		require.Equal(t, screenText(fresh), screenText(a.term.vt))
		require.Equal(t, fresh.Modes(), a.term.vt.Modes())
		require.Equal(t, fresh.Cursor(), a.term.vt.Cursor())
		require.Equal(t, "mine", a.term.vt.Title())
		require.Equal(t, vt.Color(0), a.term.vt.Palette().Background)
		require.False(t, a.term.raw)
	})
}

func TestFinalScreenIsPaintedBeforeTheEnd(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.setStuck(true)
		a.daemon.prints("a") // holds the link up, so that the rest gathers
		synctest.Wait()
		a.daemon.prints("b")
		a.daemon.prints("\r\nthe last word")
		a.daemon.says(&protocol.Ended{Reason: protocol.EndExited})
		a.term.setStuck(false)
		_, err := a.ends(0)
		require.NoError(t, err)
		require.Contains(t, a.term.written(), "the last word")
	})
}

func TestStatesThatWaitArePaintedOnce(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.setStuck(true)
		a.daemon.prints("first")
		synctest.Wait()
		require.Equal(t, uint64(1), a.acknowledged().State, "a terminal that takes nothing acknowledges nothing")
		for i := range protocol.MaxOutputWindow - 1 {
			a.daemon.prints(fmt.Sprint(i))
		}
		before := a.term.writes
		a.term.setStuck(false)
		synctest.Wait()
		require.Equal(t, before+2, a.term.writes)
		require.Equal(t, protocol.Ack{Epoch: 1, State: 1 + protocol.MaxOutputWindow}, a.acknowledged())
		require.Empty(t, a.difference())
	})
}

func TestInputIsSentWhileTheTerminalTakesNothing(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.setStuck(true)
		a.daemon.prints("x")
		synctest.Wait()
		n := protocol.InputWindowBytes // acknowledgements wait for the screen
		a.types(strings.Repeat("k", n+1))
		require.Equal(t, n, len(a.daemon.typed()))
		a.term.setStuck(false)
		synctest.Wait()
		require.Equal(t, n+1, len(a.daemon.typed()))
		a.settles()
	})
}

func TestResize(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.obedient = true }, func(a *attachment) {
		a.daemon.prints(strings.Repeat("0123456789abcdef", 8))
		for _, s := range []domain.Size{{Cols: 40, Rows: 12}, {Cols: 7, Rows: 3}, {Cols: 1, Rows: 1}, {Cols: 20, Rows: 5}} {
			a.term.resize(s.Cols, s.Rows)
			synctest.Wait()
			require.Equal(t, &protocol.Resize{Size: s}, a.daemon.got[len(a.daemon.got)-1])
			require.Empty(t, a.difference(), s)
		}
	})
}

func TestResizeThereAndBackDrawsEverything(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.prints(strings.Repeat("x", 100))
		synctest.Wait()
		a.term.mu.Lock()
		a.term.vt.Resize(7, 2)
		a.term.mu.Unlock()
		a.term.resize(20, 5)
		synctest.Wait()
		require.Empty(t, a.difference())
	})
}

func TestEventsHappenOnce(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.happens(protocol.Bell{})
		a.daemon.happens(protocol.Clipboard{Selection: "c;\x1b]p", Data: []byte("copied\x00\x1b")})
		a.daemon.happens(protocol.Notification{Title: "build", Body: "done\x1b]0;x\a\n"})
		a.daemon.happens(protocol.Notification{Body: "4;1;50"})
		a.daemon.happens(protocol.Notification{Body: "\x1b"})
		a.daemon.happens(protocol.Title{Text: "not twice"})
		a.daemon.happens(protocol.Renamed{Name: "other"})
		a.daemon.happens(nil)
		a.daemon.says(&protocol.Output{Events: []protocol.Event{{Seq: 9, Body: protocol.Bell{}}}})
		synctest.Wait()
		require.Equal(t, uint64(9), a.acknowledged().EventSeq)
		a.daemon.set(func() { a.daemon.name = "other" })
		a.daemon.cut(true)
		a.daemon.prints("x")
		synctest.Wait()

		var kinds []vt.EventKind
		for _, e := range a.term.vt.TakeEvents() {
			kinds = append(kinds, e.Kind)
			switch e.Kind {
			case vt.EventBell:
				require.Equal(t, 2, e.Count)
			case vt.EventClipboard:
				require.Equal(t, "cp", e.Text)
				require.Equal(t, "copied\x00\x1b", string(e.Data))
			}
		}
		slices.Sort(kinds)
		require.Equal(t, []vt.EventKind{vt.EventBell, vt.EventClipboard, vt.EventNotification, vt.EventNotification, vt.EventNotification}, kinds)
		require.Contains(t, a.term.written(), "\x1b]9;build: done ]0;x  \a")
		require.Contains(t, a.term.written(), "\x1b]9; 4;1;50\a")
		a.types(lead + "d")
		r, _ := a.ends(0)
		require.Equal(t, "other", r.Name)
	})
}

func TestClipboardBound(t *testing.T) {
	data := make([]byte, protocol.MaxClipboardBytes)
	require.Greater(t, len(appendEvent(nil, protocol.Clipboard{Data: data}, render.Capabilities{})), len(data))
	require.Empty(t, appendEvent(nil, protocol.Clipboard{Data: append(data, 0)}, render.Capabilities{}))
}

func TestNotices(t *testing.T) {
	attached(t, func(a *attachment) {
		a.term = newFakeTerminal(60, 8)
		a.opts.Terminal = a.term
		a.daemon = newFakeDaemon(60, 8)
		a.opts.Dialer = a.daemon
	}, func(a *attachment) {
		rows := func() []string { return strings.Split(a.term.text(), "\n")[:8] }
		a.daemon.prints("\x1b[8;1Hbottom line\x1b[1;1H")
		a.types(lead)
		require.Contains(t, rows()[7], `Ctrl-\: d detach`)
		require.NotContains(t, rows()[7], "bottom line")
		time.Sleep(time.Hour)
		require.Contains(t, rows()[7], `Ctrl-\: d detach`, "the key is awaited for ever")
		a.types("\x1b")
		require.Equal(t, "bottom line", rows()[7])

		a.types(lead + "?")
		require.Contains(t, rows()[3], `Ctrl-\ d    detach`)
		require.Contains(t, rows()[7], `Ctrl-\ ?    show`)
		a.types("k")
		require.Equal(t, "bottom line", rows()[7])
		require.Equal(t, "k", a.daemon.typed(), "the key that closes the help is a key")

		a.types(lead + "x")
		require.Contains(t, rows()[7], "no such key")
		time.Sleep(briefNotice)
		synctest.Wait()
		require.Equal(t, "bottom line", rows()[7])
		require.Empty(t, a.difference())
	})
}

func TestNoticeHidesTheCursorUnderIt(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.prints("\x1b[5;3H")
		a.types(lead)
		require.False(t, a.term.vt.Cursor().Visible)
		a.types("\x1b")
		require.True(t, a.term.vt.Cursor().Visible)
		require.Equal(t, 4, a.term.vt.Cursor().Row)
	})
}

func TestNoticeOnTheSmallestTerminal(t *testing.T) {
	attached(t, func(a *attachment) { a.term = newFakeTerminal(1, 1); a.opts.Terminal = a.term }, func(a *attachment) {
		a.types(lead + "?")
		a.types(lead)
		a.types("\x1b")
		a.settles()
	})
}

func TestReconnectingIsSaidAfterAWhile(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.dialErr = func(n int) error {
			if n > 1 && n < 8 {
				return fault.New(fault.Unavailable, "down")
			}
			return nil
		}
	}, func(a *attachment) {
		a.daemon.prints("still shown")
		time.Sleep(time.Second)
		a.daemon.cut(true)
		time.Sleep(lostNoticeAfter - time.Millisecond)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "connection lost")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Contains(t, a.term.text(), "connection lost")
		require.Contains(t, a.term.text(), "still shown")
		a.settles()
		require.Contains(t, a.term.text(), "still shown")
	})
	attached(t, nil, func(a *attachment) {
		a.daemon.prints("x")
		a.daemon.cut(true)
		time.Sleep(time.Second)
		require.NotContains(t, a.term.written(), "connection lost", "a short interruption is not worth a word")
	})
}

func TestSuspend(t *testing.T) {
	for _, ask := range []func(a *attachment){
		func(a *attachment) { a.types(lead + "z") },
		func(a *attachment) { a.term.events <- ports.TerminalSuspend },
	} {
		attached(t, nil, func(a *attachment) {
			stopped := make(chan struct{})
			a.term.suspend = func() error {
				require.False(t, a.term.vt.Modes().Alternate, "the screen was left before")
				require.False(t, a.term.vt.Modes().BracketedPaste)
				a.term.Restore()
				<-stopped
				a.term.vt.Write([]byte("$ some shell work\r\n"))
				a.term.events <- ports.TerminalResumed
				return nil
			}
			a.daemon.prints("session")
			synctest.Wait()
			ask(a)
			synctest.Wait()
			require.False(t, a.term.raw)
			require.Equal(t, []bool{false}, a.daemon.focus(), "nobody looks at it")
			a.daemon.prints(" goes on")
			synctest.Wait()
			require.Equal(t, "\n\n\n\n\n", a.term.text())
			a.term.mu.Lock()
			a.term.vt.Resize(30, 6)
			a.term.size = domain.Size{Cols: 30, Rows: 6}
			a.term.mu.Unlock()
			close(stopped)
			synctest.Wait()
			require.True(t, a.term.raw)
			require.Equal(t, []bool{false, true}, a.daemon.focus())
			require.Empty(t, a.difference())
			a.settles()
			a.types(lead + "d")
			_, err := a.ends(0)
			require.NoError(t, err)
			require.Contains(t, a.term.text(), "$ some shell work")
		})
	}
}

func TestSuspendWithoutAShell(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.suspend = func() error { return fault.New(fault.Unsupported, "no shell") }
		a.types(lead + "z")
		require.Contains(t, a.term.text(), "cannot suspend: no")
		require.True(t, a.term.raw)
		a.settles()
	})
}

func TestResumedAfterAStopThatWasNotAnnounced(t *testing.T) {
	attached(t, func(a *attachment) {
		a.term.vt.Write([]byte("\x1b]2;mine\a"))
	}, func(a *attachment) {
		a.daemon.prints("session\x1b]2;theirs\a")
		synctest.Wait()
		a.term.mu.Lock()
		a.term.raw = false
		a.term.vt.Write([]byte("\x1b[2J\x1b[Hgarbage"))
		a.term.mu.Unlock()
		a.term.events <- ports.TerminalResumed
		synctest.Wait()
		require.True(t, a.term.raw)
		require.Empty(t, a.difference())
		a.types(lead + "d")
		_, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, "mine", a.term.vt.Title())
	})
}

// step is one thing in a random life of an attachment.
type step struct {
	kind       int
	text       string
	cols, rows int
}

func TestTerminalShowsTheSessionAfterAnything(t *testing.T) {
	pieces := []string{
		"a", "word ", "\r\n", "\x1b[1;34m", "\x1b[m", "\x1b[7m", "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[3;4H", "\x1b[?25l", "\x1b[?25h",
		"\x1b[?1049h", "\x1b[?1049l", "\x1b[2;4r", "\x1b[r", "\x1bM", "\x1b[L", "\x1b[M", "\x1b[?2004h", "\x1b[?1000h", "\x1b[?1000l",
		"\x1b]2;t\a", "\x1b[44m", strings.Repeat("long line ", 9), "\n\n\n", "\x1b[?1h", "\x1b[>1u", "\x1b[<u", "\x1b[5X", "\t",
	}
	rapid.Check(t, func(rt *rapid.T) {
		obedient := rapid.Bool().Draw(rt, "the session has the terminal's size")
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			s := step{kind: rapid.IntRange(0, 9).Draw(rt, "kind")}
			switch s.kind {
			case 0, 1:
				s.cols, s.rows = rapid.IntRange(1, 40).Draw(rt, "cols"), rapid.IntRange(1, 12).Draw(rt, "rows")
			case 2, 3, 4, 5, 6:
				s.text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(rt, "text"), "")
			}
			return s
		}), 1, 25).Draw(rt, "steps")
		verdict := ""
		attached(t, func(a *attachment) { a.daemon.obedient = obedient }, func(a *attachment) {
			for _, s := range steps {
				live(a, s)
				synctest.Wait()
			}
			a.types("\x1b") // no leader
			time.Sleep(10 * time.Second)
			synctest.Wait()
			verdict = a.difference()
		})
		if verdict != "" {
			rt.Fatal(verdict)
		}
	})
}

func live(a *attachment, s step) {
	switch s.kind {
	case 0:
		a.term.resize(s.cols, s.rows)
	case 1:
		a.daemon.resize(s.cols, s.rows)
	case 7:
		a.daemon.cut(true)
		time.Sleep(100 * time.Millisecond)
	case 8:
		a.types(lead)
	case 9:
		a.term.events <- ports.TerminalResumed
	default:
		a.daemon.prints(s.text)
	}
}
