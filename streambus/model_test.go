package streambus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// impatient is a context that has not ended until somebody waits for its end.
type impatient struct {
	context.Context
	asked bool
	done  chan struct{}
}

func impatiently() *impatient {
	c := &impatient{Context: context.Background(), done: make(chan struct{})}
	close(c.done)
	return c
}

func (c *impatient) Done() <-chan struct{} { c.asked = true; return c.done }

func (c *impatient) Err() error {
	if c.asked {
		return context.Canceled
	}
	return nil
}

// twin is a subscription and what it must be.
type twin struct {
	*Subscription
	options SubscribeOptions
	limit   int
	backlog []Message
	lanes   [priorities][]Message
	stats   SubscriptionStats
	closed  bool
}

func (w *twin) matches(topic string) bool {
	if w.options.Topic != "" {
		return topic == w.options.Topic
	}
	return strings.HasPrefix(topic, w.options.Prefix)
}

func (w *twin) lane(p Priority) *[]Message {
	if w.options.Overflow == LatestOnly {
		p = 0
	}
	return &w.lanes[p]
}

func (w *twin) offer(m Message) {
	w.stats.Offered++
	lane := w.lane(m.Priority)
	if len(*lane) == w.limit {
		w.stats.Dropped++
		if w.options.Overflow == DropNewest {
			return
		}
		*lane = (*lane)[1:]
	}
	*lane = append(*lane, m)
}

// read are the next n at most.
func (w *twin) read(n int) []Message {
	var out []Message
	for _, from := range []*[]Message{&w.backlog, &w.lanes[0], &w.lanes[1]} {
		k := min(n-len(out), len(*from))
		out = append(out, (*from)[:k]...)
		*from = (*from)[k:]
	}
	w.stats.Read += uint64(len(out))
	return out
}

func (w *twin) pending() int { return len(w.backlog) + len(w.lanes[0]) + len(w.lanes[1]) }

// model is a bus and all that was ever published on it.
type model struct {
	*Bus
	log   []Message
	twins []*twin
}

var modelTopics = []string{"a", "a/1", "a/2", "a/22", "b", "b/1"}

func (m *model) publish(t *rapid.T) {
	f := Frame{
		Topic:       rapid.SampledFrom(modelTopics).Draw(t, "topic"),
		Payload:     rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "payload"),
		Reliability: Reliability(rapid.IntRange(0, 1).Draw(t, "reliability")),
		Priority:    Priority(rapid.IntRange(0, 1).Draw(t, "priority")),
	}
	refused := slices.ContainsFunc(m.twins, func(w *twin) bool {
		return !w.closed && w.options.Overflow == Block && w.matches(f.Topic) && len(*w.lane(f.Priority)) == w.limit
	})
	sequence, err := m.Publish(impatiently(), f)
	if refused {
		require.ErrorIs(t, err, context.Canceled)
		return
	}
	require.NoError(t, err)
	require.Equal(t, uint64(len(m.log)+1), sequence, "sequences have no gap")
	msg := Message{f, sequence}
	m.log = append(m.log, msg)
	for _, w := range m.twins {
		if !w.closed && w.matches(f.Topic) {
			w.offer(msg)
		}
	}
}

func (m *model) subscribe(t *rapid.T, policies []Overflow) {
	w := &twin{options: SubscribeOptions{Overflow: rapid.SampledFrom(policies).Draw(t, "policy")}}
	switch rapid.IntRange(0, 2).Draw(t, "match") {
	case 0:
		w.options.Topic = rapid.SampledFrom(modelTopics).Draw(t, "topic")
	case 1:
		w.options.Prefix = rapid.SampledFrom([]string{"a", "a/", "a/2", "b/1", "c"}).Draw(t, "prefix")
	default:
		w.options.All = true
	}
	w.limit = 1
	if w.options.Overflow != LatestOnly {
		w.options.Buffer = rapid.IntRange(0, 5).Draw(t, "buffer")
		w.limit = w.options.Buffer
		if w.limit == 0 {
			w.limit = m.config.DefaultBuffer
		}
	}
	m.chooseReplay(t, w)
	var err error
	if w.Subscription, err = m.Subscribe(context.Background(), w.options); err != nil {
		m.checkRefusal(t, w, err)
		return
	}
	m.fillReplay(t, w)
	m.twins = append(m.twins, w)
}

