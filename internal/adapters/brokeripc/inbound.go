package brokeripc

import (
	"errors"
	"io"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// phase says how far the current frame has come. A read that is interrupted leaves it, and
// whoever has the reading turn next goes on from there.
type phase uint8

const (
	atFrame phase = iota // between frames, or dropping the rest of one
	atHead
	atBody  // a message that is decoded whole
	atSmall // payload that fits the read-ahead
	atRead  // payload that goes straight to a Read that waits
	atChunk // payload that goes to a chunk of its own
)

// inbound is the frame under way. Owned by who has the reading turn.
type inbound struct {
	phase  phase
	size   int // of the envelope
	stream *Stream
	n      int    // payload bytes
	chunk  *chunk // filled up to chunk.w
}

// readFrame reads one frame, or the rest of one, and acts on it. It returns the bytes that
// went straight into p, own's buffer.
func (c *conn) readFrame(own *Stream, p []byte) (int, error) {
	in := &c.in
	if in.phase == atFrame {
		n, err := c.rd.Next(protocol.MaxControlBytes)
		if err != nil {
			return 0, err
		}
		in.size, in.phase = n, atHead
	}
	if in.phase == atHead {
		head, err := c.rd.Peek(brokerwire.MaxDataHead)
		if err != nil {
			return 0, err
		}
		id, skip, n, ok := c.refs.ParseData(head, in.size)
		if ok {
			c.rd.Skip(skip)
			if direct, err := c.beginData(id, n, own, len(p)); err != nil || direct {
				return c.readDirect(own, p, n, err)
			}
		} else {
			in.phase = atBody
		}
	}
	switch in.phase {
	case atBody:
		return 0, c.readMessage()
	case atSmall:
		return 0, c.readSmall()
	case atRead:
		return 0, c.readForOther()
	case atChunk:
		return 0, c.readChunk()
	}
	return 0, nil // atFrame: the payload is for nobody and dropped with the next frame
}

// beginData decides where the payload of a data frame goes and charges it to the window.
func (c *conn) beginData(id protocol.StreamID, n int, own *Stream, room int) (direct bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.phase = atFrame
	s, err := c.charge(id, n)
	if s == nil || err != nil {
		return false, err
	}
	c.in.stream, c.in.n = s, n
	switch {
	case s == own && n <= room: // its queue is empty, or it would not pump
		return true, nil
	case n <= smallFrame:
		c.in.phase = atSmall
	case c.intr != nil && s.awaits(n):
		c.in.phase = atRead
		s.filling = true
	default:
		c.in.phase = atChunk
		c.in.chunk = newChunk(n, true)
	}
	return false, nil
}

// charge accepts a data frame of n bytes for a stream, with mu held. A nil stream: it is to
// be dropped. The error is a violation.
func (c *conn) charge(id protocol.StreamID, n int) (*Stream, error) {
	c.numbers.FramesIn++
	c.numbers.BytesIn += uint64(n)
	if v, err := c.machine.PeerFrame(id); err != nil || v == brokerwire.Discard {
		return nil, orNil(err)
	}
	s := c.streams[id]
	switch {
	case n > c.opts.chunk:
		c.settle(s, fault.New(fault.Violation, "a data frame of %d bytes is %d over the limit of %d", n, n-c.opts.chunk, c.opts.chunk))
		return nil, nil
	case !s.recv.receive(cost(n)):
		c.numbers.FlowErrors++
		c.settle(s, fault.New(fault.Violation, "flow control: a frame that costs %d is %d beyond the window", cost(n), cost(n)-s.recv.left))
		return nil, nil
	}
	s.held += cost(n)
	c.parked += cost(n)
	return s, nil
}

// orNil turns a nil *fault.Error into a nil error.
func orNil(err *fault.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// readDirect reads the payload into the buffer of the Read that pumps.
func (c *conn) readDirect(own *Stream, p []byte, n int, err error) (int, error) {
	if err == nil {
		err = c.fill(own, p[:n])
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	c.consumed(own, cost(n))
	c.mu.Unlock()
	return n, nil
}

// awaits reports whether a Read waits for data, with room for a frame of n bytes, and nothing
// else is on its way to it.
func (s *Stream) awaits(n int) bool {
	return s.dst != nil && s.got == 0 && !s.mine && n <= len(s.dst) && s.queue.empty()
}

// readForOther reads the payload into the buffer of a Read that waits, which does not return
// before that is over.
func (c *conn) readForOther() error {
	s, n := c.in.stream, c.in.n
	c.in = inbound{}
	err := c.fill(s, s.dst[:n])
	c.mu.Lock()
	s.filling = false
	if err == nil && !s.dropped {
		s.got = n
		c.consumed(s, cost(n))
	}
	if !c.reading.wake(s) {
		s.rcond.Signal()
	}
	c.mu.Unlock()
	return err
}

// fill reads payload of s into p, unless s ends meanwhile: the rest is dropped then. An
// interruption that was meant for another stream changes nothing.
func (c *conn) fill(s *Stream, p []byte) error {
	for len(p) > 0 {
		n, err := c.rd.Read(p)
		p = p[n:]
		if err == nil {
			continue
		}
		if !c.interrupted(err) {
			return err
		}
		c.mu.Lock()
		over := s.rerr != nil
		c.mu.Unlock()
		if over {
			return errFillEnded
		}
	}
	return nil
}

// errFillEnded ends no more than a fill.
var errFillEnded = errors.New("the stream has ended")

func (c *conn) readSmall() error {
	b, err := c.rd.Peek(c.in.n)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.deliver(c.in.stream, b)
	c.mu.Unlock()
	c.rd.Skip(len(b))
	c.in.phase, c.in.stream = atFrame, nil
	return nil
}

// deliver gives a small frame to the Read that waits for it, or to the queue, with mu held.
func (c *conn) deliver(s *Stream, b []byte) {
	switch {
	case s.dropped:
		return
	case s.awaits(len(b)):
		s.got = copy(s.dst, b)
		c.consumed(s, cost(len(b)))
	default:
		s.queue.add(b)
	}
	if c.reading.wake(s) {
		c.reading.small = true
	}
}

func (c *conn) readChunk() error {
	in := &c.in
	for in.chunk.w < in.n {
		m, err := c.rd.Read(in.chunk.buf[in.chunk.w:in.n])
		if err != nil {
			return err
		}
		in.chunk.w += m
	}
	c.mu.Lock()
	if s := in.stream; s.dropped {
		in.chunk.free()
	} else {
		s.queue.push(in.chunk)
		c.reading.wake(s)
	}
	c.mu.Unlock()
	*in = inbound{}
	return nil
}

// consumed notes that frames of a cost were read to their end, with mu held. What is owed to
// the peer for it is a number that goes out with the next write.
func (c *conn) consumed(s *Stream, done int64) {
	if s.dropped {
		return
	}
	s.held -= done
	c.unpark(done)
	if !s.live {
		return
	}
	if g := s.recv.consume(done); g > 0 {
		c.owe(s, g)
	}
}

// readMessage reads and handles everything but stream data in its usual form.
func (c *conn) readMessage() error {
	body, err := c.rd.Body()
	if err != nil {
		return err
	}
	c.in.phase = atFrame
	if id, credit, ok := c.refs.ParseWindowUpdate(body); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.granted(id, credit)
	}
	m, err := c.peer.decode(body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	after, err := c.handle(m)
	c.mu.Unlock()
	if after != nil {
		after()
	}
	return err
}

// handle acts on a decoded message, with mu held. What must not run under the lock is returned.
func (c *conn) handle(m any) (after func(), err error) {
	switch m := m.(type) {
	case *protocol.StreamData:
		return nil, c.unusualData(m)
	case *protocol.StreamWindowUpdate:
		if err := c.inScope(m.Ref); err != nil {
			return nil, err
		}
		return nil, c.granted(m.Ref.ID, m.Credit)
	case *protocol.CloseStream:
		return nil, c.peerClosed(m.Ref, m.Failure)
	case *protocol.StreamClosed:
		return nil, c.peerClosed(m.Ref, m.Failure)
	}
	return c.peer.message(m)
}

// inScope refuses references to another connection.
func (c *conn) inScope(ref protocol.StreamRef) error {
	if ref.Scope != c.scope {
		return fault.New(fault.Violation, "stream %d of another connection", ref.ID)
	}
	return nil
}

// unusualData is stream data whose encoding Refs does not know.
func (c *conn) unusualData(m *protocol.StreamData) error {
	if err := c.inScope(m.Ref); err != nil {
		return err
	}
	s, err := c.charge(m.Ref.ID, len(m.Data))
	if s == nil || err != nil {
		return err
	}
	switch n := len(m.Data); {
	case n == 0:
		c.consumed(s, cost(0))
	case n <= smallFrame:
		c.deliver(s, m.Data)
	default:
		k := newChunk(n, true)
		k.w = copy(k.buf, m.Data)
		s.queue.push(k)
		c.reading.wake(s)
	}
	return nil
}

// granted adds credit to a stream's window, with mu held.
func (c *conn) granted(id protocol.StreamID, credit uint32) error {
	v, err := c.machine.PeerFrame(id)
	if err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	s := c.streams[id]
	if !s.send.grant(int64(credit)) {
		c.numbers.FlowErrors++
		c.settle(s, fault.New(fault.Violation, "flow control: a grant of %d where 1 to %d is possible", credit, s.send.window-s.send.credit))
		return nil
	}
	s.wcond.Signal()
	return nil
}

// peerClosed ends a stream that the peer has ended, with mu held. After an orderly close
// what was received stays readable.
func (c *conn) peerClosed(ref protocol.StreamRef, f *protocol.Failure) error {
	if err := c.inScope(ref); err != nil {
		return err
	}
	v, err := c.machine.PeerClose(ref.ID)
	if err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	s := c.streams[ref.ID]
	if s.answered != nil {
		c.settled()
	}
	if f != nil {
		c.finish(s, f.Fault(), f.Fault(), true)
		return nil
	}
	c.finish(s, io.EOF, fault.New(fault.Unavailable, "the other side has closed the stream"), false)
	return nil
}
