package gallery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// terminal is a user's terminal: what is written feeds an engine.
type terminal struct {
	typed  chan []byte
	closed chan struct{}
	once   sync.Once
	events chan ports.TerminalEvent

	mu    sync.Mutex
	stuck chan struct{} // a write waits for it, or nil
	size  domain.Size
	vt    *vt.Terminal
	raw   bool
	calls []string
}

func newTerminal(cols, rows int) *terminal {
	return &terminal{
		typed: make(chan []byte, 64), closed: make(chan struct{}), events: make(chan ports.TerminalEvent, 8),
		size: domain.Size{Cols: cols, Rows: rows}, vt: vt.New(vt.Options{Cols: cols, Rows: rows}),
	}
}

func (t *terminal) note(call string, raw bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls, t.raw = append(t.calls, call), raw
	return nil
}

func (t *terminal) Raw() error     { return t.note("raw", true) }
func (t *terminal) Restore() error { return t.note("restore", false) }
func (t *terminal) Suspend() error { return t.note("suspend", false) }
func (t *terminal) Close() error {
	t.once.Do(func() { close(t.closed) })
	return t.note("close", false)
}

func (t *terminal) Events() <-chan ports.TerminalEvent { return t.events }

func (t *terminal) Size() (domain.Size, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size, nil
}

func (t *terminal) Read(p []byte) (int, error) {
	select {
	case b := <-t.typed:
		return copy(p, b), nil
	case <-t.closed:
		return 0, io.ErrClosedPipe
	}
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stuck := t.stuck; stuck != nil {
		t.mu.Unlock()
		select {
		case <-stuck:
		case <-t.closed:
		}
		t.mu.Lock()
	}
	select {
	case <-t.closed:
		return 0, io.ErrClosedPipe
	default:
	}
	t.vt.Write(p)
	return len(p), nil
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.size.Rows {
		b.Write(render.AppendText(nil, t.vt, &vt.Line{Cells: t.vt.Row(y).Cells()}))
		b.WriteByte('\n')
	}
	return b.String()
}

// house is sessions and their pictures.
type house struct {
	lists chan []ports.Session
	err   error // instead of a list

	mu   sync.Mutex
	open map[domain.SessionID]*stream
	fail map[domain.SessionID]error
}

func (h *house) Next(ctx context.Context) ([]ports.Session, error) {
	if h.err != nil {
		return nil, h.err
	}
	select {
	case l := <-h.lists:
		if l == nil {
			panic("a list that is none")
		}
		return l, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type stream struct {
	house *house
	id    domain.SessionID
	size  domain.Size
	next  chan []byte
}

func (h *house) Look(_ context.Context, _ domain.Host, id domain.SessionID, size domain.Size) (ports.PictureStream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.fail[id]; err != nil {
		return nil, err
	}
	s := &stream{h, id, size, make(chan []byte)}
	h.open[id] = s
	return s, nil
}

func (s *stream) Next(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.next:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *stream) Close() error {
	s.house.mu.Lock()
	defer s.house.mu.Unlock()
	if s.house.open[s.id] == s {
		delete(s.house.open, s.id)
	}
	return nil
}

// show gives a session another picture.
func (h *house) show(n byte, content string) {
	h.mu.Lock()
	s := h.open[domain.SessionID{n}]
	h.mu.Unlock()
	s.next <- []byte(content)
}

func (h *house) sizes() map[byte]domain.Size {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[byte]domain.Size{}
	for id, s := range h.open {
		out[id[0]] = s.size
	}
	return out
}

// session is the one that is called by its number; odd ones are on another machine.
func session(n byte) ports.Session {
	s := ports.Session{ID: domain.SessionID{n}, Address: domain.Address{Name: fmt.Sprintf("s%d", n)}, Title: fmt.Sprintf("title %d", n)}
	if n%2 == 1 {
		s.Address.Host.Name = "desk"
	}
	return s
}

// visit is a gallery under test.
type visit struct {
	*testing.T
	term  *terminal
	house *house
	stop  context.CancelCauseFunc

	done   chan struct{}
	chosen ports.Session
	ok     bool
	err    error
}

// visiting runs f beside a gallery on a terminal of that size, in virtual time, and requires that the terminal is given back.
func visiting(t *testing.T, cols, rows int, f func(v *visit)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		v := &visit{
			T: t, term: newTerminal(cols, rows), done: make(chan struct{}),
			house: &house{lists: make(chan []ports.Session), open: map[domain.SessionID]*stream{}, fail: map[domain.SessionID]error{}},
		}
		var ctx context.Context
		ctx, v.stop = context.WithCancelCause(t.Context())
		go func() {
			defer close(v.done)
			v.chosen, v.ok, v.err = Run(ctx, Options{Terminal: v.term, Sessions: v.house, Pictures: v.house})
		}()
		defer func() {
			v.stop(errors.New("the test is over"))
			<-v.done
			require.False(t, v.term.raw)
			require.False(t, v.term.vt.Modes().Alternate)
			require.True(t, v.term.vt.Cursor().Visible)
			require.Equal(t, "close", v.term.calls[len(v.term.calls)-1])
			require.Empty(t, v.house.open, "nobody looks any more")
		}()
		synctest.Wait()
		f(v)
	})
}

