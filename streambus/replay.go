package streambus

import (
	"cmp"
	"slices"
	"strings"
)

// history is what is kept of one topic.
type history struct {
	kept  queue
	bytes int
	gone  uint64 // frames up to this sequence may have been dropped from it

	listed      bool
	older, next *topic // by the time of the last frame, see retained
}

// retained is the topics of which something is kept, in the order of their last frame.
type retained struct {
	quietest, newest *topic
	topics           int
	frames           int
	bytes            int
	forgotten        uint64 // topics that are not listed may have had frames up to this sequence
}

// size is what a message is charged for.
func (m *Message) size() int { return len(m.Topic) + len(m.Payload) }

// retain keeps m for replay, and drops what the bounds then leave no place for.
func (b *Bus) retain(m *Message, t *topic) {
	r := &b.replay
	if b.config.ReplayCapacity == 0 {
		r.forgotten = m.Sequence
		return
	}
	if t == nil {
		t = b.topic(m.Topic)
	}
	if !t.listed {
		if r.topics == b.config.ReplayTopics {
			b.forget(r.quietest)
		}
		t.gone = r.forgotten
	}
	r.toEnd(t)
	t.kept.push(m)
	t.bytes += m.size()
	r.frames++
	r.bytes += m.size()
	for t.kept.n > b.config.ReplayCapacity || t.bytes > b.config.ReplayBytes {
		r.dropOldest(t)
	}
}

// topic returns the one of that name, made if there is none.
func (b *Bus) topic(name string) *topic {
	t := b.topics[name]
	if t == nil {
		t = &topic{name: name}
		b.topics[name] = t
	}
	return t
}

func (r *retained) dropOldest(t *topic) {
	m := t.kept.pop()
	t.gone = m.Sequence
	t.bytes -= m.size()
	r.frames--
	r.bytes -= m.size()
}

// forget drops all that is kept of t.
func (b *Bus) forget(t *topic) {
	for t.kept.n > 0 {
		b.replay.dropOldest(t)
	}
	b.replay.forgotten = max(b.replay.forgotten, t.gone)
	b.replay.unlist(t)
	t.history = history{}
	b.release(t)
}

// release takes t out of the map if nothing needs it.
func (b *Bus) release(t *topic) {
	if len(t.subs) == 0 && !t.listed {
		delete(b.topics, t.name)
	}
}

// toEnd makes t the one that is quiet the shortest.
func (r *retained) toEnd(t *topic) {
	if r.newest == t {
		return
	}
	if t.listed {
		r.unlist(t)
	}
	t.older, t.listed = r.newest, true
	if r.newest != nil {
		r.newest.next = t
	} else {
		r.quietest = t
	}
	r.newest = t
	r.topics++
}

func (r *retained) unlist(t *topic) {
	if t.older != nil {
		t.older.next = t.next
	} else {
		r.quietest = t.next
	}
	if t.next != nil {
		t.next.older = t.older
	} else {
		r.newest = t.older
	}
	t.older, t.next, t.listed = nil, nil, false
	r.topics--
}

// since returns all kept frames after sequence that o matches, or a *ReplayError.
func (b *Bus) since(o *SubscribeOptions, sequence uint64) ([]Message, error) {
	// Where the topic's own history is there, it tells; what was forgotten was of others.
	earliest := b.replay.forgotten
	if t := b.topics[o.Topic]; o.exact() && t != nil && t.listed {
		earliest = t.gone
	}
	var out []Message
	for t := range b.histories(o) {
		earliest = max(earliest, t.gone)
		i := t.kept.n
		for i > 0 && t.kept.at(i-1).Sequence > sequence {
			i--
		}
		out = t.kept.appendFrom(out, i)
	}
	if sequence < earliest || sequence > b.stats.Sequence {
		return nil, &ReplayError{Since: sequence, Earliest: earliest, Last: b.stats.Sequence}
	}
	inOrder(out)
	return out, nil
}

// last returns the last n kept frames that o matches, or fewer.
func (b *Bus) last(o *SubscribeOptions, n int) []Message {
	var out []Message
	for t := range b.histories(o) {
		out = t.kept.appendFrom(out, max(0, t.kept.n-n))
	}
	inOrder(out)
	return slices.Clone(out[max(0, len(out)-n):])
}

// histories are the topics that o matches and of which something is kept. With a prefix it looks
// at all of them, which are at most ReplayTopics, once in a subscription's life.
func (b *Bus) histories(o *SubscribeOptions) func(yield func(*topic) bool) {
	return func(yield func(*topic) bool) {
		if o.exact() {
			if t := b.topics[o.Topic]; t != nil && t.listed {
				yield(t)
			}
			return
		}
		for t := b.replay.quietest; t != nil; t = t.next {
			if strings.HasPrefix(t.name, o.Prefix) && !yield(t) {
				return
			}
		}
	}
}

func (q *queue) appendFrom(out []Message, i int) []Message {
	for ; i < q.n; i++ {
		out = append(out, *q.at(i))
	}
	return out
}

func inOrder(m []Message) {
	slices.SortFunc(m, func(x, y Message) int { return cmp.Compare(x.Sequence, y.Sequence) })
}