func (m *model) chooseReplay(t *rapid.T, w *twin) {
	latest := w.options.Overflow == LatestOnly
	switch rapid.IntRange(0, 2).Draw(t, "replay") {
	case 1:
		w.options.Replay = rapid.IntRange(1, 6).Draw(t, "last")
		if latest {
			w.options.Replay = 1
		}
	case 2:
		if !latest {
			w.options.Since = new(uint64(rapid.IntRange(0, len(m.log)+1).Draw(t, "since")))
		}
	}
}

// matching are the published frames after since that w matches.
func (m *model) matching(w *twin, since uint64) (out []Message) {
	for _, msg := range m.log[min(since, uint64(len(m.log))):] {
		if w.matches(msg.Topic) {
			out = append(out, msg)
		}
	}
	return out
}

// A replay is refused only where something may be gone, and what it says can be had can be.
func (m *model) checkRefusal(t *rapid.T, w *twin, err error) {
	require.ErrorIs(t, err, ErrReplayUnavailable)
	r, ok := errors.AsType[*ReplayError](err)
	require.True(t, ok)
	require.Equal(t, uint64(len(m.log)), r.Last)
	require.LessOrEqual(t, r.Earliest, r.Last)
	require.True(t, r.Since < r.Earliest || r.Since > r.Last)
	w.options.Since = &r.Earliest
	s, err := m.Subscribe(context.Background(), w.options)
	require.NoError(t, err, "the earliest is there")
	require.Equal(t, len(m.matching(w, r.Earliest)), s.Stats().Pending)
	into := make([]Message, len(m.log)+1)
	if s.Stats().Pending > 0 {
		_, err = s.Receive(context.Background(), into)
		require.NoError(t, err)
	}
	s.Close()
}

// fillReplay says what w must have been replayed: all that Since asks for; of the last frames those
// that are kept, without one missing between them where it is one topic.
func (m *model) fillReplay(t *rapid.T, w *twin) {
	switch {
	case w.options.Since != nil:
		w.backlog = m.matching(w, *w.options.Since)
	case w.options.Replay > 0:
		all := m.matching(w, 0)
		got := w.Stats().Pending
		kept := 0
		for topic := range m.histories(&w.options) {
			kept += topic.kept.n
		}
		require.Equal(t, min(w.options.Replay, kept), got)
		w.backlog = all[len(all)-got:]
		if w.options.Topic == "" {
			w.backlog = slices.Clone(w.Subscription.backlog)
			if w.options.Overflow == LatestOnly && got > 0 {
				w.backlog = []Message{*w.Subscription.lanes[0].at(0)}
			}
			require.True(t, slices.IsSortedFunc(w.backlog, func(x, y Message) int { return int(x.Sequence) - int(y.Sequence) }))
		}
	}
	w.stats.Offered = uint64(len(w.backlog))
	if w.options.Overflow == LatestOnly {
		w.lanes[0], w.backlog = w.backlog, nil
	}
}

func (m *model) some(t *rapid.T) *twin {
	if len(m.twins) == 0 {
		t.Skip("nobody subscribes")
	}
	return rapid.SampledFrom(m.twins).Draw(t, "subscription")
}

func (m *model) read(t *rapid.T) {
	w := m.some(t)
	into := make([]Message, rapid.IntRange(1, 8).Draw(t, "room"))
	want := w.read(len(into))
	n, err := w.Receive(impatiently(), into)
	switch {
	case len(want) > 0:
		require.NoError(t, err)
	case w.closed:
		require.ErrorIs(t, err, ErrClosed)
	default:
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, len(want), n)
	for i := range want {
		require.Equal(t, want[i].Sequence, into[i].Sequence)
		require.Equal(t, want[i].Topic, into[i].Topic)
		require.Equal(t, string(want[i].Payload), string(into[i].Payload))
		require.Equal(t, want[i].Priority, into[i].Priority)
		require.Equal(t, want[i].Reliability, into[i].Reliability)
	}
}

func (m *model) close(t *rapid.T) {
	w := m.some(t)
	w.Close()
	w.closed = true
	w.stats.Dropped += uint64(w.pending())
	w.backlog, w.lanes = nil, [priorities][]Message{}
}

