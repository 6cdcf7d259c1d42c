package daemon

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// listener is a client that watches events.
type listener struct {
	w    *world
	p    *pipe
	got  []domain.Event
	gaps []protocol.EventGap
	last uint64
	most int // events of one message
}

func (w *world) listen(m protocol.WatchEvents) *listener {
	w.t.Helper()
	l := &listener{w: w, p: w.dial()}
	l.p.toServer <- &protocol.Watch{Events: &m}
	answer := (<-l.p.toClient).(*protocol.Watching)
	require.Nil(w.t, answer.Events.Failure)
	l.settle()
	return l
}

// settle takes what there is.
func (l *listener) settle() {
	for {
		synctest.Wait()
		select {
		case m := <-l.p.toClient:
			e := m.(*protocol.WatchedEvents)
			l.got, l.most = append(l.got, e.Events...), max(l.most, len(e.Events))
			if e.Gap != (protocol.EventGap{}) {
				l.gaps = append(l.gaps, e.Gap)
			}
			require.GreaterOrEqual(l.w.t, e.Last, l.last)
			l.last = e.Last
		default:
			return
		}
	}
}

func (l *listener) types() (list []string) {
	for _, e := range l.got {
		list = append(list, e.Type.String())
	}
	l.got = nil
	return list
}

func TestWhatHappensIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		l := w.listen(protocol.WatchEvents{Live: true})
		p := w.shell(true)
		p.print("\a\x1b]0;title\a\x1b]9;note\a\x1b]9;4;1;50\a\x1b]52;c;aGk=\a\x1b]7;file:///tmp\a")
		l.settle()
		require.Equal(t, []string{
			"created", "prompt", "command-start", "command-end", "prompt", "bell", "title", "notification", "progress", "clipboard", "cwd",
		}, l.types())
		time.Sleep(2 * domain.IdleAfter)
		p.foreground(ports.TerminalUse{Pid: 5000, Argv: []string{"vim", "x"}, Told: true, Reads: true})
		p.print("x")
		time.Sleep(2 * stirLook)
		v := w.attach(protocol.Attach{Session: "work", Size: domain.Size{Cols: 100, Rows: 30}})
		v.p.Close()
		l.settle()
		require.Equal(t, []string{"idle", "activity", "foreground", "attached", "resized", "detached"}, l.types())
		require.Nil(t, w.ask(0, &protocol.DetachAll{Session: "work"}).Failure)
		v.resume() // to hear that it is over
		v.p.Close()
		l.settle()
		require.Empty(t, l.types(), "it was not there")
		require.Nil(t, w.ask(0, &protocol.Rename{Session: "work", Name: "play"}).Failure)
		require.Nil(t, w.ask(0, &protocol.Lock{Session: "play", Locked: true, Author: "me"}).Failure)
		p.end(domain.ExitStatus{Code: 3})
		l.settle()
		require.Len(t, l.got, 3)
		require.Equal(t, "play", l.got[0].Name)
		require.Equal(t, "work", l.got[0].Text)
		require.Equal(t, domain.Event{
			Seq: l.last, At: l.got[2].At, Session: l.got[0].Session, Name: "play", Type: domain.EventExited, Text: "status 3", HasStatus: true, Status: 3,
		}, l.got[2])
	})
}

// What a program says at once is told up to the engine's bound, and then how much is missing.
func TestWhatIsTooMuchAtOnceIsCounted(t *testing.T) {
	for _, more := range []int{0, 3} {
		inWorld(t, func(w *world) {
			p := w.shell(false)
			l := w.listen(protocol.WatchEvents{Live: true})
			p.print(strings.Repeat("\x1b]9;note\a", 256+more))
			l.settle()
			if more > 0 {
				require.Equal(t, domain.EventLost, l.got[0].Type)
				require.Equal(t, more, l.got[0].Count)
				l.got = l.got[1:]
			}
			require.Len(t, l.got, 256)
			for _, e := range l.got {
				require.Equal(t, domain.EventNotification, e.Type)
			}
		})
	}
}

// A client that comes back gets what it missed, each once; what is not kept any more is a gap.
func TestEventsGoOnBehindTheLastOne(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("work")
		l := w.listen(protocol.WatchEvents{Session: "work", Types: domain.EventSet(0).With(domain.EventTitle)})
		title := func(from, to int) {
			for n := from; n < to; n++ {
				p.print("\x1b]0;" + strconv.Itoa(n) + "\a")
				synctest.Wait()
			}
		}
		check := func(l *listener, from, to int) {
			t.Helper()
			l.settle()
			require.Len(t, l.got, to-from)
			for i, e := range l.got {
				require.Equal(t, strconv.Itoa(from+i), e.Text)
			}
		}
		title(0, 10)
		check(l, 0, 10)
		l.p.Close()
		title(10, 20)
		l = w.listen(protocol.WatchEvents{Session: "work", Since: l.last, Types: domain.EventSet(0).With(domain.EventTitle)})
		check(l, 10, 20)
		require.Empty(t, l.gaps)
		l.p.Close()
		title(20, 20+2*eventsOfSession)
		l = w.listen(protocol.WatchEvents{Session: "work", Since: l.last, Types: domain.EventSet(0).With(domain.EventTitle)})
		check(l, 20+eventsOfSession, 20+2*eventsOfSession)
		require.Equal(t, protocol.MaxWatchedEvents, l.most, "of more the next message tells")
		require.Len(t, l.gaps, 1)
		require.Less(t, l.gaps[0].From, l.gaps[0].To)
		require.LessOrEqual(t, l.gaps[0].To, l.got[0].Seq)

		before := w.listen(protocol.WatchEvents{Since: 5})
		require.Equal(t, protocol.EventGap{From: 6, To: w.d.eventBase}, before.gaps[0], "a daemon before this one told that")
		require.Empty(t, w.listen(protocol.WatchEvents{}).gaps, "all that there is was asked for")
	})
}

