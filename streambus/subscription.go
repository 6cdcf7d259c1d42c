package streambus

import (
	"context"
	"sync"
)

// Subscription is one reader's frames. Its methods may be called from anywhere at any time;
// several readers share the frames between them.
type Subscription struct {
	bus      *Bus
	overflow Overflow
	limit    int           // frames of one priority
	stop     func() bool   // ends the watch over the context; nil if that never ends
	wake     chan struct{} // a token: there is something for a reader that waits

	// Set by Subscribe, then guarded by Bus.mu.
	group *group
	index int    // in group
	topic *topic // of an exact subscription
	node  *node  // of one with a prefix

	// mu is a leaf: nothing waits and no other lock is taken under it.
	mu      sync.Mutex
	backlog []Message // replay, read first
	lanes   [priorities]queue
	waiting int    // readers that wait for the token
	last    uint64 // sequence of the last frame offered, or of the bus before
	err     error  // why nothing comes after what is held
	stats   SubscriptionStats
}

// push offers m, under Bus.mu; false if a frame was dropped for it, or it itself. Block always
// has room here.
func (s *Subscription) push(m *Message) (kept bool) {
	p := m.Priority
	if s.overflow == LatestOnly {
		p = 0
	}
	s.mu.Lock()
	s.stats.Offered++
	s.last = m.Sequence
	lane := &s.lanes[p]
	kept = lane.n < s.limit
	if !kept {
		s.stats.Dropped++
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
	wake := s.waiting > 0
	s.mu.Unlock()
	if wake {
		signal(s.wake)
	}
	return kept
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
	for waited := 0; ; waited = 1 {
		n, err := s.take(into, waited)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			s.mu.Lock()
			s.waiting--
			s.mu.Unlock()
			return 0, context.Cause(ctx)
		}
	}
}

// take is one attempt to read. With 0, nil the caller waits for the token; waited is 1 if it
// has just got it, and then it is passed on while it means something to others.
func (s *Subscription) take(into []Message, waited int) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting -= waited
	n = copy(into, s.backlog)
	s.backlog = s.backlog[n:]
	for p := range s.lanes {
		n += s.drain(Priority(p), into[n:])
	}
	s.stats.Read += uint64(n)
	left := s.pending()
	switch {
	case n == 0 && s.err == nil:
		s.waiting++
	case s.waiting > 0 && (left > 0 || s.err != nil):
		signal(s.wake)
	}
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
		into[i] = lane.pop()
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
	if s.waiting > 0 {
		signal(s.wake)
	}
}

// discard drops what nobody will read.
func (s *Subscription) discard() (dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dropped = uint64(s.pending())
	s.stats.Dropped += dropped
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
	out := s.stats
	out.Pending = s.pending()
	return out
}
