package daemon

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// watcher is a client that keeps the list it was told.
type watcher struct {
	w        *world
	p        *pipe
	revision uint64
	list     map[domain.SessionID]domain.SessionInfo
	updates  int
	messages int
}

func (w *world) watch() *watcher {
	w.t.Helper()
	v := &watcher{w: w, p: w.dial(), list: map[domain.SessionID]domain.SessionInfo{}}
	v.p.toServer <- &protocol.Watch{Catalogue: &protocol.WatchCatalogue{}}
	require.Equal(w.t, &protocol.Watching{Catalogue: &protocol.WatchAnswer{}}, <-v.p.toClient)
	return v
}

// settle takes what comes until nothing does for a second of virtual time.
func (v *watcher) settle() *watcher {
	v.w.t.Helper()
	for {
		select {
		case m := <-v.p.toClient:
			v.apply(m.(*protocol.CatalogueUpdate))
		case <-time.After(time.Second):
			return v
		}
	}
}

func (v *watcher) apply(m *protocol.CatalogueUpdate) {
	v.w.t.Helper()
	v.messages++
	require.Equal(v.w.t, v.revision, m.Base)
	require.Equal(v.w.t, v.revision+1, m.Revision)
	for _, s := range m.Sessions {
		v.list[s.ID] = s
	}
	for _, id := range m.Gone {
		require.Contains(v.w.t, v.list, id)
		delete(v.list, id)
	}
	if !m.More {
		v.revision, v.updates = m.Revision, v.updates+1
	}
}

// agrees: what was told is what a list says.
func (v *watcher) agrees() {
	v.w.t.Helper()
	want := map[domain.SessionID]domain.SessionInfo{}
	for _, s := range v.w.list() {
		want[s.ID] = s
	}
	require.Equal(v.w.t, want, v.list)
}

func TestWatchNeedsAPartThatIsKnown(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.dial()
		p.toServer <- &protocol.Watch{}
		require.Equal(t, fault.Unsupported, (<-p.toClient).(*protocol.Refused).Failure.Kind)
		p.Close()
	})
}

func TestPartsThatAreNotServedAreRefusedByThemselves(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.dial()
		p.toServer <- &protocol.Watch{
			Catalogue: &protocol.WatchCatalogue{}, Events: &protocol.WatchEvents{Session: "none"}, Previews: &protocol.WatchPreviews{},
		}
		answer := (<-p.toClient).(*protocol.Watching)
		require.Nil(t, answer.Catalogue.Failure)
		require.Equal(t, fault.NotFound, answer.Events.Failure.Kind)
		require.Equal(t, fault.NotFound, answer.Previews.Failure.Kind)
		require.Equal(t, &protocol.CatalogueUpdate{Revision: 1}, <-p.toClient, "an empty list is told too")
		p.Close()
	})
}

func TestAWatchIsToldWhatChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		v := w.watch().settle()
		v.agrees()
		step := func(what string, change func()) {
			t.Helper()
			before := v.updates
			change()
			v.settle().agrees()
			require.Greater(t, v.updates, before, what)
		}
		var at *viewer
		step("created", func() { w.create("b") })
		step("renamed", func() { require.Nil(t, w.ask(0, &protocol.Rename{Session: "b", Name: "c"}).Failure) })
		step("title", func() { a.print("\x1b]2;building\a") })
		step("attached", func() { at = w.attach(protocol.Attach{Session: "a"}); at.settle() })
		step("resized", func() { at.p.toServer <- &protocol.Resize{Size: domain.Size{Cols: 100, Rows: 30}}; at.settle() })
		step("policy", func() { w.ask(0, &protocol.SetSize{Session: "a", Policy: domain.SizeLargest}) })
		step("lost", func() { at.p.Close() })
		step("back", func() { at.resume(); at.settle() })
		step("detached", func() { at.p.toServer <- &protocol.Detach{}; at.settle(); at.p.Close() })
		step("used", func() { time.Sleep(time.Minute); w.ask(0, &protocol.Type{Session: "a", Data: []byte("x")}) })
		step("locked", func() { require.Nil(t, w.ask(0, &protocol.Lock{Session: "a", Locked: true}).Failure) })
		step("at its prompt", func() { a.print("\x1b]133;A\a") })
		step("wants somebody", func() { a.print("\a") })
		step("exited", func() { a.end(domain.ExitStatus{Code: 3}) })
		step("gone", func() { w.ask(0, &protocol.Kill{Session: "c"}) })
		before := v.updates
		w.attach(protocol.Attach{Session: "a"}).settle()
		v.settle().agrees()
		require.Greater(t, v.updates, before, "looked at, and so gone")
		require.Empty(t, v.list)
		v.p.Close()
	})
}

func TestAWatchIsToldNothingWhereNothingChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		v := w.watch().settle()
		a.print("output\r\n")
		a.print("\x1b]2;\a") // the title that it has
		v.settle()
		time.Sleep(time.Hour)
		require.Equal(t, 1, v.settle().updates)
		v.p.Close()
	})
}

// A title that changes all the time is told at a bounded rate, and the last one is.
func TestAWatchIsToldTheNewestAtABoundedRate(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		v := w.watch().settle()
		before := v.updates
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 1000 {
				a.print("\x1b]2;" + strconv.Itoa(i) + "\a")
				time.Sleep(time.Millisecond)
			}
		}()
		v.settle()
		<-done
		require.LessOrEqual(t, v.updates-before, 1+int(time.Second/rowsInterval))
		require.Greater(t, v.updates-before, 10)
		v.agrees()
		v.p.Close()
	})
}

// A client that reads nothing for an hour gets one update for all of it.
func TestAWatchThatDoesNotReadGetsTheNewestState(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		v := w.watch().settle()
		for i := range 50 {
			name := "s" + strconv.Itoa(i)
			w.create(name)
			a.print("\x1b]2;" + strconv.Itoa(i) + "\a")
			if i >= 10 {
				w.ask(0, &protocol.Kill{Session: name})
			}
		}
		for i := range 3 * maxDirty { // as many have come and gone
			w.d.rows.note(domain.SessionID{byte(i >> 8), byte(i), 1})
		}
		time.Sleep(time.Hour)
		w.d.rows.mu.Lock()
		for watch := range w.d.rows.watches {
			require.LessOrEqual(t, len(watch.dirty), maxDirty)
		}
		w.d.rows.mu.Unlock()
		before := v.updates
		v.settle().agrees()
		require.Len(t, v.list, 11)
		require.LessOrEqual(t, v.updates-before, 3, "one in the pipe, one that waited to be sent, one for the rest")
		v.p.Close()
	})
}

func TestALongListIsToldInParts(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 200 {
			p := w.create("s" + strconv.Itoa(i))
			p.print("\x1b]2;" + strings.Repeat("t", 2000) + "\a")
		}
		synctest.Wait()
		v := w.watch().settle()
		require.Len(t, v.list, 200)
		require.Equal(t, 1, v.updates)
		require.Equal(t, 1, v.messages)
		for i := range 200 {
			w.ask(0, &protocol.New{Create: protocol.Create{
				Name: "l" + strconv.Itoa(i), Command: domain.Command{Argv: []string{"prog", strings.Repeat("x", 5000), "y"}},
			}})
			w.ps.last().print("\x1b]2;" + strings.Repeat("t", 2000) + "\a")
		}
		synctest.Wait()
		v.p.Close()
		v = w.watch().settle()
		require.Len(t, v.list, 400)
		require.Equal(t, 1, v.updates)
		require.Greater(t, v.messages, 1)
		for _, s := range v.list {
			require.LessOrEqual(t, len(s.Title), protocol.MaxRowTextBytes)
			require.LessOrEqual(t, len(strings.Join(s.Command, "")), protocol.MaxRowTextBytes)
		}
		v.p.Close()
	})
}

func TestAWatcherMustNotSpeak(t *testing.T) {
	inWorld(t, func(w *world) {
		v := w.watch().settle()
		v.p.toServer <- &protocol.Detach{}
		<-v.p.closed
	})
}

func TestADaemonStaysWhileItIsWatched(t *testing.T) {
	inWorld(t, func(w *world) {
		v := w.watch().settle()
		over := make(chan error, 1)
		w.wg.Go(func() { over <- w.d.Run(context.Background()) })
		time.Sleep(time.Hour)
		require.Empty(t, over)
		v.p.Close()
		require.NoError(t, <-over)
	})
}

func TestWhatNobodyWatchesIsNotNoted(t *testing.T) {
	inWorld(t, func(w *world) {
		v := w.watch().settle()
		v.p.Close()
		synctest.Wait()
		require.Zero(t, w.d.rows.watched.Load())
		require.Zero(t, testing.AllocsPerRun(10, func() { w.d.rows.note(domain.SessionID{1}) }))
	})
}
