package streambus

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// crowd is publishers and subscriptions that all run at once.
const (
	crowdPublishers = 4
	crowdFrames     = 500 // of each
	crowdReaders    = 8
)

// Whatever the policy, counts add up to the last frame, and each priority comes in order.
func TestCountsAddUp(t *testing.T) {
	for _, policy := range []Overflow{Block, DropNewest, DropOldest, LatestOnly} {
		t.Run(policy.String(), func(t *testing.T) {
			b := newBus(t, Config{DefaultBuffer: 4, ReplayCapacity: 4})
			var all sync.WaitGroup
			subs := make([]*Subscription, crowdReaders)
			for i := range subs {
				o := SubscribeOptions{Topic: "t", Overflow: policy}
				if i%2 == 0 {
					o = SubscribeOptions{Prefix: "t", Overflow: policy}
				}
				subs[i] = subscribe(t, b, o)
				all.Go(func() { readInOrder(t, subs[i]) })
			}
			var publishers sync.WaitGroup
			for p := range crowdPublishers {
				publishers.Go(func() { publishMany(t, b, Priority(p%2)) })
			}
			publishers.Wait()
			b.Close()
			all.Wait()
			const total = crowdPublishers * crowdFrames
			dropped := uint64(0)
			for _, s := range subs {
				stats := s.Stats()
				require.EqualValues(t, total, stats.Offered)
				require.Zero(t, stats.Pending)
				require.Equal(t, stats.Offered, stats.Read+stats.Dropped)
				if policy == Block {
					require.Zero(t, stats.Dropped)
				}
				dropped += stats.Dropped
			}
			require.Equal(t, dropped, b.Stats().Dropped)
			require.EqualValues(t, total*crowdReaders, b.Stats().Offered)
		})
	}
}

func publishMany(t *testing.T, b *Bus, p Priority) {
	last := uint64(0)
	for i := range crowdFrames {
		sequence, err := b.Publish(context.Background(), Frame{Topic: "t", Payload: fmt.Append(nil, i), Priority: p})
		if err != nil || sequence <= last {
			t.Errorf("published %d after %d: %v", sequence, last, err)
			return
		}
		last = sequence
	}
}

func readInOrder(t *testing.T, s *Subscription) {
	var last [priorities]uint64
	into := make([]Message, 3)
	for {
		n, err := s.Receive(context.Background(), into)
		if err != nil {
			return // the bus was closed, and all is read
		}
		for _, m := range into[:n] {
			if m.Sequence <= last[m.Priority] {
				t.Errorf("%d after %d", m.Sequence, last[m.Priority])
			}
			last[m.Priority] = m.Sequence
		}
	}
}

// Subscriptions come and go while frames are published; the next goes on exactly where the last was.
func TestComingAndGoing(t *testing.T) {
	b := newBus(t, Config{ReplayCapacity: crowdPublishers * crowdFrames})
	var publishers, readers sync.WaitGroup
	for range crowdPublishers {
		publishers.Go(func() { publishMany(t, b, Interactive) })
	}
	for range crowdReaders {
		readers.Go(func() {
			at := uint64(0)
			for at < crowdFrames {
				ctx, cancel := context.WithCancel(context.Background())
				s, err := b.Subscribe(ctx, SubscribeOptions{Topic: "t", Buffer: 1, Overflow: Block, Since: &at})
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				if m, err := s.Next(ctx); err != nil || m.Sequence != at+1 || s.Resume() != m.Sequence {
					t.Errorf("%d after %d, resumed at %d: %v", m.Sequence, at, s.Resume(), err)
				}
				at = at + 1
				if at%2 == 0 {
					s.Close()
				}
				cancel()
			}
		})
	}
	publishers.Wait()
	readers.Wait()
	b.Close()
	require.Zero(t, b.Stats().Subscriptions)
}
