package brokeripc

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

func opening() *protocol.Opening {
	return &protocol.Opening{Host: "host", Start: protocol.ExistingOnly, First: []byte("first"), Public: true}
}

// dialled is a client that dials asking for a stream, and the broker's end.
func dialled(t *testing.T, near, far io.ReadWriteCloser) (*Client, *Server) {
	t.Helper()
	got := make(chan *Server, 1)
	go func() {
		s, err := Accept(t.Context(), far, testBroker())
		if err != nil {
			t.Error(err)
		}
		got <- s
	}()
	c, err := dialOpening(t.Context(), near, false, opening())
	require.NoError(t, err)
	return c, <-got
}

// requested is the stream that a broker is asked for.
func requested(t *testing.T, s *Server) ports.StreamRequest {
	t.Helper()
	r, err := s.Accept(t.Context())
	require.NoError(t, err)
	require.Equal(t, "host", r.Host())
	require.Equal(t, protocol.ExistingOnly, r.Start())
	require.Equal(t, "first", string(r.First()))
	require.True(t, r.Public())
	return r
}

func openStream(c *Client) (ports.Stream, error) {
	return c.Open(context.Background(), opening())
}

// counting counts the writes of one end.
type counting struct {
	io.ReadWriteCloser
	writes atomic.Int32
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.ReadWriteCloser.Write(p)
}

// The broker has the request before the client has its answer, which takes one write.
func TestTheRegistrationAsksForAStream(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		near, far := &counting{ReadWriteCloser: a}, &counting{ReadWriteCloser: b}
		c, s := dialled(t, near, far)
		r := requested(t, s)
		require.EqualValues(t, 1, near.writes.Load(), "of the client")
		require.EqualValues(t, 1, far.writes.Load(), "of the broker: the preamble's answer, and that to the registration")
		server, err := r.Open()
		require.NoError(t, err)
		client, err := openStream(c)
		require.NoError(t, err)
		go func() { _, _ = client.Write([]byte("there")) }()
		got := make([]byte, 5)
		_, err = io.ReadFull(server, got)
		require.NoError(t, err)
		require.Equal(t, "there", string(got), "the first bytes are the request's, and not said again")

		second := make(chan error, 1)
		go func() {
			_, err := openStream(c)
			second <- err
		}()
		_, err = requested(t, s).Open()
		require.NoError(t, err)
		require.NoError(t, <-second, "the next one is asked for as usual")
		part(c, s)
	})
}

// Who asks for something else leaves it to who asks for that.
func TestAnotherStreamIsNotTheOneAskedForAhead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := dialled(t, a, b)
		ahead, err := requested(t, s).Open()
		require.NoError(t, err)
		for _, o := range []*protocol.Opening{
			{Host: "other", Start: protocol.ExistingOnly, First: []byte("first")},
			{Host: "host", Start: protocol.StartIfNeeded, First: []byte("first")},
			{Host: "host", Start: protocol.ExistingOnly, First: []byte("second")},
		} {
			asked := make(chan error, 1)
			go func() {
				_, err := c.OpenStream(t.Context(), o.Host, o.Start, o.First)
				asked <- err
			}()
			r, err := s.Accept(t.Context())
			require.NoError(t, err)
			require.Equal(t, o, &protocol.Opening{Host: r.Host(), Start: r.Start(), First: r.First(), Public: r.Public()})
			_, err = r.Open()
			require.NoError(t, err)
			require.NoError(t, <-asked)
		}
		stream, err := openStream(c)
		require.NoError(t, err)
		go func() { _, _ = ahead.Write([]byte("x")) }()
		_, err = io.ReadFull(stream, make([]byte, 1))
		require.NoError(t, err)
		part(c, s)
	})
}

// What a conversation begins with may be known elsewhere before it is written.
func TestABeginningIsWhatIsWritten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		begin, err := Begin("vev", opening())
		require.NoError(t, err)
		go func() { _, _ = begin.Dial(t.Context(), a) }()
		wrote := make([]byte, len(begin.Bytes()))
		_, err = io.ReadFull(b, wrote)
		require.NoError(t, err)
		require.Equal(t, begin.Bytes(), wrote)
		synctest.Wait()
		b.Close()
		synctest.Wait()
	})
}

func TestAStreamAskedForAheadMayBeRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := dialled(t, a, b)
		require.NoError(t, requested(t, s).Refuse(protocol.Failure{Kind: fault.NotFound, Text: "no daemon"}))
		_, err := openStream(c)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		part(c, s)
	})
}

func TestAStreamAskedForAheadMayBeGivenUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := dialled(t, a, b)
		r := requested(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		o := opening()
		_, err := c.OpenStream(ctx, o.Host, o.Start, o.First)
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		synctest.Wait()
		_, err = r.Open()
		require.Equal(t, fault.Canceled, fault.KindOf(err), "the broker was told")
		part(c, s)
	})
}

// A connection that ends before the stream is taken ends whoever comes for it.
func TestAStreamAskedForAheadEndsWithTheConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := dialled(t, a, b)
		require.NoError(t, s.Close(protocol.Failure{Kind: fault.Unavailable, Text: "ending"}))
		<-c.Done()
		_, err := openStream(c)
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
}

func TestAStreamAskedForAheadIsHanded(t *testing.T) {
	near, far := sockets(t)
	c, s := dialled(t, near, far)
	t.Cleanup(func() { part(c, s) })
	for range 2 {
		ours, daemon := sockets(t)
		granted := make(chan error, 1)
		go func() {
			r, err := s.Accept(t.Context())
			if err == nil {
				_, _, err = r.Hand(ours)
			}
			granted <- err
		}()
		client, err := openStream(c)
		require.NoError(t, err)
		require.NoError(t, <-granted)
		require.IsType(t, &direct{}, client)
		_, err = client.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(daemon, make([]byte, 1))
		require.NoError(t, err)
		require.NoError(t, client.Close())
	}
}

// A broker that does not know what stands in the registration is asked once that is clear.
func TestABrokerThatKnowsNoOpeningIsAskedLater(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		p := &scripted{t: t, rw: b, rd: streamframe.NewReader(b), server: true, scope: protocol.Scope{BrokerEpoch: 9}, turn: make(chan struct{}, 1)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			hello := scriptHello(protocol.BrokerServer)
			hello.Features |= protocol.FeatureFirst
			if _, err := streamframe.ServerHandshake(p.rd, b, hello); err != nil {
				t.Error(err)
			}
			p.receive()
			p.send(&protocol.Registered{Scope: p.scope})
			m := wants[*protocol.OpenStream](p, "asked for")
			if m.Ref.ID != 1 || string(m.First) != "first" || !m.Public {
				t.Errorf("%+v", m)
			}
			p.send(&protocol.StreamOpened{Ref: m.Ref})
		}()
		c, err := dialOpening(t.Context(), a, false, opening())
		require.NoError(t, err)
		_, err = openStream(c)
		require.NoError(t, err)
		<-done
		b.Close()
		<-c.Done()
	})
}

// What was not agreed does not count.
func TestAnOpeningThatWasNotAgreedIsIgnored(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		p := &scripted{t: t, rw: a, rd: streamframe.NewReader(a), turn: make(chan struct{}, 1)}
		go func() {
			_, err := streamframe.ClientHandshake(p.rd, a, scriptHello(protocol.BrokerClient), func(dst []byte) ([]byte, error) {
				return brokerwire.AppendClient(dst, &protocol.Register{Client: "script", Open: opening()})
			})
			if err != nil {
				t.Error(err)
			}
			p.scope = wants[*protocol.Registered](p, "registered").Scope
			p.send(&protocol.OpenStream{Ref: p.ref(1), Host: "usual"})
		}()
		s, err := Accept(t.Context(), b, testBroker())
		require.NoError(t, err)
		r, err := s.Accept(t.Context())
		require.NoError(t, err)
		require.Equal(t, "usual", r.Host())
		a.Close()
		<-s.Done()
	})
}
