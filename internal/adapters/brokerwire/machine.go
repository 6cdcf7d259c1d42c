package brokerwire

import (
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// ConnState is the state of a connection; it only ever advances.
type ConnState uint8

const (
	ConnNew        ConnState = iota // only Register, or its answer, is legal
	ConnRegistered                  // everything is
	ConnClosing                     // somebody said goodbye: nothing new begins, what runs may end
	ConnClosed                      // every event is ignored
)

func (s ConnState) String() string {
	return [...]string{"new", "registered", "closing", "closed"}[s]
}

// StreamState is the state of one stream.
type StreamState uint8

const (
	StreamNever   StreamState = iota // its id has not come up yet
	StreamOpening                    // asked for, not answered
	StreamOpen
	StreamClosed // by either side, or never granted
)

func (s StreamState) String() string {
	return [...]string{"never opened", "opening", "open", "closed"}[s]
}

// Verdict says what to do with a frame of the peer that breaks no rule.
type Verdict uint8

const (
	Discard Verdict = iota // it crossed an end of ours: forget it
	Proceed
)

// Machine holds what a connection's two ends have said so far and decides what is legal
// next. Methods that begin with Peer are about frames that came; their error is a fault: of
// kind Violation, the connection is to be ended; of another kind, the request is to be
// refused with it. The others are about our own steps. Not safe for concurrent use.
type Machine struct {
	conn    ConnState
	last    protocol.StreamID // highest id that was used
	streams map[protocol.StreamID]StreamState
	ops     operations
	pings   uint64 // number of the last Ping
	pongs   uint64 // of the last Pong
}

// NewMachine returns the machine of a connection whose preamble is over.
func NewMachine() *Machine {
	return &Machine{streams: make(map[protocol.StreamID]StreamState)}
}

// State is the connection's state.
func (m *Machine) State() ConnState { return m.conn }

// Stream is the state of a stream. An id that was skipped counts as closed.
func (m *Machine) Stream(id protocol.StreamID) StreamState {
	if s, ok := m.streams[id]; ok {
		return s
	}
	if id <= m.last && id != 0 {
		return StreamClosed
	}
	return StreamNever
}

// PeerRegister is Register at a broker, Registered at a client.
func (m *Machine) PeerRegister() (Verdict, *fault.Error) {
	switch m.conn {
	case ConnNew:
		m.conn = ConnRegistered
		return Proceed, nil
	case ConnClosed:
		return Discard, nil
	}
	return Discard, violation("a second registration, the connection is %s", m.conn)
}

// Closing notes that either side said goodbye.
func (m *Machine) Closing() { m.conn = max(m.conn, ConnClosing) }

// Closed notes the connection's end: nothing is live or pending any more.
func (m *Machine) Closed() {
	m.conn = ConnClosed
	clear(m.streams)
	m.ops = operations{}
}

// early is the violation of any frame before registration.
func (m *Machine) early() (Verdict, *fault.Error) {
	return Discard, violation("a frame before registration")
}

// Open begins a stream at the client and gives it its id.
func (m *Machine) Open() (protocol.StreamID, *fault.Error) {
	switch {
	case m.conn != ConnRegistered:
		return 0, fault.New(fault.Unavailable, "the connection is %s", m.conn)
	case len(m.streams) >= protocol.MaxStreams:
		return 0, tooManyStreams()
	}
	m.last++
	m.streams[m.last] = StreamOpening
	return m.last, nil
}

func tooManyStreams() *fault.Error {
	return fault.New(fault.Limit, "%d streams are open, the limit of a connection", protocol.MaxStreams).
		WithHint("close one first")
}

// PeerOpen is OpenStream at the broker. An id that is refused counts as closed.
func (m *Machine) PeerOpen(id protocol.StreamID) (Verdict, *fault.Error) {
	switch {
	case m.conn == ConnNew:
		return m.early()
	case m.conn == ConnClosed:
		return Discard, nil
	case id <= m.last:
		return Discard, violation("stream id %d after %d; ids increase", id, m.last)
	}
	m.last = id
	switch {
	case m.conn == ConnClosing:
		return Discard, fault.New(fault.Unavailable, "the broker is ending")
	case len(m.streams) >= protocol.MaxStreams:
		return Discard, tooManyStreams()
	}
	m.streams[id] = StreamOpening
	return Proceed, nil
}

// Opened grants a stream at the broker; false: the client has given it up meanwhile.
func (m *Machine) Opened(id protocol.StreamID) bool {
	if m.streams[id] != StreamOpening {
		return false
	}
	m.streams[id] = StreamOpen
	return true
}

// PeerOpened is StreamOpened at the client.
func (m *Machine) PeerOpened(id protocol.StreamID) (Verdict, *fault.Error) {
	if v, err, done := m.known(id); done {
		return v, err
	}
	if m.streams[id] != StreamOpening {
		return Discard, violation("stream %d was opened twice", id)
	}
	m.streams[id] = StreamOpen
	return Proceed, nil
}

// PeerFrame is data or a window update of a stream.
func (m *Machine) PeerFrame(id protocol.StreamID) (Verdict, *fault.Error) {
	if v, err, done := m.known(id); done {
		return v, err
	}
	if m.streams[id] == StreamOpening {
		return Discard, violation("a frame of stream %d, which is still opening", id)
	}
	return Proceed, nil
}

// PeerClose is CloseStream at the broker, StreamClosed at the client.
func (m *Machine) PeerClose(id protocol.StreamID) (Verdict, *fault.Error) {
	if v, err, done := m.known(id); done {
		return v, err
	}
	delete(m.streams, id)
	return Proceed, nil
}

// known settles frames of streams that are not live: done with a verdict.
func (m *Machine) known(id protocol.StreamID) (v Verdict, err *fault.Error, done bool) {
	switch m.conn {
	case ConnNew:
		v, err = m.early()
		return v, err, true
	case ConnClosed:
		return Discard, nil, true
	}
	switch m.Stream(id) {
	case StreamNever:
		return Discard, violation("a frame of stream %d, which was never opened", id), true
	case StreamClosed:
		return Discard, nil, true
	}
	return Proceed, nil, false
}

// Close ends a stream from this side, granted or not; false: it is not live.
func (m *Machine) Close(id protocol.StreamID) bool {
	_, live := m.streams[id]
	delete(m.streams, id)
	return live
}
