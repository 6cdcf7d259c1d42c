package streambus

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/bubble"
)

func newBus(t *testing.T, c Config) *Bus {
	t.Helper()
	b, err := NewInMemory(c)
	require.NoError(t, err)
	return b
}

func subscribe(t *testing.T, b *Bus, o SubscribeOptions) *Subscription {
	t.Helper()
	s, err := b.Subscribe(t.Context(), o)
	require.NoError(t, err)
	return s
}

func publish(t *testing.T, b *Bus, topic, payload string) uint64 {
	t.Helper()
	sequence, err := b.Publish(t.Context(), Frame{Topic: topic, Payload: []byte(payload)})
	require.NoError(t, err)
	return sequence
}

// outcome is what a publisher in a goroutine was told.
type outcome struct {
	sequence uint64
	err      error
	after    time.Duration
}

func publishing(ctx context.Context, b *Bus, f Frame) <-chan outcome {
	out := make(chan outcome, 1)
	from := time.Now()
	go func() {
		sequence, err := b.Publish(ctx, f)
		out <- outcome{sequence, err, time.Since(from)}
	}()
	return out
}

func TestAStalledBlockSubscriberStopsItsPublisherUntilTheContextEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBus(t, Config{ReplayCapacity: 10})
		stalled := subscribe(t, b, SubscribeOptions{Topic: "t", Buffer: 1, Overflow: Block})
		other := subscribe(t, b, SubscribeOptions{All: true, Overflow: DropOldest})
		publish(t, b, "t", "1")

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		waiting := publishing(ctx, b, Frame{Topic: "t"})
		synctest.Wait()
		require.EqualValues(t, 1, b.Stats().Waiting)
		require.EqualValues(t, 2, publish(t, b, "u", "2"), "another topic goes on")

		got := <-waiting
		require.ErrorIs(t, got.err, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, got.after)
		stats := b.Stats()
		require.Zero(t, stats.Waiting)
		require.EqualValues(t, 1, stats.Refused)
		require.EqualValues(t, 2, stats.Sequence, "nobody got it")
		require.Equal(t, 2, stats.Frames)
		require.EqualValues(t, 2, other.Stats().Offered)
		require.Equal(t, SubscriptionStats{Offered: 1, Pending: 1}, stalled.Stats())
	})
}

func TestAPublisherGoesOn(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *Bus, s *Subscription)
		err  error
	}{
		{"when a frame is read", func(_ *Bus, s *Subscription) { s.Next(context.Background()) }, nil},
		{"when the subscription is closed", func(_ *Bus, s *Subscription) { s.Close() }, nil},
		{"when the bus is closed", func(b *Bus, _ *Subscription) { b.Close() }, ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				b := newBus(t, Config{})
				s := subscribe(t, b, SubscribeOptions{Prefix: "t", Buffer: 1, Overflow: Block})
				publish(t, b, "t/1", "")
				first := publishing(t.Context(), b, Frame{Topic: "t/1"})
				interactive := publishing(t.Context(), b, Frame{Topic: "t/1", Priority: Bulk})
				synctest.Wait()
				require.NoError(t, (<-interactive).err, "the other priority has room of its own")
				c.do(b, s)
				require.ErrorIs(t, (<-first).err, c.err)
			})
		})
	}
}

// Many publishers wait for two subscriptions that are read in turns: none is forgotten.
func TestNoPublisherIsForgotten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBus(t, Config{})
		x := subscribe(t, b, SubscribeOptions{Topic: "t", Buffer: 1, Overflow: Block})
		y := subscribe(t, b, SubscribeOptions{Prefix: "t", Buffer: 2, Overflow: Block})
		const publishers = 20
		var all []<-chan outcome
		for range publishers {
			all = append(all, publishing(t.Context(), b, Frame{Topic: "t"}))
		}
		for want := range uint64(publishers) {
			for _, s := range []*Subscription{y, x} {
				synctest.Wait()
				m, err := s.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, want+1, m.Sequence)
			}
		}
		for _, p := range all {
			require.NoError(t, (<-p).err)
		}
	})
}

func TestAStalledLatestOnlySubscriberSeesTheNewestWithinOneRead(t *testing.T) {
	b := newBus(t, Config{})
	s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: LatestOnly})
	for range 1000 {
		publish(t, b, "t", "old")
	}
	_, err := b.Publish(t.Context(), Frame{Topic: "t", Payload: []byte("new"), Priority: Bulk})
	require.NoError(t, err)
	m, err := s.Next(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1001, m.Sequence)
	require.Equal(t, "new", string(m.Payload))
	require.Equal(t, SubscriptionStats{Offered: 1001, Read: 1, Dropped: 1000}, s.Stats())
}