func (v *visit) lists(n ...byte) {
	var all []ports.Session
	for _, i := range n {
		all = append(all, session(i))
	}
	v.house.lists <- append([]ports.Session{}, all...)
	v.settle()
}

func (v *visit) settle() { time.Sleep(time.Second); synctest.Wait() }

func (v *visit) types(keys string) { v.term.typed <- []byte(keys); v.settle() }

func (v *visit) shows(rows ...string) {
	v.Helper()
	v.settle()
	require.Equal(v, rows, strings.Split(strings.TrimRight(v.term.text(), "\n"), "\n"))
}

// selected is the title that is drawn in reverse, in place (col, row).
func (v *visit) selected(col, row int) bool {
	v.term.mu.Lock()
	defer v.term.mu.Unlock()
	return v.term.vt.Style(v.term.vt.Row(row).Cells()[col]).Attrs&vt.Inverse != 0
}

func TestTheGalleryIsLive(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		require.Contains(t, v.term.text(), "looking for sessions")
		v.lists(2, 1, 4)
		require.Equal(t, map[byte]domain.Size{1: {Cols: 24, Rows: 5}, 2: {Cols: 24, Rows: 5}, 4: {Cols: 24, Rows: 5}}, v.house.sizes())
		v.house.show(2, "here\r\nit is")
		v.house.show(1, "over there\x1b[?7l\x1b[5;20H世界end")
		v.shows(
			" s2  title 2              desk:s1  title 1",
			"here                     over there",
			"it is", "", "",
			"                                            世界d",
			" s4  title 4", "", "", "", "", "",
			" arrows choose, Enter attaches, q leaves",
		)
		v.house.show(2, "another")
		v.settle()
		require.Contains(t, v.term.text(), "another  ")
		require.NotContains(t, v.term.text(), "it is", "a picture is complete")
	})
}

func TestOneIsChosen(t *testing.T) {
	for _, c := range []struct {
		keys string
		want byte
	}{
		{"\r", 2},
		{"\x1b[C\r", 1},
		{"\x1b[B\r", 4},
		{"l\r", 1},
		{"j\r", 4},
		{"jjk\r", 2},
		{"\x1b[D\r", 2},
		{"\t\t\r", 4},
		{"\t\t\t\r", 2},
		{"G\r", 4},
		{"Gg\r", 2},
		{"\x1bOC\x1bOD\x1bOC\r", 1},
		{"x\x1b[200~G\x1b[201~\r", 2},
	} {
		visiting(t, 49, 13, func(v *visit) {
			v.lists(2, 1, 4)
			v.types(c.keys)
			<-v.done
			require.NoError(t, v.err, "%q", c.keys)
			require.True(t, v.ok)
			require.Equal(t, session(c.want), v.chosen, "%q", c.keys)
		})
	}
}

func TestItIsLeft(t *testing.T) {
	for _, keys := range []string{"q", "\x03", "\x1b", "\x1b[113u"} {
		visiting(t, 49, 13, func(v *visit) {
			v.lists(2, 1)
			v.types(keys)
			<-v.done
			require.NoError(t, v.err)
			require.False(t, v.ok)
		})
	}
}

func TestTheSelectedOneStaysSelected(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.lists(2, 1, 4)
		v.types("G")
		require.True(t, v.selected(1, 6))
		v.lists(4, 2, 1)
		require.True(t, v.selected(1, 0))
		v.lists(2, 1)
		v.types("\r")
		<-v.done
		require.Equal(t, session(2), v.chosen, "what takes the place of one that has gone")
	})
}

// Lists may come while readers of pictures begin; the race detector watches.
func TestListsBesideReaders(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		for range 8 {
			v.house.lists <- []ports.Session{session(2), session(1)}
		}
		v.settle()
		v.house.show(1, "still")
		v.settle()
		require.Contains(t, v.term.text(), "still")
	})
}

