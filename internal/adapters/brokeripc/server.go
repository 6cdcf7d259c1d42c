package brokeripc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"io"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Broker is what a server end must know of the process it serves.
type Broker struct {
	Software string // name and version
	Epoch    uint64 // random, new per process, not 0
	// Numbers answers `vev stats`. It must not wait for anything a client does.
	Numbers func() protocol.BrokerNumbers
	// Operate takes an operation on hosts and returns at once. Nil: they are refused, there is no host but this machine.
	Operate func(ports.OperationRequest)
	// Subscribed serves a client that asks for the catalogue, until the subscription is over; it does not wait for that.
	// nil: this broker has no catalogue.
	Subscribed func(ports.Subscription)
	// Previewed serves a client that asks for pictures of a session, until ctx ends, which it does when the client has had enough or
	// is gone; it does not wait for that. nil: this broker has no previews.
	Previewed func(ctx context.Context, r ports.PreviewRequest)
}

// Server is the granting end of a broker conversation, a ports.BrokerConn.
type Server struct {
	conn   *conn
	broker Broker
	client string // what the client called itself
	direct bool   // the client takes descriptors
	// answers: the client has a person who answers questions
	answers bool
	pings   bool          // the client may send them
	reports bool          // the client takes them
	asked   chan struct{} // a request came; holds one note for any number of them

	// Guarded by conn.mu.
	requests []*request                                // not accepted yet; at most protocol.MaxStreams
	prompts  map[[16]byte]chan<- *protocol.PromptReply // at most protocol.MaxPrompts
	again    bool                                      // a second preamble came: its answer is the goodbye
	sub      *subscription                             // the client's, or nil
	previews map[protocol.OperationID]*previewing      // at most protocol.MaxPendingOps
}

var _ ports.BrokerConn = (*Server)(nil)

// Accept speaks preamble and registration on rw, which is the server's from here on: it is
// closed on failure. The error is a fault: Timeout after protocol.HandshakeTimeout, Canceled
// with ctx, Incompatible, Violation, or Unavailable when the carriage ends.
func Accept(ctx context.Context, rw io.ReadWriteCloser, b Broker) (*Server, error) {
	s := &Server{broker: b, asked: make(chan struct{}, 1), prompts: map[[16]byte]chan<- *protocol.PromptReply{}}
	err := handshake(ctx, rw, func() error { return s.register(rw) })
	if err != nil {
		return nil, err
	}
	s.conn.start(s)
	return s, nil
}

// register is the broker's part of the conversation up to Registered.
func (s *Server) register(rw io.ReadWriteCloser) (err error) {
	hello := protocol.NewHello(protocol.BrokerServer, s.broker.Software)
	hello.Features = sendable(rw) | protocol.FeatureShortRefs | protocol.FeaturePrompts | protocol.FeaturePings | protocol.FeatureReports | protocol.FeatureFirst | protocol.FeatureAhead
	rd := streamframe.NewReader(descriptor.OfBulk(rw))
	out := bufio.NewWriter(rw) // what answers both frames goes in one write where both have come
	agreed, err := streamframe.ServerHandshake(rd, out, hello)
	if err != nil || !rd.Pending() {
		if ferr := out.Flush(); err == nil {
			err = ferr
		}
	}
	if err != nil {
		return err
	}
	body, err := rd.ReadFrame(protocol.MaxControlBytes)
	if err != nil {
		return err
	}
	defer func() {
		if ferr := out.Flush(); err == nil {
			err = ferr
		}
	}()
	w := streamframe.NewWriter(out)
	m, err := brokerwire.DecodeClient(body)
	reg, ok := m.(*protocol.Register)
	if err == nil && !ok {
		err = fault.New(fault.Violation, "%T came before Register", m)
	}
	if err != nil {
		_ = w.WriteWith(func(dst []byte) ([]byte, error) { // it ends whether the peer learns why or not
			return brokerwire.AppendServer(dst, &protocol.Shutdown{Reason: *protocol.FailureOf(err)})
		})
		return err
	}
	scope := protocol.Scope{BrokerEpoch: s.broker.Epoch}
	_, _ = rand.Read(scope.Connection[:]) // never fails
	s.client = fault.Clean(reg.Client)
	s.answers = agreed.Features&protocol.FeaturePrompts != 0
	s.pings, s.reports = agreed.Features&protocol.FeaturePings != 0, agreed.Features&protocol.FeatureReports != 0
	s.direct = agreed.Features&protocol.FeatureDirect != 0
	s.conn = newConn(rw, rd, scope, brokerwire.ServerRefs(scope, shortRefs(agreed)), agreedLimits(agreed))
	err = w.WriteWith(func(dst []byte) ([]byte, error) {
		return brokerwire.AppendServer(dst, &protocol.Registered{Scope: scope})
	})
	if o := reg.Open; err == nil && o != nil && agreed.Features&protocol.FeatureAhead != 0 {
		s.conn.mu.Lock()
		defer s.conn.mu.Unlock()
		err = s.openStream(&protocol.OpenStream{Ref: protocol.StreamRef{Scope: scope, ID: 1}, Host: o.Host, Start: o.Start, First: o.First, Public: o.Public})
	}
	return err
}