func TestAReaderWaits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBus(t, Config{})
		s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: Block})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		const readers = 5
		read := make(chan uint64, readers)
		for range readers {
			go func() {
				m, _ := s.Next(t.Context())
				read <- m.Sequence
			}()
		}
		synctest.Wait()
		sum := uint64(0)
		for range readers {
			publish(t, b, "t", "")
		}
		for range readers {
			sum += <-read
		}
		require.EqualValues(t, 1+2+3+4+5, sum, "each frame went to one of the readers")
	})
}

// All who wait at the end are told, and what was published before a bus's end is read first.
func TestTheEndIsToldToAllReaders(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBus(t, Config{})
		s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: Block})
		errs := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := s.Next(t.Context())
				errs <- err
			}()
		}
		synctest.Wait()
		b.Close()
		b.Close()
		for range 3 {
			require.ErrorIs(t, <-errs, ErrClosed)
		}
	})
	b := newBus(t, Config{})
	s := subscribe(t, b, SubscribeOptions{Topic: "t", Overflow: Block})
	publish(t, b, "t", "last words")
	b.Close()
	m, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "last words", string(m.Payload))
	_, err = s.Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	_, err = b.Publish(t.Context(), Frame{Topic: "t"})
	require.ErrorIs(t, err, ErrClosed)
	_, err = b.Subscribe(t.Context(), SubscribeOptions{Topic: "t", Overflow: Block})
	require.ErrorIs(t, err, ErrClosed)
	s.Close()
	require.Zero(t, b.Stats().Subscriptions)
}

func TestASubscriptionEndsWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBus(t, Config{})
		tired := errors.New("tired")
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := b.Subscribe(ctx, SubscribeOptions{Topic: "t", Buffer: 1, Overflow: Block})
		require.NoError(t, err)
		publish(t, b, "t", "")
		waiting := publishing(t.Context(), b, Frame{Topic: "t"})
		synctest.Wait()
		cancel(tired)
		require.NoError(t, (<-waiting).err, "nobody is there to wait for")
		synctest.Wait()
		require.Zero(t, b.Stats().Subscriptions)
		require.Equal(t, SubscriptionStats{Offered: 1, Dropped: 1}, s.Stats())
		_, err = s.Next(t.Context())
		require.ErrorIs(t, err, tired)
		_, err = b.Subscribe(ctx, SubscribeOptions{Topic: "t", Overflow: Block})
		require.ErrorIs(t, err, tired)
		_, err = b.Publish(ctx, Frame{Topic: "t"})
		require.ErrorIs(t, err, tired)
	})
}

func TestSubscriptionsHaveNoGoroutines(t *testing.T) {
	b := newBus(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := runtime.NumGoroutine()
	for range 10_000 {
		_, err := b.Subscribe(ctx, SubscribeOptions{Topic: "t", Overflow: LatestOnly})
		require.NoError(t, err)
	}
	publish(t, b, "t", "x")
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
	b.Close()
}

// Several readers share a subscription, and all but one give up, at any moment: nothing is left lying with the one that waits.
func TestReadersThatGiveUpLeaveTheTokenToOthers(t *testing.T) {
	const readers, frames, rounds = 4, 100, 300
	for range rounds {
		b := newBus(t, Config{})
		s := subscribe(t, b, SubscribeOptions{Topic: "t", Buffer: 2, Overflow: Block})
		var read atomic.Int64
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				for read.Load() < frames/2 {
					ctx, cancel := context.WithCancel(context.Background())
					all.Go(cancel)
					var into [1]Message
					n, _ := s.Receive(ctx, into[:])
					read.Add(int64(n))
				}
			})
		}
		all.Go(func() {
			var into [1]Message
			for read.Load() < frames {
				n, err := s.Receive(context.Background(), into[:])
				if read.Add(int64(n)); err != nil {
					return
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for range frames {
			_, err := b.Publish(ctx, Frame{Topic: "t"})
			require.NoError(t, err, "a frame is left lying")
		}
		cancel()
		for s.Stats().Pending > 0 {
			runtime.Gosched()
		}
		s.Close()
		all.Wait()
		require.Equal(t, SubscriptionStats{Offered: frames, Read: frames}, s.Stats())
	}
}

func TestPublishAllocatesTheMessageAlone(t *testing.T) {
	b := newBus(t, Config{ReplayCapacity: 8})
	for range 100 {
		subscribe(t, b, SubscribeOptions{Topic: "t/1", Buffer: 4, Overflow: DropOldest})
		subscribe(t, b, SubscribeOptions{Prefix: "t/", Overflow: LatestOnly})
	}
	f := Frame{Topic: "t/1", Payload: make([]byte, 100)}
	for range 10 {
		b.Publish(t.Context(), f)
	}
	ctx := t.Context()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { b.Publish(ctx, f) }), 1.0)
	f.Payload = make([]byte, smallPayload+1)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { b.Publish(ctx, f) }), 2.0, "a large payload has memory of its own")
}
