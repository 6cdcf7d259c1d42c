package streambus

import (
	"context"
	"sync"
)

// Subscription is one reader's frames. Its methods may be called from anywhere at any time;
// several readers share the frames between them.
type Subscription struct {
	// What a frame touches comes first, in as few cache lines as it may.

	// mu is a leaf: nothing waits and no other lock is taken under it.
	mu       sync.Mutex
	overflow Overflow
	wake     chan struct{} // a token: there is something for a reader that waits
	limit    int           // frames of one priority
	waiting  int           // readers that wait and have no token coming
	last     uint64        // sequence of the last frame offered, or of the bus before
	lanes    [priorities]queue
	backlog  []Message // replay, read first
	err      error     // why nothing comes after what is held
	read     uint64
	dropped  uint64

	bus  *Bus
	stop func() bool // ends the watch over the context; nil if that never ends

	// Set by Subscribe, then guarded by Bus.mu.
	group *group
	index int    // in group
	topic *topic // of an exact subscription
	node  *node  // of one with a prefix
}

// push offers m, under Bus.mu; false if a frame was dropped for it, or it itself. Block always
// has room here.
func (s *Subscription) push(m *Message) (kept bool) {
	p := m.Priority
	if s.overflow == LatestOnly {
		p = 0
	}
	s.mu.Lock()
	s.last = m.Sequence
	lane := &s.lanes[p]
	kept = lane.n < s.limit
	if !kept {
		s.dropped++
		if s.overflow == DropNewest {
			s.mu.Unlock()
			return false
		}
		lane.pop()
	}
	lane.push(m)
	if s.overflow == Block && lane.n == s.limit {
		s.group.full[p].Add(1)
	}
	s.wakeOne()
	s.mu.Unlock()
	return kept
}

// wakeOne gives a reader that waits the token, under mu. A reader is woken once, however much comes until it reads. If a
// token is there already, whoever takes it wakes the next.
func (s *Subscription) wakeOne() {
	if s.waiting > 0 && signal(s.wake) {
		s.waiting--
	}
}

// Next returns the next frame: replayed ones first, then interactive ones, then bulk. It waits for
// one until ctx ends, and returns its cause then; it returns why the subscription ended once nothing is left to
// read: ErrClosed, or the cause of the end of Subscribe's context.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	var one [1]Message
	_, err := s.Receive(ctx, one[:])
	return one[0], err
}

// Receive is Next for many frames at once: it waits for the first and takes as many as there are,
// at most len(into), which must not be 0. Readers that fall behind catch up with it cheaply.
func (s *Subscription) Receive(ctx context.Context, into []Message) (int, error) {
	if len(into) == 0 {
		return 0, &OptionError{"into", "no room for a frame"}
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	done := ctx.Done()
	for {
		n, err := s.take(into)
		if n > 0 || err != nil {
			return n, err
		}
		if done == nil {
			<-s.wake // cheaper than to choose
			continue
		}
		select {
		case <-s.wake:
		case <-done:
			s.giveUp()
			return 0, context.Cause(ctx)
		}
	}
}

// giveUp is for a reader that waits no longer. If a token is there, it takes that, and another reader has its place
// among those that wait.
func (s *Subscription) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.wake:
		s.passOn()
	default:
		s.waiting--
	}
}

// passOn wakes another reader while there is something for one, under mu.
func (s *Subscription) passOn() {
	if s.pending() > 0 || s.err != nil {
		s.wakeOne()
	}
}

// take is one attempt to read. With 0, nil the caller waits for the token, and passes it on in
// its next attempt while it means something to others.
func (s *Subscription) take(into []Message) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = copy(into, s.backlog)
	s.backlog = s.backlog[n:]
	for p := range s.lanes {
		n += s.drain(Priority(p), into[n:])
	}
	s.read += uint64(n)
	if n == 0 && s.err == nil {
		s.waiting++
		return 0, nil
	}
	s.passOn()
	if n == 0 {
		err = s.err
	}
	return n, err
}

func (s *Subscription) drain(p Priority, into []Message) int {
	lane := &s.lanes[p]
	full := lane.n == s.limit
	n := min(lane.n, len(into))
	for i := range n {
		into[i] = *lane.pop()
	}
	if full && n > 0 && s.overflow == Block && s.err == nil {
		s.group.freed(p)
	}
	return n
}

func (s *Subscription) pending() int { return len(s.backlog) + s.lanes[0].n + s.lanes[1].n }

// Close ends the subscription and drops what was not read, which is counted. Readers that wait
// get ErrClosed. It may be called more than once.
func (s *Subscription) Close() { s.end(ErrClosed) }

// end takes s out of the bus, for a reader who is gone.
func (s *Subscription) end(cause error) {
	b := s.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	s.settle()
	if s.group != nil {
		s.ended(cause)
		s.group.leave(s)
		if s.topic != nil {
			b.release(s.topic)
		} else {
			s.node.prune()
		}
		s.group, s.topic, s.node = nil, nil, nil
		b.stats.Subscriptions--
	}
	b.stats.Dropped += s.discard()
}

// settle ends the watch over the context, under Bus.mu.
func (s *Subscription) settle() {
	if s.stop != nil && s.stop() {
		s.bus.ends.Done()
	}
	s.stop = nil
}

// ended notes that nothing more comes and why, if it is the first to say so, under Bus.mu.
func (s *Subscription) ended(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = cause
	for p := range s.lanes {
		if s.overflow == Block && s.lanes[p].n == s.limit {
			s.group.freed(Priority(p))
		}
	}
	s.wakeOne()
}

// discard drops what nobody will read.
func (s *Subscription) discard() (dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dropped = uint64(s.pending())
	s.dropped += dropped
	s.backlog, s.lanes = nil, [priorities]queue{}
	return dropped
}

// Resume returns the Since with which another subscription goes on where this one is read to:
// every frame up to it was read, dropped and counted, or was not for it. Where priorities are mixed this is not the
// sequence read last, as an interactive frame may have been read before an older one of bulk.
func (s *Subscription) Resume() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.last
	if len(s.backlog) > 0 {
		at = min(at, s.backlog[0].Sequence-1)
	}
	for p := range s.lanes {
		if s.lanes[p].n > 0 {
			at = min(at, s.lanes[p].at(0).Sequence-1)
		}
	}
	return at
}

// SubscriptionStats are a subscription's counts. Offered = Read + Dropped + Pending, always.
type SubscriptionStats struct {
	Offered uint64 // frames that matched, replayed ones included
	Read    uint64
	Dropped uint64 // by its policy, or unread at its end
	Pending int    // waiting to be read
}

// Stats returns the counts of this moment. They stay readable after the end.
func (s *Subscription) Stats() SubscriptionStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := SubscriptionStats{Read: s.read, Dropped: s.dropped, Pending: s.pending()}
	out.Offered = out.Read + out.Dropped + uint64(out.Pending)
	return out
}
