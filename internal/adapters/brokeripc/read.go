package brokeripc

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"time"
)

// takeOver is how long the reading turn may lie free before the keeper takes it. A Read that
// left with its data comes back within microseconds, as a rule; when it does not, control messages
// wait at most this long, twice.
const takeOver = 5 * time.Millisecond

const (
	// keepTurn is how long the reading turn is kept for a Read that was given bulk, while others wait. It comes back
	// sooner, as a rule, and then reads their frames too: nobody had to be woken for the next one of its own.
	keepTurn = time.Millisecond
	// promptly is how soon it must come back, or it is doubted: then no turn is kept for as many of its
	// frames, from leastDoubt on twice as many each time, up to mostDoubt. So what a slow reader can delay others is
	// little of the time.
	promptly   = 200 * time.Microsecond
	leastDoubt = 64
	mostDoubt  = 1 << 16
)

// readTurn says who reads the carriage. Guarded by conn.mu.
type readTurn struct {
	taken  bool
	leader *Stream // whose Read has the turn; nil: the keeper
	urgent int     // waiters that do not read themselves: for credit, for an answer

	head, tail *Stream // Reads that wait, linked through Stream.rafter
	served     bool    // the pump gave a waiting Read what it waits for
	small      bool    // that was a small frame, and the pump has gone on since

	kept   *Stream // for whose Read the turn is kept while nobody has it, or nil
	keptAt time.Time

	keeper      sync.Cond
	keeperTurn  bool
	interrupted bool      // the read deadline was set to the past
	heeded      sync.Cond // interrupted was taken back

	lazy   *time.Timer // gives the keeper a turn that nobody took up
	armed  bool
	soon   bool   // lazy was set for a turn that is kept
	left   uint64 // how often a turn was left free
	seen   uint64 // left when lazy was set
	halted bool   // the connection is over
}

func (t *readTurn) push(s *Stream) {
	if t.tail == nil {
		t.head = s
	} else {
		t.tail.rafter = s
	}
	t.tail = s
}

// remove takes s out of the waiting Reads, of which there are at most protocol.MaxStreams.
func (t *readTurn) remove(s *Stream) bool {
	var prev *Stream
	for at := t.head; at != nil; prev, at = at, at.rafter {
		if at != s {
			continue
		}
		if prev == nil {
			t.head = s.rafter
		} else {
			prev.rafter = s.rafter
		}
		if t.tail == s {
			t.tail = prev
		}
		s.rafter = nil
		return true
	}
	return false
}

// wake lets a waiting Read of s look again; false: none waits.
func (t *readTurn) wake(s *Stream) bool {
	if s.dst == nil || !t.remove(s) {
		return false
	}
	t.served = true
	s.rcond.Signal()
	return true
}

// stop releases the keeper for good.
func (t *readTurn) stop() {
	t.halted = true
	if t.lazy != nil {
		t.lazy.Stop()
	}
	t.keeper.Signal()
}

// await is a Read with nothing to return, with mu held; it returns without. The Read pumps
// if the turn is free, else it waits to be served, ended or handed the turn.
func (c *conn) await(s *Stream, p []byte) int {
	t := &c.reading
	if t.kept == s {
		t.kept = nil
		if time.Since(t.keptAt) > promptly {
			s.doubted()
		}
	}
	if c.intr == nil || t.taken || t.kept != nil || c.full() {
		s.dst, s.got = p, 0
		t.push(s)
		c.offerTurn()
		for s.filling || (s.got == 0 && !s.mine && s.rerr == nil && s.queue.empty()) {
			s.rcond.Wait()
		}
		t.remove(s)
		n := s.got
		s.dst, s.got = nil, 0
		if !s.mine {
			c.mu.Unlock()
			return n
		}
		s.mine = false
		if n > 0 || s.rerr != nil || !s.queue.empty() {
			c.leaveTurn()
			c.mu.Unlock()
			return n
		}
	} else {
		t.taken, t.leader = true, s
	}
	c.mu.Unlock()
	return c.pump(s, p)
}

// keepFor keeps the turn that is about to be left for the next Read of s, which gets n bytes now, if that is bulk, with mu held.
func (c *conn) keepFor(s *Stream, n int, now time.Time) {
	s.bulk = n > copyBelow
	switch {
	case !s.bulk || !s.live:
	case s.doubt > 0:
		s.doubt--
	default:
		c.reading.kept, c.reading.keptAt = s, now
	}
}

// doubted notes that a Read let others wait for the turn.
func (s *Stream) doubted() {
	s.doubts = min(max(2*s.doubts, leastDoubt), mostDoubt)
	s.doubt = s.doubts
}

