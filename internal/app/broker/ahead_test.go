package broker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// foretold is a far host whose links may have asked for a stream as they were made.
type foretold struct {
	*far
	openings []*protocol.Opening
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
	if o := l.o; o == nil || o.Host != host || o.Start != start || string(o.First) != string(first) {
		return l.farLink.OpenStream(ctx, host, start, first)
	}
	l.o = nil
	s, err := l.farLink.OpenStream(context.Background(), host, start, nil)
	c := &closing{Stream: s}
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
	synctest.Test(t, func(t *testing.T) {
		f := &foretold{far: &far{takes: time.Second, transport: domain.TransportSSH}}
		b := New(Options{Daemon: newDaemons(), Remote: Remote{SSH: f}})
		defer b.Close()
		run(t, b, f)
	})
}

func saying(first string) wish {
	return wish{host: "far", start: protocol.StartIfNeeded, first: []byte(first)}
}

func TestTheFirstLinkAsksForAStream(t *testing.T) {
	foretelling(t, func(t *testing.T, b *Broker, f *foretold) {
		s, err := b.hosts.open(t.Context(), saying("hello"))
		require.NoError(t, err)
		require.Equal(t, []*protocol.Opening{{Host: protocol.LocalHost, Start: protocol.StartIfNeeded, First: []byte("hello")}}, f.openings)
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
