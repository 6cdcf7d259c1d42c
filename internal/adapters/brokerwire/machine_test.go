package brokerwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// inState returns a machine in a state, with stream 5 in a state of its own.
func inState(conn ConnState, stream StreamState) *Machine {
	m := NewMachine()
	if conn != ConnNew {
		m.PeerRegister()
	}
	if stream != StreamNever {
		m.PeerOpen(5)
	}
	switch stream {
	case StreamOpen:
		m.Opened(5)
	case StreamClosed:
		m.Close(5)
	}
	switch conn {
	case ConnClosing:
		m.Closing()
	case ConnClosed:
		m.Closed()
	}
	return m
}

// outcome of an event as one word.
func outcome(v Verdict, err *fault.Error) string {
	word := map[Verdict]string{Proceed: "proceed", Discard: "discard"}[v]
	if err != nil {
		word = strings.ReplaceAll(err.Kind.String(), " ", "-")
	}
	return word
}

func yes(ok bool) string { return map[bool]string{true: "yes", false: "no"}[ok] }

var machineEvents = []struct {
	name string
	do   func(m *Machine) string
}{
	{"peer registers", func(m *Machine) string { v, err := m.PeerRegister(); return outcome(v, err) }},
	{"peer opens it", func(m *Machine) string { v, err := m.PeerOpen(5); return outcome(v, err) }},
	{"peer opens the next", func(m *Machine) string { v, err := m.PeerOpen(6); return outcome(v, err) }},
	{"we grant it", func(m *Machine) string { return yes(m.Opened(5)) }},
	{"peer grants it", func(m *Machine) string { v, err := m.PeerOpened(5); return outcome(v, err) }},
	{"data or grant", func(m *Machine) string { v, err := m.PeerFrame(5); return outcome(v, err) }},
	{"peer closes it", func(m *Machine) string { v, err := m.PeerClose(5); return outcome(v, err) }},
	{"we close it", func(m *Machine) string { return yes(m.Close(5)) }},
	{"we open one", func(m *Machine) string { _, err := m.Open(); return outcome(Proceed, err) }},
	{"peer's operation", func(m *Machine) string { v, err := m.PeerOperation(testOp); return outcome(v, err) }},
	{"our operation", func(m *Machine) string { return outcome(Proceed, m.Operation(testOp)) }},
	{"result of none", func(m *Machine) string { v, err := m.PeerResult(testOp); return outcome(v, err) }},
	{"news of none", func(m *Machine) string { v, err := m.PeerProgress(testOp); return outcome(v, err) }},
	{"news of one that is under way", func(m *Machine) string {
		if m.Operation(testOp) != nil {
			return "it cannot be"
		}
		v, err := m.PeerProgress(testOp)
		return outcome(v, err)
	}},
	{"we say goodbye", func(m *Machine) string { m.Closing(); return m.State().String() }},
	{"the end", func(m *Machine) string { m.Closed(); return m.State().String() }},
}

// Every state x every event: what is to be done, and what stream 5 is afterwards.
func TestMachineMatrix(t *testing.T) {
	var b strings.Builder
	for _, e := range machineEvents {
		fmt.Fprintf(&b, "%s\n", e.name)
		for conn := ConnNew; conn <= ConnClosed; conn++ {
			for stream := StreamNever; stream <= StreamClosed; stream++ {
				if conn == ConnNew && stream != StreamNever {
					continue // no stream comes before registration
				}
				m := inState(conn, stream)
				if conn == ConnClosed && stream != StreamNever {
					stream = m.Stream(5) // nothing is live any more
				} else {
					require.Equal(t, stream, m.Stream(5))
				}
				got := e.do(m)
				fmt.Fprintf(&b, "\t%s, %s: %s, %s\n", conn, stream, got, m.Stream(5))
			}
		}
	}
	require.Equal(t, strings.TrimSpace(machineMatrix), strings.TrimSpace(b.String()))
}

