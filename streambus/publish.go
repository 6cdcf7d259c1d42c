package streambus

import (
	"context"
	"fmt"
)

// Publish gives f to every subscription that it matches, all or none: while a Block subscription
// has no room for it, Publish waits, until ctx ends; then nobody got it, and the error wraps the
// context's cause. The payload is copied; f is the caller's again on return.
//
// It returns the frame's sequence. Each subscription is given frames in the order of their
// sequences. Publishers that wait for the same subscription are let go in no certain order.
func (b *Bus) Publish(ctx context.Context, f Frame) (uint64, error) {
	if err := b.check(ctx, &f); err != nil {
		return 0, err
	}
	m := hold(&f)
	sequence, full, err := b.try(m)
	if full != nil {
		return b.wait(ctx, m, full)
	}
	return sequence, err
}

// smallPayload is what has its place in one piece of memory with its message, of 192 bytes.
const smallPayload = 136

// hold makes the message that all receivers share, with a copy of f's payload without spare capacity.
func hold(f *Frame) *Message {
	n := len(f.Payload)
	if n > smallPayload {
		m := &Message{Frame: *f}
		m.Payload = make([]byte, n)
		copy(m.Payload, f.Payload)
		return m
	}
	small := &struct {
		Message
		payload [smallPayload]byte
	}{Message: Message{Frame: *f}}
	copy(small.payload[:], f.Payload)
	small.Payload = small.payload[:n:n]
	return &small.Message
}

// wait publishes m when there is room for it.
func (b *Bus) wait(ctx context.Context, m *Message, full *group) (sequence uint64, err error) {
	b.waiting.Add(1)
	defer b.waiting.Add(-1)
	for full != nil {
		select {
		case <-full.room[m.Priority]:
			before := full
			sequence, full, err = b.try(m)
			before.passOn(m.Priority)
		case <-ctx.Done():
			b.refused.Add(1)
			return 0, fmt.Errorf("streambus: a subscriber has no room: %w", context.Cause(ctx))
		case <-b.done:
			return 0, ErrClosed
		}
	}
	return sequence, err
}

func (b *Bus) check(ctx context.Context, f *Frame) error {
	if err := ValidTopic(f.Topic); err != nil {
		return err
	}
	switch {
	case len(f.Payload) > b.config.MaxPayloadBytes:
		return &PayloadError{uint64(len(f.Payload)), uint64(b.config.MaxPayloadBytes)}
	case f.Reliability >= reliabilities:
		return &OptionError{"Reliability", f.Reliability.String()}
	case f.Priority >= priorities:
		return &OptionError{"Priority", f.Priority.String()}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// try publishes m, or returns the group that has no room for it.
func (b *Bus) try(m *Message) (sequence uint64, full *group, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, nil, ErrClosed
	}
	t := b.topics[m.Topic]
	if full = b.match(&m.Frame, t); full != nil {
		return 0, full, nil
	}
	b.deliver(m, t)
	return m.Sequence, nil, nil
}

// match fills matched with the groups that f is for, and returns the first that has no room.
func (b *Bus) match(f *Frame, t *topic) (full *group) {
	b.matched = b.matched[:0]
	if t != nil && len(t.subs) > 0 {
		b.matched = append(b.matched, &t.group)
	}
	for n, i := &b.prefixes, 0; n != nil; i++ {
		if len(n.subs) > 0 {
			b.matched = append(b.matched, &n.group)
		}
		if i == len(f.Topic) {
			break
		}
		n = n.child(f.Topic[i])
	}
	for _, g := range b.matched {
		if g.full[f.Priority].Load() > 0 {
			return g
		}
	}
	return nil
}

// deliver gives m the next sequence, and m to all that match; each has room or a policy for it.
func (b *Bus) deliver(m *Message, t *topic) {
	b.stats.Sequence++
	m.Sequence = b.stats.Sequence
	b.retain(m, t)
	for _, g := range b.matched {
		b.stats.Offered += uint64(len(g.subs))
		for _, s := range g.subs {
			if !s.push(m) {
				b.stats.Dropped++
			}
		}
	}
}
