package brokeripc

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Client is the asking end of a broker conversation. Any goroutine may call its methods.
type Client struct {
	conn    *conn
	pings   bool              // the broker answers them
	reports bool              // the broker may send them
	firsts  bool              // the broker takes a stream's first bytes with the request
	ahead   wish              // of the registration, until OpenStream takes it. Guarded by conn.mu
	opening *protocol.Opening // what ahead asked for. Guarded by conn.mu
	answers bool              // somebody takes what comes in prompts
	prompts chan *protocol.Prompt

	// Guarded by conn.mu.
	asked     map[protocol.OperationID]chan<- statsAnswer
	operating map[protocol.OperationID]*operated
	rtt       time.Duration // round trip of the probes; 0: none was answered
	pinged    *ping         // nil: none is on its way
	listing   listing
	looks     map[protocol.OperationID]*pictures
}

type statsAnswer struct {
	numbers protocol.BrokerNumbers
	err     error
}

// wish is a stream whose request is under way. The zero value: none.
type wish struct {
	stream   *Stream
	answered chan struct{} // closed with the broker's answer
	went     bool          // its first bytes went with the request
}

// Dial speaks preamble and registration on rw, which is the client's from here on: it is
// closed on failure. software, our name and version, is for the broker's messages. The error
// is a fault: Timeout after protocol.HandshakeTimeout, Canceled with ctx, Incompatible,
// Violation, or Unavailable when the carriage ends.
func Dial(ctx context.Context, rw io.ReadWriteCloser, software string) (*Client, error) {
	return dial(ctx, rw, software, protocol.FeatureNone, nil, false)
}

func answering(person bool) (features uint64) {
	if person {
		return protocol.FeaturePrompts
	}
	return protocol.FeatureNone
}

// Beginning is what a conversation begins with: it can be known before there is a carriage. It asks for a stream with the
// registration, which takes a round trip less, unless its Opening is nil or the broker does not know that. The first OpenStream
// that says the same waits for that stream, or asks for it.
type Beginning struct {
	software string
	features uint64
	opening  *protocol.Opening
	bytes    []byte
}

// Begin is for a carriage that is no socket, and a client that answers no questions.
func Begin(software string, o *protocol.Opening) (*Beginning, error) {
	return begin(software, protocol.FeatureNone, protocol.FeatureNone, o)
}

// BeginHere is for a Unix socket. person: the client answers what comes in Prompts.
func BeginHere(software string, person bool, o *protocol.Opening) (*Beginning, error) {
	return begin(software, answering(person), protocol.FeatureDirect, o)
}

func begin(software string, features, carriage uint64, o *protocol.Opening) (*Beginning, error) {
	var b bytes.Buffer
	err := streamframe.Offer(&b, clientHello(software, features|carriage), appendRegister(&protocol.Register{Client: software, Open: o}))
	return &Beginning{software, features, o, b.Bytes()}, err
}

// Bytes are what Dial writes first.
func (b *Beginning) Bytes() []byte { return b.bytes }

// Dial is the package's Dial with that beginning.
func (b *Beginning) Dial(ctx context.Context, rw io.ReadWriteCloser) (*Client, error) {
	return dial(ctx, rw, b.software, b.features, b.opening, false)
}

// DialSaid is Dial on a carriage that Bytes were written to already.
func (b *Beginning) DialSaid(ctx context.Context, rw io.ReadWriteCloser) (*Client, error) {
	return dial(ctx, rw, b.software, b.features, b.opening, true)
}