// Accept implements ports.BrokerConn. One goroutine calls it. After the client has gone the
// error is io.EOF; a client that broke the protocol gives the Violation.
func (s *Server) Accept(ctx context.Context) (ports.StreamRequest, error) {
	for {
		s.conn.mu.Lock()
		if len(s.requests) > 0 {
			r := s.requests[0]
			s.requests = s.requests[1:]
			s.conn.mu.Unlock()
			return r, nil
		}
		err := s.conn.err
		s.conn.mu.Unlock()
		if err != nil {
			return nil, acceptError(err)
		}
		select {
		case <-s.asked:
		case <-s.conn.over:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "accepting was given up")
		}
	}
}

// acceptError is io.EOF for everything that is the client's own affair.
func acceptError(err error) error {
	if fault.KindOf(err) == fault.Unavailable {
		return io.EOF
	}
	return err
}

// Client is what the client called itself, cleaned, for logs.
func (s *Server) Client() string { return s.client }

// Numbers implements ports.BrokerConn.
func (s *Server) Numbers() protocol.ConnNumbers { return s.conn.snapshot() }

// Done is closed when the connection has ended and nothing of it runs any more.
func (s *Server) Done() <-chan struct{} { return s.conn.done }

// Close implements ports.BrokerConn: the client gets the reason as a Shutdown, behind
// everything that was written before, for at most closeGrace. It returns when nothing of the
// connection runs any more.
func (s *Server) Close(reason protocol.Failure) error {
	s.conn.close(&fault.Error{Kind: reason.Kind, Msg: reason.Text, Hint: reason.Hint})
	return nil
}

func (s *Server) decode(body []byte) (any, error) {
	if streamframe.IsPreamble(body) {
		s.conn.mu.Lock()
		s.again = true
		s.conn.mu.Unlock()
	}
	return brokerwire.DecodeClient(body)
}

func (s *Server) post(m protocol.BrokerServerMessage) {
	s.conn.post(brokerwire.AppendServer(nil, m))
}

func (s *Server) hangUp(ref protocol.StreamRef, f *protocol.Failure) {
	s.post(&protocol.StreamClosed{Ref: ref, Failure: f})
}

func (s *Server) goodbye(reason error) {
	if s.again {
		var b bytes.Buffer
		streamframe.RejectDuplicate(&b, protocol.NewHello(protocol.BrokerServer, s.broker.Software))
		s.conn.post(b.Bytes()[streamframe.HeaderBytes:], nil)
		return
	}
	s.post(&protocol.Shutdown{Reason: *protocol.FailureOf(reason)})
}

func (s *Server) ended() {
	s.requests = nil
	s.unsubscribe()
	for _, p := range s.previews {
		p.finish(nil)
	}
}
