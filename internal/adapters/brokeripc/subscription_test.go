package brokeripc

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// subscribed sets both ends up on a carriage; the broker's gives its subscriptions to the channel.
func subscribed(t *testing.T, a, b *simnet.End) (*Client, *Server, <-chan ports.Subscription) {
	t.Helper()
	subs := make(chan ports.Subscription, 4)
	broker := testBroker()
	broker.Subscribed = func(s ports.Subscription) { subs <- s }
	servers := make(chan *Server, 1)
	go func() {
		s, err := Accept(context.Background(), b, broker)
		if err != nil {
			t.Error(err)
		}
		servers <- s
	}()
	c, err := Dial(context.Background(), a, "vev test-client")
	require.NoError(t, err)
	return c, <-servers, subs
}

func part1(revision uint64, e protocol.CatalogueEntry) *protocol.SnapshotPart {
	return &protocol.SnapshotPart{Revision: revision, Part: e}
}

func publish(t *testing.T, s ports.Subscription, all ...protocol.BrokerServerMessage) {
	t.Helper()
	for _, m := range all {
		require.NoError(t, s.Publish(m))
	}
}

// snapshot is one of a host with n sessions.
func snapshot(revision uint64, n int) (all []protocol.BrokerServerMessage) {
	all = append(all, part1(revision, protocol.SnapshotBegin{}), part1(revision, protocol.HostEntry{Host: catalogue.Host{Name: "h"}}))
	for i := range n {
		all = append(all, part1(revision, protocol.SessionEntry{Session: catalogue.Session{
			Host: "h", SessionInfo: domain.SessionInfo{ID: domain.SessionID{byte(i >> 8), byte(i), 1}, Title: strings.Repeat("t", 1000)},
		}}))
	}
	return append(all, part1(revision, protocol.SnapshotEnd{Parts: uint32(n) + 1}))
}

func delta(base uint64) *protocol.SnapshotDelta {
	return &protocol.SnapshotDelta{Delta: catalogue.Delta{
		Base: base, Revision: base + 1, Gone: []catalogue.Key{{Host: "h", ID: domain.SessionID{0, 0, 1}}},
	}}
}

func TestASubscriberIsToldSnapshotsAndDeltas(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 12)
		c, s, subs := subscribed(t, a, b)
		defer part(c, s)
		c.Subscribe([]string{"h"}, protocol.ReachWarm)
		sub := <-subs
		require.Equal(t, protocol.Subscribe{Hosts: []string{"h"}, Reach: protocol.ReachWarm}, sub.Asked())
		_, _, ready, err := c.Listed()
		require.NoError(t, err)
		require.False(t, ready)
		publish(t, sub, snapshot(7, 300)...)
		synctest.Wait()
		<-c.Changes()
		hosts, sessions, ready, err := c.Listed()
		require.NoError(t, err)
		require.True(t, ready)
		require.Len(t, hosts, 1)
		require.Len(t, sessions, 300)
		publish(t, sub, delta(7))
		synctest.Wait()
		_, sessions, _, _ = c.Listed()
		require.Len(t, sessions, 299)
		publish(t, sub, delta(9)) // one is missing
		<-sub.Missed()
		publish(t, sub, snapshot(10, 2)...)
		synctest.Wait()
		_, sessions, _, _ = c.Listed()
		require.Len(t, sessions, 2)
	})
}

// Whoever publishes waits for a client that takes nothing, and not in vain: the connection stays.
func TestPublishingWaitsForTheClient(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 12)
		c, s, subs := subscribed(t, a, b)
		c.Subscribe(nil, protocol.ReachAll)
		sub := <-subs
		b.Stall()
		done := make(chan error, 1)
		go func() {
			for _, m := range snapshot(1, 1000) {
				if err := sub.Publish(m); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		time.Sleep(time.Hour)
		require.Empty(t, done)
		s.conn.mu.Lock()
		require.Less(t, len(s.conn.writing.unsent), 2*publishBelow)
		s.conn.mu.Unlock()
		b.Resume()
		require.NoError(t, <-done)
		synctest.Wait()
		_, sessions, _, err := c.Listed()
		require.NoError(t, err)
		require.Len(t, sessions, 1000)

		b.Stall()
		go func() {
			for _, m := range snapshot(2, 1000) {
				if err := sub.Publish(m); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		synctest.Wait()
		c.Unsubscribe()
		require.Equal(t, fault.Canceled, fault.KindOf(<-done), "nobody wants it any more")
		<-sub.Over()
		b.Resume()
		time.Sleep(time.Second)
		require.NoError(t, c.Err(), "what was on its way does no harm")
		part(c, s)
	})
}

func TestASubscriptionEndsWithItsSuccessorOrItsConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 12)
		c, s, subs := subscribed(t, a, b)
		c.Subscribe([]string{"a"}, protocol.ReachAll)
		first := <-subs
		c.Subscribe([]string{"b"}, protocol.ReachAll)
		second := <-subs
		<-first.Over()
		require.Equal(t, fault.Canceled, fault.KindOf(first.Publish(delta(1))))
		part(c, s)
		<-second.Over()
		require.Equal(t, fault.Canceled, fault.KindOf(second.Publish(delta(1))))
		<-c.Changes()
		_, _, _, err := c.Listed()
		require.Error(t, err)
		c.Subscribe(nil, protocol.ReachAll) // does nothing any more
	})
}

func TestABrokerWithoutACatalogueSaysSo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<12)
		defer part(c, s)
		c.Subscribe(nil, protocol.ReachAll)
		<-c.Changes()
		_, _, ready, err := c.Listed()
		require.False(t, ready)
		require.Equal(t, fault.Unsupported, fault.KindOf(err))
	})
}

func TestACatalogueThatNobodyAskedForIsAViolation(t *testing.T) {
	for _, m := range []protocol.BrokerServerMessage{part1(1, protocol.SnapshotBegin{}), delta(1)} {
		bubble.Test(t, func(t *testing.T) {
			a, b := simnet.Pipe(1 << 12)
			c, p := scriptBroker(t, a, b)
			p.send(m)
			<-c.Done()
			require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
		})
	}
}
