package daemon

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// The three clients of the size tests.
var (
	wall  = domain.Size{Cols: 200, Rows: 50}
	desk  = domain.Size{Cols: 80, Rows: 24}
	phone = domain.Size{Cols: 45, Rows: 20}
)

// told is every size the program was given since the last call.
func (p *program) told() []domain.Size {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	sizes := p.sizes
	p.sizes = nil
	return sizes
}

func (v *viewer) resize(size domain.Size) { v.p.toServer <- &protocol.Resize{Size: size} }

func (v *viewer) focus(in bool) { v.p.toServer <- &protocol.Focus{In: in} }

func (w *world) attachAt(size domain.Size) *viewer {
	v := w.attach(protocol.Attach{Session: "a", Size: size})
	synctest.Wait()
	return v
}

func TestTheSizeFollowsWhoeverIsUsed(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		big, small := w.attachAt(wall), w.attachAt(phone)
		require.Equal(t, []domain.Size{wall, phone}, p.told(), "attaching is a use, at once")
		time.Sleep(turnInterval)
		big.typeIn("x")
		require.Equal(t, []domain.Size{wall}, p.told(), "so is typing")
		time.Sleep(turnInterval)
		small.resize(domain.Size{Cols: 50, Rows: 20})
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "resizing is not")
		small.resumeAt(phone)
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "nor is coming back")
		small.focus(true)
		require.Equal(t, []domain.Size{phone}, p.told(), "getting the focus is")
		big.focus(false)
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "losing it is not")
		small.p.Close()
		require.Equal(t, []domain.Size{wall}, p.told(), "who is left decides at once")
		small.resumeAt(phone)
		require.Equal(t, []domain.Size{phone}, p.told(), "it was used last, and is there again")
		time.Sleep(time.Second)
		big.typeIn("y")
		require.Equal(t, []domain.Size{wall}, p.told())
		small.resumeAt(phone)
		small.focus(true)
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "having the focus still is no news")
		require.Nil(t, w.ask(0, &protocol.Type{Session: "a", Data: []byte("script")}).Failure)
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "a script has no size")
		require.Equal(t, "xyscript", p.typed())
	})
}

func TestPoliciesOfSizes(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		set := func(policy domain.SizePolicy, size domain.Size) []domain.Size {
			t.Helper()
			require.Nil(t, w.ask(0, &protocol.SetSize{Session: "a", Policy: policy, Size: size}).Failure)
			return p.told()
		}
		tall := domain.Size{Cols: 30, Rows: 60}
		big, small := w.attachAt(wall), w.attachAt(tall)
		p.told()
		require.Equal(t, []domain.Size{{Cols: 30, Rows: 50}}, set(domain.SizeSmallest, domain.Size{}))
		require.Equal(t, []domain.Size{{Cols: 200, Rows: 60}}, set(domain.SizeLargest, domain.Size{}))
		small.p.Close()
		require.Equal(t, []domain.Size{wall}, p.told())
		small.resumeAt(tall)
		require.Equal(t, []domain.Size{{Cols: 200, Rows: 60}}, p.told())
		require.Empty(t, set(domain.SizeFixed, domain.Size{}), "fixed at what it is")
		require.Equal(t, []domain.Size{desk}, set(domain.SizeFixed, desk))
		time.Sleep(time.Second)
		big.typeIn("x")
		small.resize(phone)
		synctest.Wait()
		w.attachAt(phone)
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "fixed is fixed")
		require.Equal(t, domain.SizeFixed, w.list()[0].Policy)
		require.Equal(t, []domain.Size{phone}, set(domain.SizeLatest, domain.Size{}))
	})
}

func TestAPolicyIsGivenWithANewSession(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "a", Size: desk, Policy: domain.SizeFixed}})
		require.Nil(t, r.Failure)
		v := w.attachAt(wall)
		v.settle()
		require.Equal(t, desk, v.attached.Size)
		require.Empty(t, w.ps.last().told())
		require.Equal(t, domain.SizeFixed, v.policy, "the client is told why")
		require.Nil(t, w.ask(0, &protocol.SetSize{Session: "a", Policy: domain.SizeSmallest, Size: desk}).Failure)
		v.settle()
		require.Equal(t, []domain.Size{wall}, w.ps.last().told())
		require.Nil(t, w.ask(0, &protocol.SetSize{Session: "a", Policy: domain.SizeLargest}).Failure)
		v.settle()
		require.Equal(t, domain.SizeLargest, v.policy, "also when nothing else changes")
	})
}