// Of many sessions more is kept than waits for one client, and one of them has lost events: what is kept of the others comes whole.
func TestAGapOfOneSessionIsNoneOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		const sessions = 3 * eventBuffer / eventsOfSession
		l := w.listen(protocol.WatchEvents{Live: true})
		p := w.create("loses")
		l.settle()
		l.p.Close()
		titles := func(p *program, n int) {
			for i := range n {
				p.print("\x1b]0;" + strconv.Itoa(i) + "\a")
				synctest.Wait()
			}
		}
		titles(p, eventsOfSession+1)
		for i := range sessions {
			titles(w.create("keeps"+strconv.Itoa(i)), eventsOfSession-10)
		}
		for _, since := range []uint64{l.last, 0} {
			all := w.listen(protocol.WatchEvents{Since: since, Types: domain.EventSet(0).With(domain.EventTitle)})
			require.Equal(t, since != 0, len(all.gaps) == 1)
			count := map[string]int{}
			for _, e := range all.got {
				count[e.Name]++
			}
			require.Equal(t, eventsOfSession, count["loses"])
			for i := range sessions {
				require.Equal(t, eventsOfSession-10, count["keeps"+strconv.Itoa(i)])
			}
			all.p.Close()
		}
	})
}

// A session's end is told to a client that comes back after it, by the id that it has known; and not to one that knows it.
func TestTheEndOfASessionThatIsGone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("work")
		l := w.listen(protocol.WatchEvents{Session: "work"})
		id, last := l.got[0].Session.String(), l.last
		l.p.Close()
		require.Nil(t, w.ask(0, &protocol.Kill{Session: "work"}).Failure)
		p.end(domain.ExitStatus{Code: 3})
		synctest.Wait()
		require.Empty(t, w.list())
		again := w.listen(protocol.WatchEvents{Session: id, Since: last})
		require.Equal(t, domain.EventExited, again.got[len(again.got)-1].Type)
		again.p.Close()
		for _, m := range []protocol.WatchEvents{{Session: id, Since: again.last}, {Session: id}, {Session: "work", Since: last}} {
			c := w.dial()
			c.toServer <- &protocol.Watch{Events: &m}
			require.Equal(t, fault.NotFound, (<-c.toClient).(*protocol.Watching).Events.Failure.Kind)
			c.Close()
		}
	})
}

// A client that takes nothing misses nothing that is kept, and holds nobody up.
func TestASlowListenerIsNotWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("work")
		slow := w.listen(protocol.WatchEvents{Live: true})
		for n := range 4 * eventBuffer {
			p.print("\x1b]0;" + strconv.Itoa(n) + "\a")
			synctest.Wait()
		}
		slow.settle()
		require.Len(t, slow.gaps, 1)
		last := slow.got[len(slow.got)-1]
		require.Equal(t, strconv.Itoa(4*eventBuffer-1), last.Text)
		seen := map[uint64]bool{}
		for _, e := range slow.got {
			require.False(t, seen[e.Seq], "twice: %d", e.Seq)
			seen[e.Seq] = true
		}
	})
}

func (w *world) await(timeout time.Duration, m protocol.Await) *protocol.Result {
	m.Session = "work"
	return w.ask(timeout, &m)
}

func TestWaitingForTheFirstOfSeveral(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		met := func(m protocol.Await) *protocol.Awaited {
			t.Helper()
			r := w.await(time.Minute, m)
			require.Nil(t, r.Failure, "%+v", r.Failure)
			return r.Body.(*protocol.Awaited)
		}
		later := func(do func()) {
			w.wg.Go(func() { time.Sleep(time.Second); do() })
		}
		require.Equal(t, "prompt", met(protocol.Await{Prompt: true, Exit: true}).Met)
		last := met(protocol.Await{States: domain.ActivitySet(0).With(domain.AtPrompt)})
		require.Equal(t, "state", last.Met)
		bells := domain.EventSet(0).With(domain.EventBell)
		later(func() { p.print("\a") })
		got := met(protocol.Await{Events: bells, Exit: true})
		require.Equal(t, domain.EventBell, got.Event.Type)
		require.Equal(t, domain.Attention, got.Condition.Activity)
		require.Equal(t, got.Event, met(protocol.Await{Events: bells, Since: last.Last}).Event, "since then it has happened already")
		later(func() { p.print("x") })
		require.Equal(t, "changed", met(protocol.Await{Changed: true}).Met)
		require.Equal(t, "idle", met(protocol.Await{Idle: time.Second, Text: "never"}).Met)
		require.Equal(t, fault.Timeout, w.await(time.Second, protocol.Await{Text: "never", Changed: true}).Failure.Kind)
		p.print("\x1b]133;C\a")
		later(func() {
			p.foreground(ports.TerminalUse{Pid: 4711, Argv: []string{"ssh"}, Told: true, Canonical: true, Reads: true})
		})
		got = met(protocol.Await{States: domain.ActivitySet(0).With(domain.AtInput), Events: bells})
		require.Equal(t, "state", got.Met)
		later(func() { p.end(domain.ExitStatus{Code: 2}) })
		got = met(protocol.Await{Exit: true, Prompt: true})
		require.Equal(t, domain.ExitStatus{Code: 2}, got.Exit)
		require.Equal(t, fault.Conflict, w.await(time.Second, protocol.Await{Prompt: true}).Failure.Kind)
	})
}