// offerTurn finds somebody for a free turn, with mu held: the Read it is kept for, else one that waits, else the keeper
// if somebody waits for what only reading brings or no Read can have it, else the next Read
// that comes, else after a while the keeper.
func (c *conn) offerTurn() {
	t := &c.reading
	switch {
	case t.taken || t.halted || c.full():
	case c.intr == nil:
		c.giveKeeper()
	case t.kept == nil && t.head != nil:
		s := t.head
		t.remove(s)
		t.taken, t.leader = true, s
		s.mine = true
		s.rcond.Signal()
	case t.kept == nil && t.urgent > 0:
		c.giveKeeper()
	default:
		t.left++
		if !t.armed || t.kept != nil && !t.soon {
			c.arm()
		}
	}
}

func (c *conn) giveKeeper() {
	t := &c.reading
	t.taken, t.leader, t.keeperTurn = true, nil, true
	t.keeper.Signal()
}

func (c *conn) arm() {
	t := &c.reading
	t.armed, t.soon, t.seen = true, t.kept != nil, t.left
	d := takeOver
	if t.soon {
		d = keepTurn
	}
	if t.lazy == nil {
		t.lazy = time.AfterFunc(d, c.takeOver)
		return
	}
	t.lazy.Reset(d)
}

// takeOver gives the keeper a turn that has been free since the timer was set, or who waits for it one that was kept for too
// long. While Reads come and go it only sets the timer anew, so that none of them has to.
func (c *conn) takeOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.reading
	t.armed = false
	switch {
	case t.halted:
	case t.kept != nil && !t.taken && time.Since(t.keptAt) >= keepTurn:
		t.kept.doubted()
		t.kept = nil
		c.offerTurn()
	case t.left != t.seen, t.kept != nil:
		c.arm()
	case !t.taken && !c.full():
		c.giveKeeper()
	}
}

// leaveTurn gives the turn up, with mu held.
func (c *conn) leaveTurn() {
	t := &c.reading
	t.taken, t.leader = false, nil
	c.resume()
	c.offerTurn()
}

// interrupt makes who reads look up, with mu held. Without read deadlines only the end of
// the connection, which closes the carriage, ever calls for it.
func (c *conn) interrupt() {
	t := &c.reading
	if t.taken && c.intr != nil && !t.interrupted {
		t.interrupted = true
		_ = c.intr.SetReadDeadline(time.Unix(1, 0))
	}
}

// full reports whether so much is parked that the carriage is not read, with mu held.
func (c *conn) full() bool { return c.parked > c.opts.parked }

// unpark notes that cost n is held no more, with mu held.
func (c *conn) unpark(n int64) {
	was := c.full()
	c.parked -= n
	if was && !c.full() {
		c.offerTurn()
	}
}

// pump reads frames with the reading turn: for a Read until it has something to return, for
// the keeper (own nil) until it has served a Read that waited. It returns what was
// read straight into p, and has left the turn.
func (c *conn) pump(own *Stream, p []byte) int {
	c.mu.Lock()
	c.reading.served = false
	for !c.pumped(own) {
		c.mu.Unlock()
		n, err := c.readFrame(own, p)
		if err != nil {
			c.readFailed(err)
		}
		now := time.Now()
		c.mu.Lock()
		if err == nil {
			c.heard = now
		}
		if c.reading.small {
			c.reading.small = false
			if own != nil && own.bulk {
				c.mu.Unlock()
				runtime.Gosched() // who waited for the small frame goes first, on this thread: nobody has to be woken
				c.mu.Lock()
			}
		}
		if n > 0 {
			c.keepFor(own, n, now)
			c.leaveTurn()
			if own.dropped {
				n = 0
			}
			c.mu.Unlock()
			return n
		}
	}
	c.leaveTurn()
	c.mu.Unlock()
	return 0
}

// pumped reports whether the pump is to stop, with mu held.
func (c *conn) pumped(own *Stream) bool {
	if c.err != nil || c.full() {
		return true
	}
	if own == nil {
		return c.reading.served && c.intr != nil
	}
	return own.rerr != nil || !own.queue.empty()
}

// readFailed ends the connection unless err is only an interruption.
func (c *conn) readFailed(err error) {
	if !errors.Is(err, errFillEnded) && !c.interrupted(err) {
		c.broken(err)
	}
}

// interrupted tells an interruption from an end, and takes it back, with the reading turn held.
func (c *conn) interrupted(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resume()
}

// resume takes an interruption back, with mu and the reading turn held; false: there was none.
func (c *conn) resume() bool {
	if !c.reading.interrupted {
		return false
	}
	c.reading.interrupted = false
	c.reading.heeded.Broadcast()
	_ = c.intr.SetReadDeadline(time.Time{}) // if it cannot, the next read fails and says so
	return true
}

// keep reads when no Read does.
func (c *conn) keep() {
	t := &c.reading
	for {
		c.mu.Lock()
		if c.intr == nil {
			c.offerTurn()
		}
		for !t.keeperTurn && !t.halted {
			t.keeper.Wait()
		}
		mine := t.keeperTurn
		t.keeperTurn = false
		c.mu.Unlock()
		if !mine {
			c.stopped() // not deferred: a panic must not wait for the lock it may hold
			return
		}
		c.pump(nil, nil)
	}
}
