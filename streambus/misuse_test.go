package streambus

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigIsChecked(t *testing.T) {
	for option, c := range map[string]Config{
		"DefaultBuffer":   {DefaultBuffer: 9, MaxBuffer: 8},
		"MaxBuffer":       {MaxBuffer: -1},
		"ReplayCapacity":  {ReplayCapacity: -1},
		"ReplayBytes":     {ReplayBytes: -1},
		"ReplayTopics":    {ReplayTopics: -1},
		"MaxPayloadBytes": {MaxPayloadBytes: -1},
	} {
		_, err := NewInMemory(c)
		e, ok := errors.AsType[*OptionError](err)
		require.True(t, ok, option)
		require.Equal(t, option, e.Option)
	}
}

func TestSubscribeOptionsAreChecked(t *testing.T) {
	b := newBus(t, Config{MaxBuffer: 100, ReplayCapacity: 1})
	for _, c := range []struct {
		option string
		o      SubscribeOptions
	}{
		{"Topic", SubscribeOptions{Overflow: Block}},
		{"Topic", SubscribeOptions{Topic: "t", Prefix: "t", Overflow: Block}},
		{"Topic", SubscribeOptions{Topic: "t", All: true, Overflow: Block}},
		{"Topic", SubscribeOptions{Prefix: "t", All: true, Overflow: Block}},
		{"Overflow", SubscribeOptions{Topic: "t"}},
		{"Overflow", SubscribeOptions{Topic: "t", Overflow: overflows}},
		{"Buffer", SubscribeOptions{Topic: "t", Overflow: Block, Buffer: -1}},
		{"Buffer", SubscribeOptions{Topic: "t", Overflow: Block, Buffer: 101}},
		{"Buffer", SubscribeOptions{Topic: "t", Overflow: LatestOnly, Buffer: 2}},
		{"Replay", SubscribeOptions{Topic: "t", Overflow: Block, Replay: -1}},
		{"Replay", SubscribeOptions{Topic: "t", Overflow: Block, Replay: 1, Since: new(uint64(0))}},
		{"Replay", SubscribeOptions{Topic: "t", Overflow: LatestOnly, Replay: 2}},
		{"Replay", SubscribeOptions{Topic: "t", Overflow: LatestOnly, Since: new(uint64(0))}},
	} {
		_, err := b.Subscribe(t.Context(), c.o)
		e, ok := errors.AsType[*OptionError](err)
		require.True(t, ok, "%+v", c.o)
		require.Equal(t, c.option, e.Option)
	}
	_, err := newBus(t, Config{}).Subscribe(t.Context(), SubscribeOptions{Topic: "t", Overflow: Block, Replay: 1})
	_, ok := errors.AsType[*OptionError](err)
	require.True(t, ok, "a bus that keeps nothing replays nothing")
	s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: Block, Buffer: 100})
	_, err = s.Receive(t.Context(), nil)
	_, ok = errors.AsType[*OptionError](err)
	require.True(t, ok)
}

func TestTopicsAndPrefixesAreChecked(t *testing.T) {
	b := newBus(t, Config{})
	long := strings.Repeat("x", MaxTopicBytes)
	_, err := b.Publish(t.Context(), Frame{Topic: long})
	require.NoError(t, err)
	for _, topic := range []string{"", long + "x", "a\nb", "a\x7f", "\xff"} {
		_, err := b.Publish(t.Context(), Frame{Topic: topic})
		_, ok := errors.AsType[*TopicError](err)
		require.True(t, ok, "%q", topic)
	}
	_, err = b.Subscribe(t.Context(), SubscribeOptions{Topic: "\xff", Overflow: Block})
	require.Error(t, err)
	for prefix, ok := range map[string]bool{"é"[:1]: true, long: true, long + "x": false, "\n": false} {
		_, err := b.Subscribe(t.Context(), SubscribeOptions{Prefix: prefix, Overflow: LatestOnly})
		require.Equal(t, ok, err == nil, "%q", prefix)
	}
}

func TestFramesAreChecked(t *testing.T) {
	b := newBus(t, Config{MaxPayloadBytes: 10})
	_, err := b.Publish(t.Context(), Frame{Topic: "t", Payload: make([]byte, 10)})
	require.NoError(t, err)
	_, err = b.Publish(t.Context(), Frame{Topic: "t", Payload: make([]byte, 11)})
	e, ok := errors.AsType[*PayloadError](err)
	require.True(t, ok)
	require.Equal(t, PayloadError{11, 10}, *e)
	_, err = b.Publish(t.Context(), Frame{Topic: "t", Priority: priorities})
	require.ErrorContains(t, err, "Priority: unknown (2)")
	_, err = b.Publish(t.Context(), Frame{Topic: "t", Reliability: reliabilities})
	require.ErrorContains(t, err, "Reliability: unknown (2)")
	require.EqualValues(t, 1, b.Stats().Sequence)
}

// What was published is what is received, whatever the publisher does with its buffer.
func TestThePayloadIsCopied(t *testing.T) {
	b := newBus(t, Config{})
	s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: Block})
	buf := []byte("before")
	_, err := b.Publish(t.Context(), Frame{Topic: "t", Payload: buf})
	require.NoError(t, err)
	copy(buf, "after!")
	m, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "before", string(m.Payload))
	require.Equal(t, len(m.Payload), cap(m.Payload), "an append by one receiver is not seen by another")
}

func TestSinceAFutureThatNeverWas(t *testing.T) {
	b := newBus(t, Config{})
	publish(t, b, "t", "")
	for since, ok := range map[uint64]bool{0: false, 1: true, 2: false} {
		_, err := b.Subscribe(context.Background(), SubscribeOptions{Topic: "t", Overflow: Block, Since: &since})
		require.Equal(t, ok, err == nil, "since %d: %v", since, err)
		if !ok {
			require.ErrorIs(t, err, ErrReplayUnavailable)
		}
	}
}

// Past ReplayTopics the topic that has been quiet the longest is forgotten, not the oldest.
func TestTheQuietestTopicIsForgotten(t *testing.T) {
	b := newBus(t, Config{ReplayCapacity: 2, ReplayTopics: 2})
	for _, topic := range []string{"a", "b", "a", "c"} {
		publish(t, b, topic, "")
	}
	for topic, kept := range map[string]int{"a": 2, "b": 0, "c": 1} {
		require.Equal(t, kept, subscribe(t, b, SubscribeOptions{Topic: topic, Overflow: Block, Replay: 5}).Stats().Pending, topic)
	}
}