const machineMatrix = `
peer registers
	new, never opened: proceed, never opened
	registered, never opened: violation, never opened
	registered, opening: violation, opening
	registered, open: violation, open
	registered, closed: violation, closed
	closing, never opened: violation, never opened
	closing, opening: violation, opening
	closing, open: violation, open
	closing, closed: violation, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
peer opens it
	new, never opened: violation, never opened
	registered, never opened: proceed, opening
	registered, opening: violation, opening
	registered, open: violation, open
	registered, closed: violation, closed
	closing, never opened: unavailable, closed
	closing, opening: violation, opening
	closing, open: violation, open
	closing, closed: violation, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
peer opens the next
	new, never opened: violation, never opened
	registered, never opened: proceed, closed
	registered, opening: proceed, opening
	registered, open: proceed, open
	registered, closed: proceed, closed
	closing, never opened: unavailable, closed
	closing, opening: unavailable, opening
	closing, open: unavailable, open
	closing, closed: unavailable, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
we grant it
	new, never opened: no, never opened
	registered, never opened: no, never opened
	registered, opening: yes, open
	registered, open: no, open
	registered, closed: no, closed
	closing, never opened: no, never opened
	closing, opening: yes, open
	closing, open: no, open
	closing, closed: no, closed
	closed, never opened: no, never opened
	closed, closed: no, closed
peer grants it
	new, never opened: violation, never opened
	registered, never opened: violation, never opened
	registered, opening: proceed, open
	registered, open: violation, open
	registered, closed: discard, closed
	closing, never opened: violation, never opened
	closing, opening: proceed, open
	closing, open: violation, open
	closing, closed: discard, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
data or grant
	new, never opened: violation, never opened
	registered, never opened: violation, never opened
	registered, opening: violation, opening
	registered, open: proceed, open
	registered, closed: discard, closed
	closing, never opened: violation, never opened
	closing, opening: violation, opening
	closing, open: proceed, open
	closing, closed: discard, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
peer closes it
	new, never opened: violation, never opened
	registered, never opened: violation, never opened
	registered, opening: proceed, closed
	registered, open: proceed, closed
	registered, closed: discard, closed
	closing, never opened: violation, never opened
	closing, opening: proceed, closed
	closing, open: proceed, closed
	closing, closed: discard, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
we close it
	new, never opened: no, never opened
	registered, never opened: no, never opened
	registered, opening: yes, closed
	registered, open: yes, closed
	registered, closed: no, closed
	closing, never opened: no, never opened
	closing, opening: yes, closed
	closing, open: yes, closed
	closing, closed: no, closed
	closed, never opened: no, never opened
	closed, closed: no, closed
we open one
	new, never opened: unavailable, never opened
	registered, never opened: proceed, never opened
	registered, opening: proceed, opening
	registered, open: proceed, open
	registered, closed: proceed, closed
	closing, never opened: unavailable, never opened
	closing, opening: unavailable, opening
	closing, open: unavailable, open
	closing, closed: unavailable, closed
	closed, never opened: unavailable, never opened
	closed, closed: unavailable, closed
peer's operation
	new, never opened: violation, never opened
	registered, never opened: proceed, never opened
	registered, opening: proceed, opening
	registered, open: proceed, open
	registered, closed: proceed, closed
	closing, never opened: unavailable, never opened
	closing, opening: unavailable, opening
	closing, open: unavailable, open
	closing, closed: unavailable, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
our operation
	new, never opened: unavailable, never opened
	registered, never opened: proceed, never opened
	registered, opening: proceed, opening
	registered, open: proceed, open
	registered, closed: proceed, closed
	closing, never opened: unavailable, never opened
	closing, opening: unavailable, opening
	closing, open: unavailable, open
	closing, closed: unavailable, closed
	closed, never opened: unavailable, never opened
	closed, closed: unavailable, closed
result of none
	new, never opened: violation, never opened
	registered, never opened: violation, never opened
	registered, opening: violation, opening
	registered, open: violation, open
	registered, closed: violation, closed
	closing, never opened: violation, never opened
	closing, opening: violation, opening
	closing, open: violation, open
	closing, closed: violation, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
news of none
	new, never opened: violation, never opened
	registered, never opened: violation, never opened
	registered, opening: violation, opening
	registered, open: violation, open
	registered, closed: violation, closed
	closing, never opened: violation, never opened
	closing, opening: violation, opening
	closing, open: violation, open
	closing, closed: violation, closed
	closed, never opened: discard, never opened
	closed, closed: discard, closed
news of one that is under way
	new, never opened: it cannot be, never opened
	registered, never opened: proceed, never opened
	registered, opening: proceed, opening
	registered, open: proceed, open
	registered, closed: proceed, closed
	closing, never opened: it cannot be, never opened
	closing, opening: it cannot be, opening
	closing, open: it cannot be, open
	closing, closed: it cannot be, closed
	closed, never opened: it cannot be, never opened
	closed, closed: it cannot be, closed
we say goodbye
	new, never opened: closing, never opened
	registered, never opened: closing, never opened
	registered, opening: closing, opening
	registered, open: closing, open
	registered, closed: closing, closed
	closing, never opened: closing, never opened
	closing, opening: closing, opening
	closing, open: closing, open
	closing, closed: closing, closed
	closed, never opened: closed, never opened
	closed, closed: closed, closed
the end
	new, never opened: closed, never opened
	registered, never opened: closed, never opened
	registered, opening: closed, closed
	registered, open: closed, closed
	registered, closed: closed, closed
	closing, never opened: closed, never opened
	closing, opening: closed, closed
	closing, open: closed, closed
	closing, closed: closed, closed
	closed, never opened: closed, never opened
	closed, closed: closed, closed
`