func TestADragGivesTheProgramFewSizes(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attachAt(desk)
		v.quiet = true
		p.told()
		time.Sleep(dragInterval)
		size := desk
		for i := range 50 { // half a second
			size.Cols++
			v.resize(size)
			if synctest.Wait(); i == 0 {
				require.Equal(t, []domain.Size{{Cols: 81, Rows: 24}}, p.told(), "the first at once")
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(dragInterval)
		sizes := p.told()
		require.LessOrEqual(t, len(sizes), 6)
		require.Equal(t, size, sizes[len(sizes)-1], "the last one arrives")
		time.Sleep(time.Minute)
		require.Empty(t, p.told(), "and is the last")
	})
}

func TestADragThatEndsWhereItBeganIsNone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attachAt(desk)
		time.Sleep(time.Second)
		v.resize(wall)
		require.Equal(t, []domain.Size{desk, wall}, append([]domain.Size{desk}, p.told()...))
		v.resize(phone)
		v.resize(wall)
		time.Sleep(time.Second)
		require.Empty(t, p.told())
	})
}

func TestTypingInTurnDoesNotRedrawAtEachKey(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		big, small := w.attachAt(wall), w.attachAt(phone)
		time.Sleep(time.Second)
		p.told()
		for range 50 { // five seconds
			big.typeIn("x")
			time.Sleep(50 * time.Millisecond)
			small.typeIn("y")
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			select { // acknowledgements; the clients need not show anything
			case <-big.p.toClient:
			case <-small.p.toClient:
			default:
			}
		}
		require.LessOrEqual(t, len(p.told()), 10)
		time.Sleep(time.Second)
		p.told()
		require.Equal(t, phone, p.size, "the one who typed last")
	})
}

func TestASizeThatWaitsDoesNotOutliveTheProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attachAt(desk)
		time.Sleep(time.Second)
		v.resize(wall)
		v.resize(phone)
		require.Equal(t, []domain.Size{wall}, p.told())
		p.end(domain.ExitStatus{})
		v.settle()
		require.Empty(t, p.told())
		require.Equal(t, protocol.EndExited, v.ended.Reason)
		require.Equal(t, fault.NotFound, w.ask(0, &protocol.SetSize{Session: "a", Policy: domain.SizeFixed}).Failure.Kind)
	})
}

func TestSendingAwayIsFollowedAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		small, big := w.attachAt(phone), w.attachAt(wall)
		p.told()
		list := w.ask(0, &protocol.Clients{}).Body.(*protocol.ClientList).List
		require.Nil(t, w.ask(0, &protocol.DetachClient{Session: "a", Client: list[1].ID}).Failure)
		require.Equal(t, []domain.Size{phone}, p.told(), "whether or not it hears that")
		require.Equal(t, 1, w.list()[0].Attached)
		big.settle()
		require.Equal(t, protocol.EndDetached, big.ended.Reason)
		small.settle()
		require.Nil(t, small.ended)
	})
}

