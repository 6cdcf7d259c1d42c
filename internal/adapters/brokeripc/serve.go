package brokeripc

import (
	"bytes"
	"io"
	"slices"
	"syscall"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// message answers what a client asks for; nothing is met with silence.
func (s *Server) message(m any) (after func(), err error) {
	switch m := m.(type) {
	case *protocol.OpenStream:
		return nil, s.openStream(m)
	case *protocol.StatsRequest:
		return s.stats(m.Operation)
	case *protocol.Ping:
		return nil, s.ping(m)
	case *protocol.Mutation:
		return s.operate(m)
	case *protocol.StartPreview:
		return s.startPreview(m)
	case *protocol.CancelPreview:
		s.cancelPreview(m.Operation)
		return nil, nil
	case *protocol.Subscribe, *protocol.Resync, *protocol.Unsubscribe:
		return s.catalogue(m), nil
	case *protocol.PromptReply:
		if !s.answers {
			s.post(&protocol.BrokerError{Failure: *protocol.FailureOf(notServed("answers of a client that offered none"))})
			return nil, nil
		}
		s.replied(m)
		return nil, nil
	}
	return nil, fault.New(fault.Violation, "%T after registration", m)
}

func notServed(what string) *fault.Error {
	return fault.New(fault.Unsupported, "this broker does not serve %s", what).WithHint("a newer vev may")
}

// refuse answers an operation that this build does not serve.
func (s *Server) refuse(id protocol.OperationID, what string, answer func(*protocol.Failure) protocol.BrokerServerMessage) error {
	v, err := s.conn.machine.PeerOperation(id)
	switch {
	case err != nil && err.Kind == fault.Violation:
		return err
	case err != nil:
		s.post(answer(protocol.FailureOf(err)))
	case v == brokerwire.Proceed:
		s.conn.machine.Finish(id)
		s.post(answer(protocol.FailureOf(notServed(what))))
	}
	return nil
}

// stats answers outside the lock: gathering the numbers takes the locks of other connections.
func (s *Server) stats(id protocol.OperationID) (after func(), err error) {
	v, ferr := s.conn.machine.PeerOperation(id)
	switch {
	case ferr != nil && ferr.Kind == fault.Violation:
		return nil, ferr
	case ferr != nil:
		s.post(&protocol.BrokerError{Operation: id, Failure: *protocol.FailureOf(ferr)})
		return nil, nil
	case v == brokerwire.Discard:
		return nil, nil
	}
	return func() {
		numbers := s.broker.Numbers()
		s.conn.mu.Lock()
		defer s.conn.mu.Unlock()
		if s.conn.machine.Finish(id) {
			s.post(&protocol.BrokerStats{Operation: id, Stats: numbers})
		}
	}, nil
}

func (s *Server) openStream(m *protocol.OpenStream) error {
	c := s.conn
	if err := c.inScope(m.Ref); err != nil {
		return err
	}
	v, err := c.machine.PeerOpen(m.Ref.ID)
	switch {
	case err != nil && err.Kind == fault.Violation:
		return err
	case err != nil:
		s.hangUp(m.Ref, protocol.FailureOf(err))
		return nil
	case v == brokerwire.Discard:
		return nil
	}
	r := &request{server: s, stream: c.newStream(m.Ref.ID), host: m.Host, start: m.Start, first: bytes.Clone(m.First), public: m.Public}
	s.requests = slices.DeleteFunc(s.requests, func(r *request) bool { return !r.stream.live }) // given up meanwhile
	s.requests = append(s.requests, r)
	select {
	case s.asked <- struct{}{}:
	default:
	}
	return nil
}

// request is a stream that waits for the broker's answer, a ports.StreamRequest.
type request struct {
	server *Server
	stream *Stream
	host   string
	start  protocol.StartPolicy
	first  []byte
	public bool
}

func (r *request) Host() string                { return r.host }
func (r *request) Start() protocol.StartPolicy { return r.start }
func (r *request) First() []byte               { return r.first }
func (r *request) Public() bool                { return r.public }

// Open implements ports.StreamRequest. The error is Canceled when the client gave the stream
// up, or the connection's end.
func (r *request) Open() (ports.Stream, error) {
	c := r.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return nil, c.err
	case !c.machine.Opened(r.stream.id):
		return nil, fault.New(fault.Canceled, "the client gave the stream up")
	}
	r.server.post(&protocol.StreamOpened{Ref: r.stream.ref()})
	return r.stream, nil
}

// Hand implements ports.StreamRequest. Errors as of Open.
func (r *request) Hand(conn io.ReadWriteCloser) (ports.Stream, bool, error) {
	source, ok := conn.(syscall.Conn)
	if !ok || !r.server.direct {
		return nil, false, nil
	}
	fd, err := duplicate(source)
	if err != nil {
		return nil, false, nil // the relay does as well
	}
	c := r.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		err = c.err
	case !c.machine.Opened(r.stream.id):
		err = fault.New(fault.Canceled, "the client gave the stream up")
	}
	if err != nil {
		closeDescriptor(fd)
		return nil, true, err
	}
	c.writing.handing = append(c.writing.handing, fd)
	r.server.post(&protocol.StreamOpened{Ref: r.stream.ref(), Direct: true})
	return r.stream, true, nil
}

// Refuse implements ports.StreamRequest.
func (r *request) Refuse(f protocol.Failure) error { return r.stream.Abort(f) }