// resume checks that what follows a subscription's place is what it has not seen.
func (m *model) resume(t *rapid.T) {
	w := m.some(t)
	if w.closed {
		return
	}
	at := w.Resume()
	for _, from := range [][]Message{w.backlog, w.lanes[0], w.lanes[1]} {
		for _, msg := range from {
			require.Greater(t, msg.Sequence, at, "what is pending comes again")
		}
	}
	if w.pending() == 0 {
		require.Empty(t, m.matching(w, at), "nothing that was read comes again")
	}
}

func (m *model) check(t *rapid.T) {
	var bus Stats
	for _, w := range m.twins {
		want := w.stats
		want.Pending = w.pending()
		require.Equal(t, want, w.Stats())
		require.Equal(t, want.Offered, want.Read+want.Dropped+uint64(want.Pending))
		if !w.closed {
			bus.Subscriptions++
		}
		bus.Dropped += want.Dropped
	}
	got := m.Stats()
	require.Equal(t, uint64(len(m.log)), got.Sequence)
	require.Equal(t, bus.Subscriptions, got.Subscriptions)
	require.Equal(t, bus.Dropped, got.Dropped)
	require.Zero(t, got.Waiting)
	m.checkKept(t, got)
}

// checkKept holds what is kept for replay to its bounds, and its counts to what is there.
func (m *model) checkKept(t *rapid.T, got Stats) {
	topics, frames, size := 0, 0, 0
	for topic := m.replay.quietest; topic != nil; topic = topic.next {
		topics++
		frames += topic.kept.n
		held := 0
		for i := range topic.kept.n {
			held += topic.kept.at(i).size()
		}
		require.Equal(t, held, topic.bytes)
		require.LessOrEqual(t, held, m.config.ReplayBytes)
		require.LessOrEqual(t, topic.kept.n, m.config.ReplayCapacity)
		size += held
	}
	require.LessOrEqual(t, topics, m.config.ReplayTopics)
	require.Equal(t, [3]int{topics, frames, size}, [3]int{got.Topics, got.Frames, got.Bytes})
}

func TestPolicies(t *testing.T) {
	for name, policies := range map[string][]Overflow{
		"block": {Block}, "drop newest": {DropNewest}, "drop oldest": {DropOldest}, "latest only": {LatestOnly},
		"all together": {Block, DropNewest, DropOldest, LatestOnly},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				bus, err := NewInMemory(Config{
					DefaultBuffer:  3,
					MaxBuffer:      5,
					ReplayCapacity: rapid.IntRange(1, 5).Draw(t, "capacity"),
					ReplayBytes:    rapid.IntRange(1, 30).Draw(t, "bytes"),
					ReplayTopics:   rapid.IntRange(1, 8).Draw(t, "topics"),
				})
				require.NoError(t, err)
				m := &model{Bus: bus}
				t.Repeat(map[string]func(*rapid.T){
					"publish":   m.publish,
					"publish 2": m.publish,
					"subscribe": func(t *rapid.T) { m.subscribe(t, policies) },
					"read":      m.read,
					"close":     m.close,
					"resume":    m.resume,
					"":          m.check,
				})
				m.cleanUp(t)
			})
		})
	}
}

// cleanUp ends all, and then nothing is left that would hold memory.
func (m *model) cleanUp(t *rapid.T) {
	for _, w := range m.twins {
		w.Close()
	}
	require.Empty(t, m.prefixes.kids)
	require.Empty(t, m.prefixes.subs)
	require.Len(t, m.topics, m.replay.topics, "only topics with a history are left")
}

// Where everything is kept, everything can be replayed, whatever was asked.
func TestNothingIsMissingWhereAllIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bus, err := NewInMemory(Config{ReplayCapacity: 100})
		require.NoError(t, err)
		m := &model{Bus: bus}
		for range rapid.IntRange(0, 60).Draw(t, "frames") {
			m.publish(t)
		}
		w := &twin{options: SubscribeOptions{Prefix: "a/", Overflow: Block}}
		w.options.Since = new(uint64(rapid.IntRange(0, len(m.log)).Draw(t, "since")))
		w.Subscription, err = m.Subscribe(context.Background(), w.options)
		require.NoError(t, err)
		for _, want := range m.matching(w, *w.options.Since) {
			got, err := w.Next(impatiently())
			require.NoError(t, err)
			require.Equal(t, want.Sequence, got.Sequence)
		}
	})
}
