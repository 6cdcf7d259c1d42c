package quic

import (
	"context"
	"io"
	"sync"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// served is a broker's connection as the service here sees it, a ports.BrokerConn: requests for streams come as QUIC
// streams, all else on the control stream.
type served struct {
	control  ports.BrokerConn
	conn     *quicgo.Conn
	proxy    *Proxy
	member   *member
	traffic  traffic
	repeats  *repeats
	room     *room
	requests chan ports.StreamRequest
	use      sync.Once

	ctx  context.Context // ends with the connection, or Close
	stop context.CancelFunc
	all  sync.WaitGroup

	mu   sync.Mutex // a leaf
	live int
	ever uint64
	err  error // why the conversation on the control stream ended
}

var _ ports.BrokerConn = (*served)(nil)

// newServed begins to take requests; Close joins what it starts.
func (p *Proxy) newServed(conn *quicgo.Conn, control ports.BrokerConn, m *member) *served {
	s := &served{control: control, conn: conn, proxy: p, member: m, requests: make(chan ports.StreamRequest)}
	s.repeats, s.room = newRepeats(conn), newRoom(conn, p.socket)
	s.ctx, s.stop = context.WithCancel(conn.Context())
	s.all.Go(s.takeControl)
	s.all.Go(s.takeStreams)
	return s
}

// takeControl takes what is asked for within the conversation, and its end.
func (s *served) takeControl() {
	for {
		r, err := s.control.Accept(s.ctx)
		if err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			s.stop()
			return
		}
		if !s.put(r) {
			return
		}
	}
}

// takeStreams takes what is asked for by opening QUIC streams.
func (s *served) takeStreams() {
	for {
		qs, err := s.conn.AcceptStream(s.ctx)
		if err != nil {
			s.stop()
			return
		}
		s.all.Go(func() { s.takeStream(qs) })
	}
}

func (s *served) takeStream(qs *quicgo.Stream) {
	st := newStream(qs, &s.traffic)
	st.over, st.room = func() { s.count(-1) }, s.room
	s.repeats.enter(st)
	s.count(1)
	_ = st.SetReadDeadline(time.Now().Add(headTimeout))
	open, err := readOpen(st, st.number())
	_ = st.SetReadDeadline(time.Time{})
	if err != nil {
		_ = st.Abort(protocol.Failure{Kind: fault.Violation})
		return
	}
	if !s.put(&request{stream: st, open: open, conn: s}) {
		_ = st.Abort(protocol.Failure{Kind: fault.Unavailable})
	}
}

// put hands a request on; false: the connection has ended.
func (s *served) put(r ports.StreamRequest) bool {
	select {
	case s.requests <- r:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *served) count(n int) {
	s.mu.Lock()
	s.live += n
	if n > 0 {
		s.ever++
	}
	s.mu.Unlock()
	s.proxy.leases.streamed(s.member, n)
}

// Accept implements ports.BrokerConn.
func (s *served) Accept(ctx context.Context) (ports.StreamRequest, error) {
	select {
	case r := <-s.requests:
		return r, nil
	case <-s.ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if fault.KindOf(s.err) == fault.Violation {
			return nil, s.err
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "accepting was given up")
	}
}

// Close implements ports.BrokerConn.
func (s *served) Close(reason protocol.Failure) error {
	_ = s.control.Close(reason)
	s.stop()
	s.all.Wait()
	err := s.conn.CloseWithError(codeDone, "")
	s.repeats.wait()
	return err
}

// Numbers implements ports.BrokerConn.
func (s *served) Numbers() protocol.ConnNumbers {
	n := s.control.Numbers()
	s.mu.Lock()
	n.Streams += s.live
	n.StreamsTotal += s.ever
	s.mu.Unlock()
	n.BytesIn += s.traffic.in.Load()
	n.BytesOut += s.traffic.out.Load()
	n.FramesIn += s.traffic.framesIn.Load()
	n.FramesOut += s.traffic.framesOut.Load()
	return n
}

// request is a stream that waits for its answer, a ports.StreamRequest.
type request struct {
	stream *stream
	open   *protocol.OpenStream
	conn   *served
}

var _ ports.StreamRequest = (*request)(nil)

func (r *request) Host() string                { return r.open.Host }
func (r *request) Start() protocol.StartPolicy { return r.open.Start }
func (r *request) First() []byte               { return nil } // they are on the stream
func (r *request) Public() bool                { return false }
func (r *request) Ask() ports.Ask              { return nil }

// Open implements ports.StreamRequest. The first stream of a connection ends those whose place it takes.
func (r *request) Open() (ports.Stream, error) {
	head, err := appendOpened(r.stream.number())
	if err == nil {
		_, err = r.stream.Write(head)
	}
	if err != nil {
		_ = r.stream.Abort(*protocol.FailureOf(err))
		return nil, err
	}
	r.conn.use.Do(r.conn.takePlace)
	return r.stream, nil
}

// takePlace ends the older connections of the same key.
func (s *served) takePlace() {
	for _, old := range s.proxy.leases.inUse(s.member) {
		s.proxy.all.Go(func() { _ = old.CloseWithError(codeReplaced, "") })
	}
}

// Hand implements ports.StreamRequest: there is nothing to hand over.
func (r *request) Hand(io.ReadWriteCloser) (ports.Stream, bool, error) { return nil, false, nil }

// Report implements ports.StreamRequest: no link is under a stream to the daemon of this machine.
func (r *request) Report(protocol.LinkReport) {}

// Refuse implements ports.StreamRequest.
func (r *request) Refuse(f protocol.Failure) error {
	head, err := appendRefused(r.stream.number(), f)
	if err == nil {
		_, err = r.stream.Write(head)
	}
	_ = r.stream.Close()
	return err
}
