package brokeripc

import (
	"sync"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// maxOvertaking bounds the data that goes before the frames that wait for their turn: one
	// quantum, of all streams together. Beyond it a frame lines up, whatever its stream has left.
	maxOvertaking = quantum
)

// writeTurn says who writes the carriage and what waits for it. Guarded by conn.mu.
type writeTurn struct {
	taken      bool
	turns      writeTurns
	unsent     []byte    // frames that go before those in line: control messages, some data
	handing    []int     // descriptors that go with unsent, in the order of their frames
	overtaking int       // bytes of data in unsent
	small      uint64    // numbers.FramesOut with the last small frame
	owing      []*Stream // streams with credit to grant; at most protocol.MaxStreams
	flusher    sync.Cond
	room       sync.Cond // unsent was taken
}

// writeFrame sends one data frame of s; it returns once p is the caller's again.
func (c *conn) writeFrame(s *Stream, p []byte) error {
	c.mu.Lock()
	sent, err := c.beginWrite(s, p)
	if err != nil || sent {
		c.mu.Unlock()
		return err
	}
	c.takeUnsent()
	c.out.head = len(c.out.buf)
	c.appendDataHead(&c.out.buf, s, len(p))
	c.out.mixed = c.numbers.FramesOut-c.writing.small < mixedFrames
	c.mu.Unlock()
	if len(p) > copyBelow {
		c.tune(c.out.wants())
	}
	if err = c.send(p); err != nil {
		c.fail(err)
	}
	c.mu.Lock()
	c.leaveWriting()
	if err != nil {
		err = c.err
	}
	c.mu.Unlock()
	return err
}

// beginWrite charges a frame to the window and gets the writing turn for it, or sends it on
// its way where it may overtake. With mu held, which it may release while it waits.
func (c *conn) beginWrite(s *Stream, p []byte) (sent bool, err error) {
	if err := c.spend(s, cost(len(p))); err != nil {
		return false, err
	}
	c.numbers.FramesOut++
	c.numbers.BytesOut += uint64(len(p))
	w, n := &c.writing, len(p)
	if n <= copyBelow {
		w.small = c.numbers.FramesOut
	}
	switch {
	case !w.taken:
		w.taken = true
		s.quantum = quantum
	case s.quantum >= int64(n) && w.overtaking+n <= maxOvertaking:
		s.quantum -= int64(n)
		w.overtaking += n
		w.unsent = roomFor(w.unsent, n+brokerwire.MaxDataHead+streamframe.HeaderBytes)
		c.appendDataHead(&w.unsent, s, n)
		w.unsent = append(w.unsent, p...)
		return true, nil
	default:
		return false, c.lineUp(s, n)
	}
	return false, nil
}

// spend waits for credit and takes it, with mu held.
func (c *conn) spend(s *Stream, n int64) error {
	for waited := false; s.werr == nil; waited = true {
		if s.send.spend(n) {
			return nil
		}
		if !waited {
			c.numbers.CreditWaits++
		}
		c.reading.urgent++
		c.offerTurn()
		s.wcond.Wait()
		c.reading.urgent--
	}
	return s.werr
}

// lineUp waits for the writing turn, with mu held.
func (c *conn) lineUp(s *Stream, n int) error {
	c.writing.turns.wait(s, n)
	for !s.granted && s.werr == nil {
		s.wcond.Wait()
	}
	granted := s.granted
	s.granted = false
	if s.werr != nil && granted {
		c.leaveWriting()
	}
	return s.werr
}

// leaveWriting gives the writing turn up, with mu held. What must go before any bulk and has
// come meanwhile is sent on the way out: once, so nobody writes for others without end.
func (c *conn) leaveWriting() {
	w := &c.writing
	if c.unsent() && !c.closed {
		c.sendUnsent()
	}
	if s := w.turns.next(); s != nil {
		s.granted = true
		s.wcond.Signal()
		return
	}
	w.taken = false
	if c.unsent() || c.err != nil {
		w.flusher.Signal()
	}
}

// sendUnsent sends what goes before any bulk, with the writing turn and mu held, which it
// releases meanwhile.
func (c *conn) sendUnsent() {
	c.takeUnsent()
	c.mu.Unlock()
	if err := c.send(nil); err != nil {
		c.fail(err)
	}
	c.mu.Lock()
}

func (c *conn) unsent() bool { return len(c.writing.unsent) > 0 || len(c.writing.owing) > 0 }

// takeUnsent moves what goes before any bulk to the sender, with mu and the writing turn held.
func (c *conn) takeUnsent() {
	w := &c.writing
	spare := c.out.buf[:0]
	c.out.buf, w.unsent, w.overtaking = w.unsent, spare, 0
	c.out.hand, w.handing = w.handing, nil
	w.room.Broadcast()
	c.takeOwed()
}

// takeOwed turns what is owed to the peer into grants, with mu and the writing turn held.
func (c *conn) takeOwed() {
	w := &c.writing
	for i, s := range w.owing {
		if s.owed > 0 {
			c.appendGrant(&c.out.buf, s)
		}
		if s.told != nil {
			c.appendReport(&c.out.buf, s)
		}
		w.owing[i] = nil
	}
	w.owing = w.owing[:0]
}

// owe notes credit to grant, with mu held.
func (c *conn) owe(s *Stream, credit int64) {
	if s.owed == 0 && s.told == nil {
		c.writing.owing = append(c.writing.owing, s)
	}
	s.owed += credit
	c.wantFlush()
}

// wantFlush has the flusher send what waits if no writer will, with mu held.
func (c *conn) wantFlush() {
	if !c.writing.taken {
		c.writing.flusher.Signal()
	}
}

func (c *conn) appendDataHead(dst *[]byte, s *Stream, n int) {
	b, at := beginFrame(*dst)
	b = c.refs.AppendDataHead(b, s.id, n)
	endFrame(b, at, n)
	*dst = b
}

func (c *conn) appendGrant(dst *[]byte, s *Stream) {
	b, at := beginFrame(*dst)
	b = c.refs.AppendWindowUpdate(b, s.id, uint32(s.owed))
	endFrame(b, at, 0)
	*dst = b
	s.owed = 0
}

// post adds a control message to what goes before any bulk, with mu held. A peer that lets
// more of them wait than maxUnsent loses the connection.
func (c *conn) post(b []byte, err error) {
	w := &c.writing
	switch {
	case err != nil:
		c.shutLocked(err, false)
	case len(w.unsent)+len(b) > maxUnsent:
		c.shutLocked(fault.New(fault.Limit, "%d bytes of control messages wait for a peer that does not read, the limit is %d", len(w.unsent)+len(b), maxUnsent), false)
	default:
		d, at := beginFrame(w.unsent)
		d = append(d, b...)
		endFrame(d, at, 0)
		w.unsent = d
		c.wantFlush()
	}
}

// flush sends what no writer takes along, and closes the carriage at the end.
func (c *conn) flush() {
	w := &c.writing
	c.mu.Lock()
	for !c.closed {
		switch {
		case w.taken:
			w.flusher.Wait()
		case c.unsent():
			w.taken = true
			c.sendUnsent()
			c.leaveWriting()
		case c.err != nil:
			c.mu.Unlock()
			c.closeCarriage()
			c.mu.Lock()
		default:
			w.flusher.Wait()
		}
	}
	c.mu.Unlock()
	c.stopped()
}