// A read-only client decides nothing, and its conversation changes nothing.
func TestReadOnlyClientsChangeNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("\x1b[?1004h")
		user := w.attachAt(desk)
		user.focus(false)
		synctest.Wait()
		p.told()
		before := p.typed()
		ro := w.attach(protocol.Attach{Session: "a", Size: phone, ReadOnly: true})
		synctest.Wait()
		used := w.list()[0].LastUsed
		time.Sleep(time.Second)
		ro.resize(wall)
		ro.focus(true)
		synctest.Wait()
		require.Equal(t, used, w.list()[0].LastUsed)
		ro.focus(true)
		ro.resumeAt(wall)
		ro.focus(true)
		for _, policy := range []domain.SizePolicy{domain.SizeSmallest, domain.SizeLargest, domain.SizeLatest} {
			require.Nil(t, w.ask(0, &protocol.SetSize{Session: "a", Policy: policy}).Failure)
		}
		time.Sleep(time.Second)
		require.Empty(t, p.told(), "no size")
		p.print("\x1b[6n\x1b[c")
		ro.settle()
		require.NotContains(t, p.typed()[len(before):], "\x1b[I", "no focus")
		answered := p.typed()
		id := w.ask(0, &protocol.Clients{Session: "a"}).Body.(*protocol.ClientList).List[0].ID
		for n, body := range []protocol.RequestBody{
			&protocol.Type{Session: "a", Data: []byte("x")}, &protocol.Keys{Session: "a", Names: []string{"Enter"}},
			&protocol.Paste{Session: "a", Data: []byte("x"), Begin: true}, &protocol.Kill{Session: "a"},
			&protocol.Rename{Session: "a", Name: "b"}, &protocol.DetachAll{Session: "a"},
			&protocol.DetachClient{Session: "a", Client: id}, &protocol.SetSize{Session: "a", Policy: domain.SizeFixed, Size: wall},
			&protocol.New{},
		} {
			r := ro.ask(uint64(n+1), body)
			require.NotNil(t, r.Failure, "%T", body)
			require.Equal(t, fault.Denied, r.Failure.Kind, "%T", body)
		}
		for n, body := range []protocol.RequestBody{
			&protocol.History{Session: "a", Count: 1}, &protocol.Search{Session: "a", Pattern: "x"}, &protocol.Capture{Session: "a"},
			&protocol.List{}, &protocol.Clients{}, &protocol.Stats{}, &protocol.Wait{Session: "a", Idle: time.Millisecond},
		} {
			require.Nil(t, ro.ask(uint64(n+100), body).Failure, "%T", body)
		}
		require.Equal(t, answered, p.typed(), "nothing was typed; the daemon had answered the program")
		require.Empty(t, p.told())
		require.Len(t, w.list(), 1)
		ro.typeIn("x")
		ro.settle()
		require.Equal(t, fault.Denied, ro.ended.Failure.Kind)
		require.Equal(t, answered, p.typed())
	})
}

// ask makes a request in the attachment's conversation.
func (v *viewer) ask(id uint64, body protocol.RequestBody) *protocol.Result {
	v.w.t.Helper()
	v.p.toServer <- &protocol.Request{ID: id, Body: body}
	for {
		m := <-v.p.toClient
		if r, ok := m.(*protocol.Result); ok {
			return r
		}
		v.apply(m)
	}
}

func TestClientsAreListed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		w.create("b")
		origin := domain.Origin{Terminal: "xterm-kitty", Host: "desk", Pid: 11}
		began := time.Now()
		one := w.attach(protocol.Attach{Session: "a", Size: desk, Origin: origin})
		two := w.attach(protocol.Attach{Session: "b", Size: phone, ReadOnly: true})
		time.Sleep(time.Minute)
		one.typeIn("x")
		synctest.Wait()
		list := w.ask(0, &protocol.Clients{}).Body.(*protocol.ClientList).List
		require.Len(t, list, 2)
		require.Equal(t, domain.ClientInfo{
			ID: 1, Session: one.attached.ID, SessionName: "a", Size: desk, Origin: origin,
			Attached: began, LastActive: began.Add(time.Minute),
		}, list[0])
		require.True(t, list[1].ReadOnly)
		two.p.toServer <- &protocol.Resize{Size: wall, Terminal: "foot"}
		two.resize(wall)
		synctest.Wait()
		list = w.ask(0, &protocol.Clients{Session: "b"}).Body.(*protocol.ClientList).List
		require.Len(t, list, 1)
		require.Equal(t, wall, list[0].Size)
		require.Equal(t, "foot", list[0].Origin.Terminal, "what was said later stays")
		require.Equal(t, fault.NotFound, w.ask(0, &protocol.Clients{Session: "c"}).Failure.Kind)
		require.Equal(t, fault.NotFound, w.ask(0, &protocol.DetachClient{Session: "b", Client: 1}).Failure.Kind, "it is of another session")
		two.resumeAt(desk)
		synctest.Wait()
		require.Equal(t, uint64(2), w.ask(0, &protocol.Clients{Session: "b"}).Body.(*protocol.ClientList).List[0].ID, "it is the same client")
		two.p.Close()
		synctest.Wait()
		require.Empty(t, w.ask(0, &protocol.Clients{Session: "b"}).Body.(*protocol.ClientList).List)
	})
}
