package streambus

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Config bounds a bus. The zero value of a field is its default.
type Config struct {
	DefaultBuffer   int // frames that a subscription which asks for no Buffer holds of each priority: 64
	MaxBuffer       int // the largest Buffer: 65,536
	ReplayCapacity  int // frames kept for replay, of each topic: none
	ReplayBytes     int // bytes of topics and payloads kept for replay, of each topic: 256 KiB
	ReplayTopics    int // topics of which frames are kept: 1,024; past it the one quiet the longest is forgotten
	MaxPayloadBytes int // the largest payload: 1 MiB
}

// withDefaults returns c with every field set.
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name  string
		value *int
		unset int
	}{
		{"DefaultBuffer", &c.DefaultBuffer, 64},
		{"MaxBuffer", &c.MaxBuffer, 1 << 16},
		{"ReplayCapacity", &c.ReplayCapacity, 0},
		{"ReplayBytes", &c.ReplayBytes, 256 << 10},
		{"ReplayTopics", &c.ReplayTopics, 1024},
		{"MaxPayloadBytes", &c.MaxPayloadBytes, 1 << 20},
	} {
		if *f.value < 0 {
			return c, &OptionError{f.name, fmt.Sprintf("%d is negative", *f.value)}
		}
		if *f.value == 0 {
			*f.value = f.unset
		}
	}
	if c.DefaultBuffer > c.MaxBuffer {
		return c, &OptionError{"DefaultBuffer", fmt.Sprintf("%d is more than MaxBuffer, %d", c.DefaultBuffer, c.MaxBuffer)}
	}
	return c, nil
}

// Bus carries frames from publishers to subscriptions within one process. Its methods may be
// called from anywhere at any time. It has no goroutine.
type Bus struct {
	config Config
	done   chan struct{}  // closed by Close
	ends   sync.WaitGroup // subscriptions whose context is watched

	waiting, refused atomic.Int64 // see Stats

	// Everything below is guarded by mu, which is never held across anything that can wait; a
	// subscription's lock may be taken under it, not the other way.
	mu       sync.Mutex
	closed   bool
	topics   map[string]*topic
	prefixes node     // the root: the empty prefix
	matched  []*group // of the frame that is being published
	replay   retained
	stats    Stats
}

// topic is what is known of one: a map of them finds exact subscriptions and replays.
type topic struct {
	group
	history // empty if nothing is kept of it
	name    string
}

// NewInMemory returns an empty bus, or an *OptionError.
func NewInMemory(c Config) (*Bus, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Bus{config: c, done: make(chan struct{}), topics: make(map[string]*topic)}, nil
}

// Close ends the bus: publishers that wait get ErrClosed, subscriptions can be read until they
// are empty and then return ErrClosed. It may be called more than once.
func (b *Bus) Close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.done)
		for _, t := range b.topics {
			endAll(&t.group)
		}
		b.prefixes.each(endAll)
	}
	b.mu.Unlock()
	b.ends.Wait()
}

func endAll(g *group) {
	for _, s := range g.subs {
		s.settle()
		s.ended(ErrClosed)
	}
}

// each calls f with every group of the tree below n.
func (n *node) each(f func(*group)) {
	f(&n.group)
	for _, k := range n.kids {
		k.each(f)
	}
}

// Stats are a bus's counts since it was made. Offered = what subscriptions have read, or have
// waiting, plus Dropped.
type Stats struct {
	Sequence      uint64 // of the last frame, which is also how many were published
	Offered       uint64 // frames times the subscriptions they were for, with replays
	Dropped       uint64 // of those, what the subscriptions' policies cost, or their end
	Refused       int64  // frames not published because a Block subscription had no room until the context ended
	Waiting       int64  // publishers that wait for room now
	Subscriptions int
	Topics        int // of which frames are kept
	Frames        int // kept for replay
	Bytes         int // of those frames
}

// Stats returns the counts of this moment.
func (b *Bus) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Waiting, s.Refused = b.waiting.Load(), b.refused.Load()
	s.Topics, s.Frames, s.Bytes = b.replay.topics, b.replay.frames, b.replay.bytes
	return s
}
