package broker

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// foretold is a far host whose links may have asked for a stream as they were made.
type foretold struct {
	*far
	openings []*protocol.Opening
	mu       sync.Mutex // of the streams asked for: who gives one up and who asks for another come at once
	given    []*closing // the streams, as they were taken
}

func (f *foretold) DialOpening(ctx context.Context, host string, ask ports.Ask, o *protocol.Opening) (ports.Link, error) {
	f.openings = append(f.openings, o)
	l, err := f.DialLink(ctx, host, ask)
	if err != nil {
		return nil, err
	}
	return &foretoldLink{l.(*farLink), f, o}, nil
}

type foretoldLink struct {
	*farLink
	f *foretold
	o *protocol.Opening // nil: taken
}

// OpenStream gives what was asked for ahead at once, whatever ctx is.
func (l *foretoldLink) OpenStream(ctx context.Context, host string, start protocol.StartPolicy, first []byte) (ports.Stream, error) {
	l.f.mu.Lock()
	o := l.o
	if o == nil || o.Host != host || o.Start != start || string(o.First) != string(first) {
		l.f.mu.Unlock()
		return l.farLink.OpenStream(ctx, host, start, first)
	}
	l.o = nil
	l.f.mu.Unlock()
	s, err := l.farLink.OpenStream(context.Background(), host, start, nil)
	c := &closing{Stream: s}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.given = append(l.f.given, c)
	return c, err
}

// closing is a stream that knows that it was closed.
type closing struct {
	ports.Stream
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.Stream.Close()
}

func foretelling(t *testing.T, run func(t *testing.T, b *Broker, f *foretold)) {
	bubble.Test(t, func(t *testing.T) {
		f := &foretold{far: &far{takes: time.Second, transport: domain.TransportSSH}}
		b := New(Options{Daemon: newDaemons(), Remote: Remote{SSH: f}})
		defer b.Close()
		run(t, b, f)
	})
}

func saying(first string) wish {
	return wish{host: "far", start: protocol.StartIfNeeded, first: []byte(first), public: true}
}

func TestTheFirstLinkAsksForAStream(t *testing.T) {
	foretelling(t, func(t *testing.T, b *Broker, f *foretold) {
		s, err := b.hosts.open(t.Context(), saying("hello"))
		require.NoError(t, err)
		require.Equal(t, []*protocol.Opening{{Host: protocol.LocalHost, Start: protocol.StartIfNeeded, First: []byte("hello"), Public: true}}, f.openings)
		require.Len(t, f.given, 1)
		l := f.last()
		require.Equal(t, firstPatience, b.hosts.patience(b.hosts.current("far")), "what was asked for ahead says nothing of how long an answer takes")
		require.NoError(t, l.Close())
		_ = s.Close()
		s, err = b.hosts.open(t.Context(), saying("again"))
		require.NoError(t, err)
		require.Len(t, f.openings, 1, "a host that was reached is dialled several times at once: each would ask")
		_ = s.Close()
	})
}

// What others may not see is not said with a link that a command line asks for: neither as its first stream, nor beside one.
func TestAPrivateStreamIsAskedForOverTheLink(t *testing.T) {
	foretelling(t, func(t *testing.T, b *Broker, f *foretold) {
		secret, _ := newAsk("far")
		secret.first = []byte("secret")
		s, err := b.reach(t.Context(), secret)
		require.NoError(t, err)
		require.Empty(t, f.openings)
		_ = s.Close()
		got, err := io.ReadAll(<-f.last().far)
		require.NoError(t, err)
		require.Equal(t, "secret", string(got), "it is said all the same")
	})
	foretelling(t, func(t *testing.T, b *Broker, f *foretold) {
		public, _ := newAsk("far")
		public.first, public.public = []byte("public"), true
		secret, _ := newAsk("far")
		secret.first = []byte("secret")
		var all sync.WaitGroup
		for _, a := range []*ask{public, secret} {
			all.Go(func() {
				s, err := b.reach(t.Context(), a)
				if err != nil {
					t.Error(err)
					return
				}
				_ = s.Close()
			})
			synctest.Wait()
		}
		all.Wait()
		require.Len(t, f.openings, 1)
		require.Equal(t, "public", string(f.openings[0].First))
		require.True(t, f.openings[0].Public)
	})
}

// A stream that nobody waits for any more would show a session to nobody.
func TestAStreamAskedForWithALinkIsGivenUp(t *testing.T) {
	foretelling(t, func(t *testing.T, b *Broker, f *foretold) {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := b.hosts.open(ctx, saying("one"))
			left <- err
		}()
		synctest.Wait()
		type answer struct {
			s   *linked
			err error
		}
		other := make(chan answer, 1)
		go func() {
			s, err := b.hosts.open(t.Context(), saying("two"))
			other <- answer{s, err}
		}()
		synctest.Wait()
		leave()
		require.Error(t, <-left)
		a := <-other
		require.NoError(t, a.err)
		synctest.Wait()
		require.Len(t, f.openings, 1)
		require.Len(t, f.given, 1)
		require.True(t, f.given[0].closed)
		_ = a.s.Close()
	})
}
