package brokeripc

import (
	"io"
	"sync"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// Stream is one logical stream, a ports.Stream. One goroutine reads, one writes, any may
// close or abort it.
type Stream struct {
	conn *conn
	id   protocol.StreamID

	// Owned by the one reader.
	cur *chunk

	// Guarded by conn.mu.
	live     bool                     // the machine knows it as opening or open
	answered chan struct{}            // client: closed when the broker has answered; nil afterwards
	opened   bool                     // client: the broker has granted it
	reports  chan protocol.LinkReport // client: the newest
	direct   int                      // client: the descriptor that came with the answer, until OpenStream takes it
	rerr     error                    // what Read returns once the queue is empty
	werr     error                    // what Write returns
	dropped  bool                     // what was received is void

	// Inbound, guarded by conn.mu.
	recv    recvWindow
	owed    int64                // credit to grant with the next write of the connection
	told    *protocol.LinkReport // what goes to the client then, or nil
	queue   recvQueue
	held    int64  // cost of what was received and not read
	dst     []byte // where a Read waits for data, or nil
	got     int    // bytes the pump put into dst
	mine    bool   // the reading turn was handed to the Read that waits
	filling bool   // the pump reads into dst: the Read must not return
	rcond   sync.Cond
	rafter  *Stream // behind this one among the waiting readers
	bulk    bool    // what a Read got last, reading itself, was bulk
	doubt   int     // frames for which the turn is not kept
	doubts  int     // what doubt was set to last

	// Outbound, guarded by conn.mu.
	send    sendWindow
	quantum int64 // of writeTurns
	frame   int64 // bytes of the frame that waits
	lined   bool  // waits in a line of writeTurns
	granted bool  // the writing turn was handed to the Write that waits
	behind  *Stream
	wcond   sync.Cond
}

func (c *conn) newStream(id protocol.StreamID) *Stream {
	s := &Stream{
		conn: c, id: id, live: true, quantum: quantum, direct: none,
		recv: newRecvWindow(c.opts.window, cost(c.opts.chunk)), send: newSendWindow(c.opts.window),
	}
	s.rcond.L, s.wcond.L = &c.mu, &c.mu
	c.streams[id] = s
	c.numbers.StreamsTotal++
	return s
}

func (s *Stream) ref() protocol.StreamRef {
	return protocol.StreamRef{Scope: s.conn.scope, ID: s.id}
}

// errStreamClosed is what Read and Write return after a Close or Abort of this side.
func errStreamClosed() error {
	return fault.Wrap(fault.Canceled, io.ErrClosedPipe, "the stream is closed")
}

// Close ends the stream in order: what was written is delivered, then the peer reads io.EOF.
// What was received and not read is dropped. A Read or Write that waits returns.
func (s *Stream) Close() error { return s.quit(nil) }

// Abort ends the stream with a failure, which the peer's Read and Write return.
func (s *Stream) Abort(f protocol.Failure) error { return s.quit(&f) }

func (s *Stream) quit(f *protocol.Failure) error {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.live {
		c.forget(s)
		return nil
	}
	c.hangUp(s, f)
	c.finish(s, errStreamClosed(), errStreamClosed(), true)
	return nil
}

// settle ends a stream because of what the peer did on it, with mu held; siblings go on.
func (c *conn) settle(s *Stream, err *fault.Error) {
	c.hangUp(s, protocol.FailureOf(err))
	c.finish(s, err, err, true)
}

// hangUp tells the peer that this side ends a live stream, with mu held.
func (c *conn) hangUp(s *Stream, f *protocol.Failure) {
	if c.machine.Close(s.id) {
		c.peer.hangUp(s.ref(), f)
	}
}

// Read implements ports.Stream.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c := s.conn
	for {
		c.mu.Lock()
		if s.dropped {
			err := s.rerr
			c.mu.Unlock()
			return 0, err
		}
		if s.cur == nil && !s.queue.empty() {
			s.cur = s.queue.pop()
		}
		if s.cur != nil {
			c.mu.Unlock()
			return s.readChunk(p), nil
		}
		if s.rerr != nil {
			err := s.rerr
			c.mu.Unlock()
			return 0, err
		}
		n := c.await(s, p) // releases mu
		if n > 0 {
			return n, nil
		}
	}
}

// readChunk copies outside the lock: the chunk is the reader's.
func (s *Stream) readChunk(p []byte) int {
	n, done := s.cur.read(p)
	if s.cur.empty() {
		s.cur.free()
		s.cur = nil
	}
	if done > 0 {
		s.conn.mu.Lock()
		s.conn.consumed(s, done)
		s.conn.mu.Unlock()
	}
	return n
}

// Write implements ports.Stream. An error says that the stream or connection has ended; n
// bytes were handed to the carriage before.
func (s *Stream) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k := min(len(p)-n, s.conn.opts.chunk)
		if err := s.conn.writeFrame(s, p[n:n+k]); err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}
