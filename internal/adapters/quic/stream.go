package quic

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// stream is a QUIC stream as a ports.Stream: its window is QUIC's, and no other stream's loss delays it.
type stream struct {
	qs      *quicgo.Stream
	traffic *traffic
	writing chan struct{} // cap 1: held by who writes or ends
	ended   atomic.Bool   // by this side
	over    func()        // called once when this side ends it, or nil
	room    *room         // of the connection; nil: others leave none and get none

	repeats  *repeats  // of the connection; nil: nothing is said twice
	outgoing *outgoing // what is to be, if there are any
	wrote    int64     // bytes so far, guarded by writing

	mu       sync.Mutex // a leaf; the QUIC library's deadline is set under it, which never waits
	arrivals arrivals
	ahead    int64     // up to where repeats brought what QUIC had not, or 0
	aheadAt  time.Time // since when
	deadline time.Time // of reads
	nudged   bool      // a passed one is set in its place: what came again is to be looked at
}

var _ ports.Stream = (*stream)(nil)

// traffic counts what streams carry.
type traffic struct{ in, out, framesIn, framesOut atomic.Uint64 }

func newStream(qs *quicgo.Stream, t *traffic) *stream {
	return &stream{qs: qs, traffic: t, writing: make(chan struct{}, 1)}
}

// number is the stream's in its connection.
func (s *stream) number() int64 { return int64(s.qs.StreamID()) }

// Read implements ports.Stream.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if n := s.takeAgain(p); n > 0 {
			return s.count(n), nil
		}
		read, err := s.qs.Read(p)
		s.mu.Lock()
		n := s.arrivals.pass(p[:read])
		late, caughtUp := s.caughtUp()
		nudged := s.nudged
		s.mu.Unlock()
		if caughtUp {
			s.repeats.missed(late)
		}
		switch {
		case n > 0:
			return s.count(n), nil // an error comes again
		case read > 0, nudged && errors.Is(err, os.ErrDeadlineExceeded):
		default:
			return 0, s.meaning(err)
		}
	}
}

// count counts what was read.
func (s *stream) count(n int) int {
	s.traffic.in.Add(uint64(n))
	s.traffic.framesIn.Add(1)
	return n
}

// takeAgain reads what came again and goes on where reading is.
func (s *stream) takeAgain(p []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nudged {
		s.nudged = false
		_ = s.qs.SetReadDeadline(s.deadline)
	}
	if s.ended.Load() {
		return 0
	}
	n := s.arrivals.take(p)
	if n > 0 && s.ahead == 0 {
		s.ahead, s.aheadAt = s.arrivals.next, time.Now()
	}
	return n
}

// caughtUp reports whether QUIC has brought now what a repeat did, and how much later, with mu held.
func (s *stream) caughtUp() (late time.Duration, ok bool) {
	if s.ahead == 0 || s.arrivals.came < s.ahead {
		return 0, false
	}
	s.ahead = 0
	return time.Since(s.aheadAt), true
}

// again hears what the other side has said again.
func (s *stream) again(r repeat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arrivals.offer(r) && !s.nudged {
		s.nudged = true
		_ = s.qs.SetReadDeadline(time.Unix(1, 0))
	}
}

// Write implements ports.Stream.
func (s *stream) Write(p []byte) (int, error) {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if s.ended.Load() {
		return 0, errStreamClosed()
	}
	n, err := s.put(p)
	s.repeats.wrote(s.outgoing, s.wrote, p[:n])
	s.wrote += int64(n)
	s.traffic.out.Add(uint64(n))
	s.traffic.framesOut.Add(1)
	return n, s.meaning(err)
}

// put writes what is small at once, and bulk in turns while others want room. What a stream begins with wants none.
func (s *stream) put(p []byte) (n int, err error) {
	if len(p) <= maxRepeatBytes {
		if s.wrote > 0 {
			s.room.want(s.number())
		}
		return s.qs.Write(p)
	}
	for n < len(p) && err == nil {
		turn := p[n:]
		if s.room.wanted(s.number()) {
			s.room.wait(&s.ended)
			turn = turn[:min(len(turn), turnBytes)]
		}
		var k int
		k, err = s.qs.Write(turn)
		n += k
	}
	return n, err
}

// SetReadDeadline has reads fail from t on.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	if s.nudged {
		return nil // it is set when that was looked at
	}
	return s.qs.SetReadDeadline(t)
}

// Close implements ports.Stream.
func (s *stream) Close() error {
	if s.end() {
		_ = s.qs.SetWriteDeadline(time.Unix(1, 0)) // a Write that waits gives up; what was taken is delivered
		s.writing <- struct{}{}
		_ = s.qs.Close()
		<-s.writing
		s.qs.CancelRead(codeDone)
	}
	return nil
}

// Abort implements ports.Stream. Of the failure its kind travels.
func (s *stream) Abort(f protocol.Failure) error {
	if s.end() {
		s.qs.CancelWrite(quicgo.StreamErrorCode(f.Kind) + 1)
		s.qs.CancelRead(quicgo.StreamErrorCode(f.Kind) + 1)
	}
	return nil
}

// end notes the end from this side; false: it was noted before.
func (s *stream) end() bool {
	if s.ended.Swap(true) {
		return false
	}
	s.repeats.leave(s)
	s.room.leave(s.number())
	if s.over != nil {
		s.over()
	}
	return true
}

// errStreamClosed is what Read and Write return after a Close or Abort of this side.
func errStreamClosed() error {
	return fault.Wrap(fault.Canceled, io.ErrClosedPipe, "the stream is closed")
}

// meaning is an error of the QUIC library's as the ports have it.
func (s *stream) meaning(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case s.ended.Load():
		return errStreamClosed()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	}
	var reset *quicgo.StreamError
	if !errors.As(err, &reset) || !reset.Remote {
		return lost(err)
	}
	if reset.ErrorCode == codeDone {
		return fault.Wrap(fault.Unavailable, err, "the other side has closed the stream")
	}
	kind := fault.Internal
	if k := reset.ErrorCode - 1; k <= 0xff && fault.Kind(k).Valid() {
		kind = fault.Kind(k)
	}
	e := fault.Wrap(kind, err, "the other side gave the stream up")
	e.Peer = true
	return e
}

// lost is the end of a connection as a fault.
func lost(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	if code, ok := endOf(err); ok {
		switch code {
		case codeRefused:
			return fault.Wrap(fault.Denied, err, "the proxy there does not let this broker in")
		case codeReplaced:
			return fault.Wrap(fault.Unavailable, err, "a newer connection has taken this one's place")
		case codeLimit:
			return fault.Wrap(fault.Limit, err, "the proxy there has too many connections")
		case codeEnding:
			return fault.Wrap(fault.Unavailable, err, "the proxy there has ended")
		case codeBroken:
			return fault.Wrap(fault.Violation, err, "the proxy there found the protocol broken")
		}
		return fault.Wrap(fault.Unavailable, err, "the connection ended")
	}
	return fault.Wrap(fault.Unavailable, err, "the connection broke")
}

// endOf is the code that the other side ended the connection with.
func endOf(err error) (code quicgo.ApplicationErrorCode, ok bool) {
	var end *quicgo.ApplicationError
	if errors.As(err, &end) && end.Remote {
		return end.ErrorCode, true
	}
	return 0, false
}