func TestStreamLimit(t *testing.T) {
	m := NewMachine()
	m.PeerRegister()
	for id := protocol.StreamID(1); id <= protocol.MaxStreams; id++ {
		v, err := m.PeerOpen(2 * id)
		require.Nil(t, err)
		require.Equal(t, Proceed, v)
	}
	_, err := m.PeerOpen(1000)
	require.Equal(t, fault.Limit, err.Kind)
	require.Equal(t, StreamClosed, m.Stream(1000), "its id is used up")
	require.Equal(t, StreamClosed, m.Stream(999), "so are those that were skipped")
	require.True(t, m.Close(2))
	_, err = m.PeerOpen(1001)
	require.Nil(t, err)

	m = NewMachine()
	m.PeerRegister()
	for range protocol.MaxStreams {
		_, err := m.Open()
		require.Nil(t, err)
	}
	_, err = m.Open()
	require.Equal(t, fault.Limit, err.Kind)
	m.Close(7)
	id, err := m.Open()
	require.Nil(t, err)
	require.EqualValues(t, protocol.MaxStreams+1, id, "ids are never used again")
}

func opID(n int) (id protocol.OperationID) {
	id[0], id[1] = byte(n), byte(n>>8)
	return id
}

func TestOperationLimits(t *testing.T) {
	m := NewMachine()
	m.PeerRegister()
	for n := range protocol.MaxPendingOps {
		_, err := m.PeerOperation(opID(n))
		require.Nil(t, err)
	}
	_, err := m.PeerOperation(opID(protocol.MaxPendingOps))
	require.Equal(t, fault.Limit, err.Kind)
	_, err = m.PeerOperation(opID(0))
	require.Equal(t, fault.Conflict, err.Kind, "it is under way")
	require.True(t, m.Finish(opID(0)))
	require.False(t, m.Finish(opID(0)), "exactly one result")
	_, err = m.PeerOperation(opID(0))
	require.Equal(t, fault.Conflict, err.Kind, "it was answered")

	for n := 1; n <= protocol.RememberedOps; n++ {
		if n >= protocol.MaxPendingOps {
			_, err := m.PeerOperation(opID(n))
			require.Nil(t, err)
		}
		require.True(t, m.Finish(opID(n)))
	}
	require.Len(t, m.ops.done, protocol.RememberedOps)
	_, err = m.PeerOperation(opID(1))
	require.Equal(t, fault.Conflict, err.Kind, "the oldest that is remembered")
	_, err = m.PeerOperation(opID(0))
	require.Nil(t, err, "forgotten by now")
}

// model says in its own words what Machine decides: it remembers everything.
type model struct {
	registered, closing, closed bool
	highest                     protocol.StreamID
	streams                     map[protocol.StreamID]string // opening, open, closed
	ops                         map[protocol.OperationID]string
}

// early: neither registration nor a goodbye has come.
func (m *model) early() bool { return !m.registered && !m.closing }

func (m *model) live() (n int) {
	for _, s := range m.streams {
		if s != "closed" {
			n++
		}
	}
	return n
}

func (m *model) peerOpen(id protocol.StreamID) string {
	switch {
	case m.closed:
		return "discard"
	case m.early() || id <= m.highest:
		return "violation"
	}
	m.highest = id
	m.streams[id] = "closed"
	if m.closing {
		return "unavailable"
	}
	if m.live() == protocol.MaxStreams {
		return "limit"
	}
	m.streams[id] = "opening"
	return "proceed"
}

// about is a frame of a stream that legal says something for, or nothing.
func (m *model) about(id protocol.StreamID, legal map[string]string) string {
	s, ok := m.streams[id]
	switch {
	case m.closed:
		return "discard"
	case m.early() || id > m.highest:
		return "violation"
	case !ok || s == "closed":
		return "discard"
	case legal[s] == "":
		return "violation"
	}
	m.streams[id] = legal[s]
	return "proceed"
}

