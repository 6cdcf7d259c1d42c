package brokeripc

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// maxUnsent bounds the control messages that wait for the carriage. A peer that lets us
	// owe more, by asking without reading answers, ends the connection.
	maxUnsent = 256 << 10

	// closeGrace is how long a goodbye may wait for the carriage before it is closed anyway.
	closeGrace = time.Second

	// bulkBuffer is what a Unix socket may hold of what we wrote, five frames of the largest size: enough that neither end
	// waits for the other to be scheduled, which would keep a small frame longer than the bulk before it. The kernel doubles the
	// number, counts a little more than the bytes, and takes a piece of half a frame as long as the sum is not reached: so the sixth
	// frame waits as a whole, and what comes meanwhile can go before it.
	bulkBuffer = 156 << 10
	// mixedBuffer takes its place while small frames go between and who reads is slow: two frames, since what is in the socket
	// cannot be overtaken.
	mixedBuffer = 58 << 10
	// mixedFrames without a small one among them end the mixture: 8 MiB, some milliseconds.
	mixedFrames = 128
	// slowReader takes fewer bytes a second than that: what bulkBuffer holds delays a small frame by most of a millisecond and more.
	slowReader = 400 << 20
)

// peer is what differs between the two ends. All but decode are called with conn.mu held.
type peer interface {
	// decode reads one envelope from the other end.
	decode(body []byte) (any, error)
	// message handles a message that is about no live stream. The error is a violation, which
	// ends the connection; after is to be called without the lock.
	message(m any) (after func(), err error)
	// hangUp tells the other end that this one ends a stream.
	hangUp(ref protocol.StreamRef, f *protocol.Failure)
	// goodbye tells the other end that the connection ends, where it has words for it.
	goodbye(reason error)
	// ended tells that no message follows.
	ended()
}

// conn is one broker conversation after registration, the same at both ends.
type conn struct {
	// Set by newConn, never changed.
	rw    io.ReadWriteCloser
	intr  interface{ SetReadDeadline(time.Time) error } // interrupts a read, or nil: the keeper alone reads
	scope protocol.Scope
	refs  *brokerwire.Refs
	opts  limits
	peer  peer
	done  chan struct{} // closed when keeper and flusher have ended
	over  chan struct{} // closed with the first cause: nothing new begins

	// Owned by who has the reading turn.
	rd *streamframe.Reader
	in inbound

	// Owned by who has the writing turn.
	out sender

	// mu is a leaf lock: nothing blocks while it is held. It guards everything below and
	// the guarded fields of every stream.
	mu      sync.Mutex
	machine *brokerwire.Machine
	streams map[protocol.StreamID]*Stream // live ones
	err     error                         // first cause of the end
	closed  bool                          // the carriage is closed or about to be
	grace   *time.Timer                   // closes the carriage when the goodbye takes too long
	running int                           // keeper and flusher
	parked  int64                         // cost of what was received and not read, all streams
	heard   time.Time                     // when a frame came last, or the conversation began
	numbers Numbers

	reading readTurn
	writing writeTurn
}

// limits are the numbers of a connection; tests make them small.
type limits struct {
	window int64 // of a stream, each direction
	chunk  int   // largest payload of a data frame, as agreed
	parked int64 // beyond it the carriage is not read
}

func agreedLimits(a *protocol.Agreed) limits {
	return limits{window: protocol.StreamWindowBytes, chunk: int(a.MaxChunk), parked: protocol.MaxParkedBytes}
}

func shortRefs(a *protocol.Agreed) bool { return a.Features&protocol.FeatureShortRefs != 0 }

// Numbers is what a connection holds and has done.
type Numbers = protocol.ConnNumbers

func newConn(rw io.ReadWriteCloser, rd *streamframe.Reader, scope protocol.Scope, refs *brokerwire.Refs, opts limits) *conn {
	c := &conn{
		rw: rw, rd: rd, scope: scope, refs: refs, opts: opts,
		done: make(chan struct{}), over: make(chan struct{}),
		machine: brokerwire.NewMachine(), streams: make(map[protocol.StreamID]*Stream), heard: time.Now(),
	}
	if d, ok := rw.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Time{}) == nil {
		c.intr = d
	}
	c.out = c.newSender()
	c.tune(bulkBuffer)
	c.reading.keeper.L, c.reading.heeded.L = &c.mu, &c.mu
	c.writing.flusher.L, c.writing.room.L = &c.mu, &c.mu
	_, _ = c.machine.PeerRegister()
	return c
}

