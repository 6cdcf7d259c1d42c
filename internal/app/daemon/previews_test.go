package daemon

import (
	"fmt"
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
	"github.com/vev-term/vev/internal/protocol"
)

// looker is a client that watches pictures of one session.
type looker struct {
	w        *world
	p        *pipe
	size     domain.Size
	sequence uint64
	screen   []string
	ended    bool
}

func (w *world) look(session string, size domain.Size, interval time.Duration) *looker {
	w.t.Helper()
	l := &looker{w: w, p: w.dial(), size: size}
	s, err := w.d.find(session)
	require.NoError(w.t, err)
	l.p.toServer <- &protocol.Watch{Previews: &protocol.WatchPreviews{Session: s.id, Size: size, Interval: interval}}
	require.Equal(w.t, &protocol.Watching{Previews: &protocol.WatchAnswer{}}, <-l.p.toClient)
	return l
}

func (l *looker) apply(m *protocol.Preview) {
	l.w.t.Helper()
	l.sequence++
	require.Equal(l.w.t, l.sequence, m.Sequence)
	if l.ended = m.Ended; !l.ended {
		t := vt.New(vt.Options{Cols: l.size.Cols, Rows: l.size.Rows})
		t.Write(m.Content)
		l.screen = rowsOf(t)
	}
}

// settle takes what comes until nothing does for a second of virtual time.
func (l *looker) settle() *looker {
	l.w.t.Helper()
	for {
		select {
		case m := <-l.p.toClient:
			l.apply(m.(*protocol.Preview))
		case <-time.After(time.Second):
			return l
		}
	}
}

func rowsOf(t *vt.Terminal) (rows []string) {
	_, n := t.Size()
	for y := range n {
		rows = append(rows, string(render.AppendText(nil, t, &vt.Line{Cells: t.Row(y).Cells()})))
	}
	return rows
}

func TestAPreviewFollowsTheCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		for i := range 23 {
			a.print(fmt.Sprintf("line %d\r\n", i))
		}
		l := w.look("a", domain.Size{Cols: 10, Rows: 3}, 0).settle()
		require.Equal(t, []string{"line 21", "line 22", ""}, l.screen)
		a.print("a prompt that is long")
		l.settle()
		require.Equal(t, []string{"", "", "t is long"}, l.screen)
		a.print("\x1b[Htop")
		l.settle()
		require.Equal(t, []string{"tope 0", "line 1", "line 2"}, l.screen)
		before := l.sequence
		a.print("\x1b]2;a title\a\x1b[?2004h\x1b[24;1Hunseen\x1b[1;4H")
		require.Equal(t, before, l.settle().sequence, "nothing of what is shown has changed")
		l.p.Close()
	})
}

func TestPreviewsAreBoundedInTime(t *testing.T) {
	for _, c := range []struct {
		asked time.Duration
		most  uint64
	}{{0, 30}, {time.Millisecond, 30}, {protocol.FarPreviewInterval, 8}} {
		inWorld(t, func(w *world) {
			a := w.create("a")
			l := w.look("a", domain.Size{Cols: 20, Rows: 5}, c.asked).settle()
			before := l.sequence
			for i := range 1000 {
				a.print(fmt.Sprintf("\r%d", i))
				time.Sleep(time.Millisecond)
				for len(l.p.toClient) > 0 {
					l.apply((<-l.p.toClient).(*protocol.Preview))
				}
			}
			l.settle()
			require.Equal(t, "999", l.screen[0], "the newest is seen")
			require.LessOrEqual(t, l.sequence-before, c.most+1)
			require.GreaterOrEqual(t, l.sequence-before, c.most-1)
			l.p.Close()
		})
	}
}

// A client that takes nothing for long gets the newest next, but for what was on its way.
func TestAStalledLookerSeesTheNewest(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		l := w.look("a", domain.Size{Cols: 20, Rows: 5}, 0).settle()
		before := l.sequence
		for i := range 100 {
			a.print(fmt.Sprintf("\r%d", i))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		l.settle()
		require.Equal(t, "99", l.screen[0])
		require.LessOrEqual(t, l.sequence-before, uint64(3))
		l.p.Close()
	})
}

func TestTheEndOfASessionIsTheEndOfItsPreviews(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		l := w.look("a", domain.Size{Cols: 20, Rows: 5}, 0).settle()
		require.Nil(t, w.ask(0, &protocol.Kill{Session: "a"}).Failure)
		require.True(t, l.settle().ended)
		p := w.dial()
		p.toServer <- &protocol.Watch{Previews: &protocol.WatchPreviews{Session: domain.SessionID{1}, Size: domain.DefaultSize}}
		require.Equal(t, fault.NotFound, (<-p.toClient).(*protocol.Watching).Previews.Failure.Kind)
		p.Close()
		l.p.Close()
	})
}

// What does not fit a picture is left out from the bottom.
func TestAPreviewHasABound(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		var b strings.Builder
		b.WriteString("\x1b[?7l")
		for y := range 24 {
			fmt.Fprintf(&b, "\x1b[%dH", y+1)
			for x := range 80 {
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm%s", x, y, x, y, x, y+x, "o"+strings.Repeat("\u0301", 12))
			}
		}
		b.WriteString("\x1b[H")
		a.print(b.String())
		l := w.look("a", domain.Size{Cols: 80, Rows: 24}, 0).settle()
		require.NotZero(t, l.sequence)
		require.NotEmpty(t, l.screen[0])
		require.Empty(t, l.screen[23])
		l.p.Close()
	})
}

// A picture shows what is in the window of the session, whatever a program has printed.
func TestAPreviewIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := domain.Size{Cols: rapid.IntRange(1, 90).Draw(t, "cols"), Rows: rapid.IntRange(1, 30).Draw(t, "rows")}
		term := vt.New(vt.Options{Cols: 80, Rows: 24})
		p := &preview{s: &session{term: term}, size: size, painter: render.NewPainter(render.Canonical, render.Capabilities{})}
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"text ", "wide 世界 ", "\r\n", "\x1b[H", "\x1b[20;70H", "\x1b[31;7mred\x1b[m", "\x1b[2J", "\x1b[?1049h", "\x1b[?25l", "e\u0301", "\x1b[?5h",
		}), 1, 20)
		for range rapid.IntRange(1, 5).Draw(t, "pictures") {
			for _, part := range parts.Draw(t, "output") {
				term.Write([]byte(part))
			}
			content := p.draw()
			if len(content) == 0 {
				continue
			}
			shown := vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows})
			shown.Write(content)
			for y, row := range rowsOf(shown) {
				want := ""
				if y+p.y < 24 {
					all := term.Row(y + p.y).Cells()
					want = string(render.AppendCells(nil, term, windowOf(all, p.x, size.Cols)))
				}
				require.Equal(t, strings.TrimRight(want, " "), row)
			}
		}
	})
}

// windowOf is a window of cells, in which half a wide character is a blank.
func windowOf(cells []vt.Cell, x, n int) []vt.Cell {
	out := append([]vt.Cell(nil), cells[x:min(x+n, len(cells))]...)
	if out[0].IsSpacer() {
		out[0] = vt.Cell{}
	}
	if last := len(out) - 1; out[last].IsWide() && x+n < len(cells) {
		out[last] = vt.Cell{}
	}
	return out
}