func dial(ctx context.Context, rw io.ReadWriteCloser, software string, features uint64, o *protocol.Opening, said bool) (*Client, error) {
	c := &Client{
		answers: features&protocol.FeaturePrompts != 0, prompts: make(chan *protocol.Prompt, protocol.MaxPrompts),
		asked: make(map[protocol.OperationID]chan<- statsAnswer), operating: make(map[protocol.OperationID]*operated),
		listing: listing{changes: make(chan struct{}, 1)},
	}
	err := handshake(ctx, rw, func() (err error) {
		c.conn, features, err = register(rw, &protocol.Register{Client: software, Open: o}, features, said)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.pings, c.reports = features&protocol.FeaturePings != 0, features&protocol.FeatureReports != 0
	c.firsts = features&protocol.FeatureFirst != 0
	if o != nil && features&protocol.FeatureAhead != 0 {
		c.ahead, _ = c.ask(func(*Stream) bool { return true }) // nothing keeps a first stream from its number
		c.opening = o
	}
	c.conn.start(c)
	return c, nil
}

// register is the client's part of the conversation up to Registered. It returns the features that were agreed.
func register(rw io.ReadWriteCloser, r *protocol.Register, features uint64, said bool) (*conn, uint64, error) {
	rw, direct := receiving(rw)
	hello := clientHello(r.Client, features|direct)
	rd := streamframe.NewReader(rw)
	if !said {
		if err := streamframe.Offer(rw, hello, appendRegister(r)); err != nil {
			return nil, 0, err
		}
	}
	agreed, err := streamframe.Answered(rd, hello)
	if err != nil {
		return nil, 0, err
	}
	body, err := rd.ReadFrame(protocol.MaxControlBytes)
	if err != nil {
		return nil, 0, err
	}
	m, err := brokerwire.DecodeServer(body)
	if err != nil {
		return nil, 0, err
	}
	switch m := m.(type) {
	case *protocol.Registered:
		refs := brokerwire.ClientRefs(m.Scope, shortRefs(agreed))
		return newConn(rw, rd, m.Scope, refs, agreedLimits(agreed)), agreed.Features, nil
	case *protocol.Shutdown:
		return nil, 0, m.Reason.Fault()
	}
	return nil, 0, fault.New(fault.Violation, "%T came before the registration's answer", m)
}

// clientHello offers what every client knows, and more features.
func clientHello(software string, features uint64) protocol.Hello {
	hello := protocol.NewHello(protocol.BrokerClient, software)
	hello.Features = features | protocol.FeatureShortRefs | protocol.FeaturePings | protocol.FeatureReports | protocol.FeatureFirst | protocol.FeatureAhead
	return hello
}

func appendRegister(r *protocol.Register) streamframe.Encode {
	return func(dst []byte) ([]byte, error) { return brokerwire.AppendClient(dst, r) }
}

// OpenStream asks for a stream to the daemon of a host and waits for the broker's answer.
// ctx ends the waiting, and the stream if it was not granted yet. The error is a fault: the
// broker's refusal (Peer is set), Limit, Canceled, or the connection's end. See ports.Link.
func (c *Client) OpenStream(ctx context.Context, host string, start protocol.StartPolicy, first []byte) (ports.Stream, error) {
	return c.Open(ctx, &protocol.Opening{Host: host, Start: start, First: first})
}

// Open is OpenStream for what o says.
func (c *Client) Open(ctx context.Context, o *protocol.Opening) (ports.Stream, error) {
	s, went, err := c.open(ctx, o)
	if err != nil || went {
		return s, err
	}
	if _, err := s.Write(o.First); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// open asks for a stream and waits for the answer; went: its first bytes went with the request.
func (c *Client) open(ctx context.Context, o *protocol.Opening) (stream ports.Stream, went bool, err error) {
	a := c.takeAhead(o)
	if a.stream == nil {
		if a, err = c.askFor(o); err != nil {
			return nil, false, err
		}
	}
	s, went := a.stream, a.went
	select {
	case <-a.answered:
	case <-ctx.Done():
	}
	c.conn.mu.Lock()
	c.conn.reading.urgent--
	refused, direct := s.werr, s.direct
	usable := s.opened && !s.dropped // it may have ended since, in order: what was said before that is there to be read
	s.direct = none
	c.conn.mu.Unlock()
	switch {
	case direct != none:
		stream, err = handed(s, direct)
		return stream, went, err
	case usable:
		return s, went, nil
	case refused != nil:
		return nil, false, refused
	}
	gone := canceled(ctx) // or there would be an answer
	_ = s.Abort(*protocol.FailureOf(gone))
	return nil, false, gone
}

// takeAhead gives the stream that the registration asked for to the first OpenStream that says the same. Who may see that is
// no part of it: it was said.
func (c *Client) takeAhead(o *protocol.Opening) wish {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if p := c.opening; p == nil || p.Host != o.Host || p.Start != o.Start || !bytes.Equal(p.First, o.First) {
		return wish{}
	}
	a := c.ahead
	c.ahead, c.opening = wish{}, nil
	return a
}

func (c *Client) askFor(o *protocol.Opening) (wish, error) {
	n := c.conn
	return c.ask(func(s *Stream) (went bool) {
		m := &protocol.OpenStream{Ref: s.ref(), Host: o.Host, Start: o.Start}
		// Where much waits they go later: many streams that begin over a carriage that is stuck must not end it.
		if went = len(o.First) == 0 || c.firsts && len(n.writing.unsent)+len(o.First) <= maxUnsent/2; went {
			m.First, m.Public = o.First, o.Public
		}
		n.post(brokerwire.AppendClient(nil, m))
		n.offerTurn()
		return went
	})
}

// ask begins a stream. send asks the broker for it, with conn.mu held, and says whether its first bytes went along.
func (c *Client) ask(send func(*Stream) (went bool)) (wish, error) {
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expect()
	if n.err != nil {
		n.settled()
		return wish{}, n.err
	}
	id, ferr := n.machine.Open()
	if ferr != nil {
		n.settled()
		return wish{}, ferr
	}
	s := n.newStream(id)
	s.reports = make(chan protocol.LinkReport, 1)
	a := wish{stream: s, answered: make(chan struct{})}
	s.answered = a.answered
	n.reading.urgent++
	a.went = send(s)
	return a, nil
}

// canceled is the end of a context as a fault.
func canceled(ctx context.Context) *fault.Error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return fault.Wrap(fault.Timeout, context.Cause(ctx), "no answer from the broker in time")
	}
	return fault.Wrap(fault.Canceled, context.Cause(ctx), "the request was given up")
}

// Stats asks the broker for its numbers. Errors as of OpenStream.
func (c *Client) Stats(ctx context.Context) (protocol.BrokerNumbers, error) {
	answer := make(chan statsAnswer, 1)
	id, err := c.askStats(answer)
	if err != nil {
		return protocol.BrokerNumbers{}, err
	}
	var a statsAnswer
	select {
	case a = <-answer:
	case <-ctx.Done():
		a.err = canceled(ctx)
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.reading.urgent--
	c.conn.machine.Finish(id)
	delete(c.asked, id)
	return a.numbers, a.err
}

func (c *Client) askStats(answer chan<- statsAnswer) (protocol.OperationID, error) {
	var id protocol.OperationID
	_, _ = rand.Read(id[:]) // never fails
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return id, n.err
	}
	if err := n.machine.Operation(id); err != nil {
		return id, err
	}
	c.asked[id] = answer
	n.reading.urgent++
	n.post(brokerwire.AppendClient(nil, &protocol.StatsRequest{Operation: id}))
	n.offerTurn()
	return id, nil
}

// Numbers is what this end holds and has done.
func (c *Client) Numbers() protocol.ConnNumbers { return c.conn.snapshot() }

// Done is closed when the connection has ended and nothing of it runs any more.
func (c *Client) Done() <-chan struct{} { return c.conn.done }

// Err is the first cause of the end: the broker's reason (Peer is set), Unavailable when the
// carriage ended, Violation, Canceled after Close. Nil before.
func (c *Client) Err() error { return c.conn.cause() }

// Close ends the connection: what was written is handed to the carriage, for at most
// closeGrace; every stream ends. It returns when nothing of the connection runs any more.
func (c *Client) Close() error {
	c.conn.close(fault.New(fault.Canceled, "the connection was closed"))
	return nil
}

func (c *Client) decode(body []byte) (any, error) { return brokerwire.DecodeServer(body) }

func (c *Client) message(m any) (after func(), err error) {
	n := c.conn
	switch m := m.(type) {
	case *protocol.StreamOpened:
		return nil, c.opened(m)
	case *protocol.BrokerStats:
		return nil, c.result(m.Operation, statsAnswer{numbers: m.Stats})
	case *protocol.Progress:
		return nil, c.progressed(m)
	case *protocol.OperationResult:
		if c.operating[m.Operation] != nil {
			return nil, c.finished(m)
		}
		f := fault.New(fault.Violation, "an operation was answered without what it asked for")
		if m.Failure != nil {
			f = m.Failure.Fault()
		}
		return nil, c.result(m.Operation, statsAnswer{err: f})
	case *protocol.BrokerError:
		if m.Operation != (protocol.OperationID{}) {
			return nil, c.result(m.Operation, statsAnswer{err: m.Failure.Fault()})
		}
		if c.listing.asked {
			c.listing.refused = m.Failure.Fault()
			c.listing.notify()
			return nil, nil
		}
	case *protocol.SnapshotPart:
		return nil, c.part(m)
	case *protocol.PreviewPublication:
		return nil, c.picture(m)
	case *protocol.SnapshotDelta:
		return nil, c.delta(m)
	case *protocol.Prompt:
		return nil, c.prompted(m)
	case *protocol.Pong:
		return nil, c.ponged(m)
	case *protocol.LinkReport:
		return nil, c.reported(m)
	case *protocol.Shutdown:
		n.end(m.Reason.Fault())
		return n.closeCarriage, nil
	}
	return nil, fault.New(fault.Violation, "%T came unasked", m)
}

func (c *Client) opened(m *protocol.StreamOpened) error {
	n := c.conn
	if err := n.inScope(m.Ref); err != nil {
		return err
	}
	direct := none
	if m.Direct {
		if direct = takeReceived(n.rw); direct == none {
			return fault.New(fault.Violation, "stream %d was granted with a descriptor that did not come", m.Ref.ID)
		}
	}
	n.settled()
	v, err := n.machine.PeerOpened(m.Ref.ID)
	if err != nil || v == brokerwire.Discard {
		closeDescriptor(direct) // given up meanwhile
		return orNil(err)
	}
	s := n.streams[m.Ref.ID]
	s.direct, s.opened = direct, true
	close(s.answered)
	s.answered = nil
	return nil
}

func (c *Client) result(id protocol.OperationID, a statsAnswer) error {
	v, err := c.conn.machine.PeerResult(id)
	if err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	if answer := c.asked[id]; answer != nil {
		answer <- a // has room for its one answer
	} else if o := c.operating[id]; o != nil {
		o.over, o.fails = true, a.err
		o.tell()
	} else if p := c.looks[id]; p != nil {
		p.end(a.err)
	}
	return nil
}

func (c *Client) hangUp(ref protocol.StreamRef, f *protocol.Failure) {
	c.conn.post(brokerwire.AppendClient(nil, &protocol.CloseStream{Ref: ref, Failure: f}))
}

func (c *Client) goodbye(error) {}

func (c *Client) ended() {
	for _, p := range c.looks {
		p.end(c.conn.err)
	}
	c.listing.notify()
	for id, answer := range c.asked {
		delete(c.asked, id)
		answer <- statsAnswer{err: c.conn.err}
	}
	if c.pinged != nil {
		close(c.pinged.came)
	}
	for _, o := range c.operating {
		if !o.over {
			o.over, o.fails = true, unknown(c.conn.err)
			o.tell()
		}
	}
}