func TestMoreThanFitAreScrolled(t *testing.T) {
	visiting(t, 30, 13, func(v *visit) {
		v.lists(2, 4, 6, 8, 10)
		require.Len(t, v.house.sizes(), 2)
		require.Contains(t, v.term.text(), "1 of 5")
		v.types("jj")
		require.Contains(t, v.term.text(), "s6")
		require.NotContains(t, v.term.text(), "s2")
		require.Equal(t, map[byte]domain.Size{4: {Cols: 30, Rows: 5}, 6: {Cols: 30, Rows: 5}}, v.house.sizes(), "only what is visible is looked at")
	})
}

func TestWithoutSessions(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.lists()
		require.Contains(t, v.term.text(), "no sessions; q leaves")
		v.types("\r\x1b[B")
		v.lists(2)
		require.Contains(t, v.term.text(), "s2")
	})
}

func TestAPictureThatFails(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.house.fail[domain.SessionID{1}] = fault.New(fault.Unavailable, "no way there")
		v.lists(2, 1)
		require.Contains(t, v.term.text(), "desk:s1: unavailable")
		v.house.mu.Lock()
		v.house.fail = nil
		v.house.mu.Unlock()
		v.lists(2, 1)
		v.house.show(1, "back")
		v.settle()
		require.Contains(t, v.term.text(), "back")
		require.NotContains(t, v.term.text(), "unavailable")
	})
}

func TestAnotherSize(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.lists(2, 1)
		v.term.mu.Lock()
		v.term.size = domain.Size{Cols: 100, Rows: 11}
		v.term.vt.Resize(100, 11)
		v.term.mu.Unlock()
		v.term.events <- ports.TerminalResized
		v.settle()
		require.Equal(t, map[byte]domain.Size{1: {Cols: 49, Rows: 9}, 2: {Cols: 49, Rows: 9}}, v.house.sizes())
		for _, size := range []domain.Size{{Cols: 1, Rows: 1}, {Cols: 2, Rows: 2}, {Cols: 300, Rows: 3}} {
			v.term.mu.Lock()
			v.term.size = size
			v.term.vt.Resize(size.Cols, size.Rows)
			v.term.mu.Unlock()
			v.term.events <- ports.TerminalResized
			v.settle()
		}
	})
}

func TestAStop(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.lists(2)
		v.term.events <- ports.TerminalSuspend
		v.settle()
		v.term.events <- ports.TerminalResumed
		v.settle()
		require.Contains(t, strings.Join(v.term.calls, " "), "raw suspend raw raw")
		require.Contains(t, v.term.text(), "s2")
	})
}

func TestTheEndOfTheTerminal(t *testing.T) {
	for event, says := range map[ports.TerminalEvent]string{ports.TerminalHungUp: "hung up", ports.TerminalTerminate: "asked to end"} {
		visiting(t, 49, 13, func(v *visit) {
			v.term.events <- event
			<-v.done
			require.ErrorContains(t, v.err, says)
			require.Equal(t, fault.Canceled, fault.KindOf(v.err))
		})
	}
	visiting(t, 49, 13, func(v *visit) {
		v.term.Close()
		<-v.done
		require.Equal(t, fault.Unavailable, fault.KindOf(v.err))
		v.term.vt.Write([]byte("\x1b[?1049l\x1b[?25h")) // it takes nothing
	})
}

// A terminal that takes nothing does not keep the user.
func TestAStuckTerminalIsLeft(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.lists(2)
		v.term.mu.Lock()
		v.term.stuck = make(chan struct{})
		v.term.mu.Unlock()
		v.house.show(2, "never seen")
		v.settle()
		before := time.Now()
		v.term.typed <- []byte("q")
		<-v.done
		require.NoError(t, v.err)
		require.LessOrEqual(t, time.Since(before), leaveGrace)
		v.term.vt.Write([]byte("\x1b[?1049l\x1b[?25h")) // what it did not take
	})
}

func TestFailuresEndIt(t *testing.T) {
	visiting(t, 49, 13, func(v *visit) {
		v.house.lists <- nil
		<-v.done
		require.Equal(t, fault.Internal, fault.KindOf(v.err))
		require.ErrorContains(t, v.err, "a list that is none")
	})
	visiting(t, 49, 13, func(v *visit) {
		v.stop(errors.New("enough"))
		<-v.done
		require.ErrorContains(t, v.err, "enough")
	})
}