func (m *model) peerOperation(id protocol.OperationID) string {
	pending := 0
	for _, s := range m.ops {
		if s == "pending" {
			pending++
		}
	}
	switch {
	case m.closed:
		return "discard"
	case m.early():
		return "violation"
	case m.closing:
		return "unavailable"
	case m.ops[id] != "":
		return "conflict"
	case pending == protocol.MaxPendingOps:
		return "limit"
	}
	m.ops[id] = "pending"
	return "proceed"
}

// Any events in any order, beside a model that was written apart from it.
func TestMachineModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMachine()
		w := &model{streams: map[protocol.StreamID]string{}, ops: map[protocol.OperationID]string{}}
		check := func(what, got, want string) {
			if got != want {
				t.Fatalf("%s: %s, the model says %s", what, got, want)
			}
		}
		ids := rapid.Custom(func(t *rapid.T) protocol.StreamID {
			return protocol.StreamID(rapid.Uint64Range(1, uint64(w.highest)+3).Draw(t, "stream"))
		})
		ops := rapid.Custom(func(t *rapid.T) protocol.OperationID { return opID(rapid.IntRange(1, 5).Draw(t, "operation")) })
		rare := func(t *rapid.T) {
			if rapid.IntRange(0, 20).Draw(t, "rare") != 0 {
				t.Skip()
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				v, err := m.PeerRegister()
				want := "proceed"
				if w.closed {
					want = "discard"
				} else if w.registered || w.closing {
					want = "violation"
				}
				check("register", outcome(v, err), want)
				w.registered = w.registered || !w.closed && !w.closing
			},
			"peer opens": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				v, err := m.PeerOpen(id)
				check("open", outcome(v, err), w.peerOpen(id))
			},
			"peer opens many": func(t *rapid.T) {
				rare(t)
				for range protocol.MaxStreams {
					v, err := m.PeerOpen(w.highest + 1)
					check("open", outcome(v, err), w.peerOpen(w.highest+1))
				}
			},
			"we open": func(t *rapid.T) {
				id, err := m.Open()
				want := "proceed"
				switch {
				case !w.registered || w.closing || w.closed:
					want = "unavailable"
				case w.live() == protocol.MaxStreams:
					want = "limit"
				default:
					w.highest++
					w.streams[w.highest] = "opening"
					if id != w.highest {
						t.Fatalf("id %d, must be %d", id, w.highest)
					}
				}
				check("our open", outcome(Proceed, err), want)
			},
			"we grant": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				may := !w.closed && w.streams[id] == "opening"
				check("our grant", yes(m.Opened(id)), yes(may))
				if may {
					w.streams[id] = "open"
				}
			},
			"peer grants": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				v, err := m.PeerOpened(id)
				check("grant", outcome(v, err), w.about(id, map[string]string{"opening": "open"}))
			},
			"frame": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				v, err := m.PeerFrame(id)
				check("frame", outcome(v, err), w.about(id, map[string]string{"open": "open"}))
			},
			"peer closes": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				v, err := m.PeerClose(id)
				check("close", outcome(v, err), w.about(id, map[string]string{"opening": "closed", "open": "closed"}))
			},
			"we close": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				live := !w.closed && w.streams[id] != "" && w.streams[id] != "closed"
				check("our close", yes(m.Close(id)), yes(live))
				if live {
					w.streams[id] = "closed"
				}
			},
			"operation": func(t *rapid.T) {
				id := ops.Draw(t, "id")
				v, err := m.PeerOperation(id)
				check("operation", outcome(v, err), w.peerOperation(id))
			},
			"result": func(t *rapid.T) {
				id := ops.Draw(t, "id")
				v, err := m.PeerResult(id)
				want := "violation"
				switch {
				case w.closed || w.ops[id] == "done":
					want = "discard"
				case w.ops[id] == "pending":
					want = "proceed"
					w.ops[id] = "done"
				}
				check("result", outcome(v, err), want)
			},
			"finish": func(t *rapid.T) {
				id := ops.Draw(t, "id")
				may := !w.closed && w.ops[id] == "pending"
				check("finish", yes(m.Finish(id)), yes(may))
				if may {
					w.ops[id] = "done"
				}
			},
			"goodbye": func(t *rapid.T) {
				rare(t)
				m.Closing()
				w.closing = true
			},
			"end": func(t *rapid.T) {
				rare(t)
				m.Closed()
				w.closed = true
			},
		})
	})
}