// start lets keeper and flusher run. The keeper reads first: nobody else may for long.
func (c *conn) start(p peer) {
	c.peer = p
	c.running = 2
	c.mu.Lock()
	c.giveKeeper()
	c.mu.Unlock()
	go c.keep()
	go c.flush()
}

// stopped is the last act of keeper and flusher.
func (c *conn) stopped() {
	c.mu.Lock()
	c.running--
	last := c.running == 0
	if last && c.grace != nil {
		c.grace.Stop()
	}
	if last {
		c.dropHanding()
	}
	c.mu.Unlock()
	if last {
		close(c.done)
	}
}

// fail ends the connection because the carriage did. It may be called with any error and
// more than once; the first cause stays.
func (c *conn) fail(cause error) {
	c.mu.Lock()
	c.end(lost(cause))
	c.mu.Unlock()
	c.closeCarriage()
}

// lost is the end of a carriage as a fault.
func lost(cause error) error {
	if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) {
		return fault.Wrap(fault.Unavailable, cause, "the connection ended")
	}
	return fault.Wrap(fault.Unavailable, cause, "the connection broke")
}

// shut ends the connection for a reason of ours: what waits to be sent is sent, and the
// flusher closes the carriage then, at the latest after closeGrace.
func (c *conn) shut(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shutLocked(reason, true)
}

func (c *conn) shutLocked(reason error, tell bool) {
	if c.err != nil {
		return
	}
	if tell {
		c.peer.goodbye(reason)
	}
	c.end(reason)
	c.grace = time.AfterFunc(closeGrace, c.closeCarriage)
}

// end notes the first cause and releases every waiter, with mu held.
func (c *conn) end(cause error) {
	if c.err != nil {
		return
	}
	c.err = cause
	c.machine.Closing()
	for id, s := range c.streams {
		c.machine.Close(id)
		c.finish(s, cause, cause, true)
	}
	c.peer.ended()
	close(c.over)
	c.reading.stop()
	c.writing.flusher.Broadcast()
}

// broken ends the connection because of what reading it gave: a violation is told to the
// peer where that is possible, everything else is the carriage's end.
func (c *conn) broken(err error) {
	if fault.KindOf(err) == fault.Violation {
		c.shut(err)
		return
	}
	c.fail(err)
}

// closeCarriage closes the carriage once; it releases who reads and writes it.
func (c *conn) closeCarriage() {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.machine.Closed()
	c.writing.flusher.Broadcast()
	c.mu.Unlock()
	if first {
		_ = c.rw.Close() // the connection is over whatever it says
	}
}

// close ends the connection in order and waits until nothing of it runs any more.
func (c *conn) close(reason error) {
	c.shut(reason)
	<-c.done
}

// cause is the first cause of the end, nil before.
func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// snapshot is the connection's numbers now.
func (c *conn) snapshot() Numbers {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.numbers
	n.Streams = len(c.streams)
	n.ParkedBytes = uint64(c.parked)
	for _, s := range c.streams {
		n.CreditOwedBytes += uint64(s.recv.earned + s.owed)
	}
	return n
}

// finish takes a stream out of the live ones with what its reader and writer get from now
// on, with mu held; drop also forgets what was received. The first end of a stream stays.
func (c *conn) finish(s *Stream, rerr, werr error, drop bool) {
	if !s.live {
		return
	}
	delete(c.streams, s.id)
	s.rerr, s.werr = rerr, werr
	s.live = false
	s.owed, s.told = 0, nil
	if drop {
		c.forget(s)
	}
	if c.reading.leader == s || s.filling {
		c.interrupt()
	}
	c.reading.wake(s)
	if c.reading.kept == s {
		c.reading.kept = nil
		c.offerTurn()
	}
	c.writing.turns.leave(s)
	s.wcond.Broadcast()
	if s.answered != nil {
		close(s.answered)
		s.answered = nil
	}
	if drop {
		closeDescriptor(s.direct) // nobody took it
		s.direct = none
	}
}

// forget drops what a stream received and nobody will read.
func (c *conn) forget(s *Stream) {
	s.dropped = true
	s.queue.drop()
	c.unpark(s.held)
	s.held = 0
}
