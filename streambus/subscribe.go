package streambus

import (
	"context"
	"fmt"
)

// SubscribeOptions say what a subscription gets, and what happens when it is not read in time.
type SubscribeOptions struct {
	// One of the three: the topic itself, the begin of topics (any bytes, not only whole levels),
	// or all topics.
	Topic  string
	Prefix string
	All    bool

	// Buffer is how many frames of each priority are held, Config.DefaultBuffer if it is 0 and at
	// most Config.MaxBuffer. LatestOnly holds one frame, and takes no Buffer.
	Buffer   int
	Overflow Overflow

	// Replay asks for the last frames that are kept, at most this many. Since asks for all frames
	// after this sequence (0 for all there ever were), and fails with ErrReplayUnavailable if any may
	// be gone. At most one of them; LatestOnly takes Replay: 1 alone. They are read first, in the
	// order of their sequences, and do not need room in Buffer.
	Replay int
	Since  *uint64
}

func (o *SubscribeOptions) exact() bool { return o.Topic != "" }

// Subscribe returns a subscription to all frames that are published from now on and that o
// matches. It ends with its Close, with ctx or with the bus, whichever is first. What o gets wrong
// is told by an *OptionError or *TopicError.
//
// No goroutine belongs to a subscription. The end of ctx runs one for a moment.
func (b *Bus) Subscribe(ctx context.Context, o SubscribeOptions) (*Subscription, error) {
	limit, err := b.checkOptions(&o)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := &Subscription{bus: b, overflow: o.Overflow, limit: limit, wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if err := b.enter(s, &o); err != nil {
		return nil, err
	}
	if ctx.Done() != nil {
		b.ends.Add(1)
		s.stop = context.AfterFunc(ctx, func() {
			defer b.ends.Done()
			s.end(context.Cause(ctx))
		})
	}
	return s, nil
}

// enter gives s its replay and its place among the others, in one step: no frame is missed
// between the two, and none comes twice.
func (b *Bus) enter(s *Subscription, o *SubscribeOptions) error {
	var replay []Message
	switch {
	case o.Since != nil:
		var err error
		if replay, err = b.since(o, *o.Since); err != nil {
			return err
		}
	case o.Replay > 0:
		replay = b.last(o, o.Replay)
	}
	s.last = b.stats.Sequence
	s.backlog = replay
	if s.overflow == LatestOnly && len(replay) > 0 {
		s.backlog = nil
		s.lanes[0].push(&replay[0])
	}
	b.stats.Offered += uint64(len(replay))
	b.stats.Subscriptions++
	if o.exact() {
		s.topic = b.topic(o.Topic)
		s.topic.join(s)
	} else {
		s.node = b.prefixes.grow(o.Prefix)
		s.node.join(s)
	}
	return nil
}

// checkOptions returns the buffer that o comes to.
func (b *Bus) checkOptions(o *SubscribeOptions) (limit int, err error) {
	if err := o.checkMatch(); err != nil {
		return 0, err
	}
	switch {
	case o.Overflow == 0 || o.Overflow >= overflows:
		return 0, &OptionError{"Overflow", "choose what happens when there is no room: " + o.Overflow.String()}
	case o.Buffer < 0 || o.Buffer > b.config.MaxBuffer:
		return 0, &OptionError{"Buffer", fmt.Sprintf("%d is not within 0 and %d", o.Buffer, b.config.MaxBuffer)}
	case o.Replay < 0:
		return 0, &OptionError{"Replay", fmt.Sprintf("%d is negative", o.Replay)}
	case o.Replay > 0 && o.Since != nil:
		return 0, &OptionError{"Replay", "Since is given, too"}
	case o.Replay > 0 && b.config.ReplayCapacity == 0:
		return 0, &OptionError{"Replay", "this bus keeps no frames: its ReplayCapacity is 0"}
	case o.Overflow != LatestOnly && o.Buffer == 0:
		return b.config.DefaultBuffer, nil
	case o.Overflow != LatestOnly:
		return o.Buffer, nil
	case o.Buffer > 1:
		return 0, &OptionError{"Buffer", "LatestOnly holds one frame"}
	case o.Replay > 1 || o.Since != nil:
		return 0, &OptionError{"Replay", "LatestOnly holds one frame: it takes Replay: 1 alone"}
	}
	return 1, nil
}

func (o *SubscribeOptions) checkMatch() error {
	switch {
	case o.Topic == "" && o.Prefix == "" && !o.All:
		return &OptionError{"Topic", "give a Topic, a Prefix or All"}
	case o.Topic != "" && (o.Prefix != "" || o.All), o.Prefix != "" && o.All:
		return &OptionError{"Topic", "give one of Topic, Prefix and All"}
	case o.Topic != "":
		return ValidTopic(o.Topic)
	}
	return validBytes(o.Prefix)
}
