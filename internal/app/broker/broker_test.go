package broker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a client's conversation: what it asks for, and how it was told to end.
type client struct {
	asks   chan *ask
	gone   chan struct{} // closed: the client went away
	end    error         // what Accept returns then
	closed chan protocol.Failure
}

func newClient() *client {
	return &client{asks: make(chan *ask), gone: make(chan struct{}), end: io.EOF, closed: make(chan protocol.Failure, 1)}
}

func (c *client) Accept(ctx context.Context) (ports.StreamRequest, error) {
	select {
	case a := <-c.asks:
		return a, nil
	case <-c.gone:
		return nil, c.end
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *client) Close(f protocol.Failure) error { c.closed <- f; return nil }

func (c *client) Numbers() protocol.ConnNumbers {
	return protocol.ConnNumbers{Streams: 1, StreamsTotal: 2, ParkedBytes: 3, CreditOwedBytes: 4, BytesIn: 5, BytesOut: 6, FramesIn: 7, FramesOut: 8, CreditWaits: 9, FlowErrors: 10}
}

// ask is one OpenStream.
type ask struct {
	host    string
	start   protocol.StartPolicy
	first   []byte
	public  bool
	person  ports.Ask
	near    stream // given by Open
	gaveUp  bool   // Open and Hand fail
	direct  bool   // the client takes the connection itself
	handed  chan io.ReadWriteCloser
	refused chan protocol.Failure
	reports chan protocol.LinkReport // has room for what a test makes
}

// stream is a carriage with an end of its own choosing.
type stream struct{ *simnet.End }

func (s stream) Abort(protocol.Failure) error { return s.Close() }

func newAsk(host string) (*ask, *simnet.End) {
	near, far := simnet.Pipe(1 << 10)
	return &ask{
		host: host, near: stream{near}, refused: make(chan protocol.Failure, 1), handed: make(chan io.ReadWriteCloser, 1),
		reports: make(chan protocol.LinkReport, 100),
	}, far
}

func (a *ask) Host() string                 { return a.host }
func (a *ask) Start() protocol.StartPolicy  { return a.start }
func (a *ask) First() []byte                { return a.first }
func (a *ask) Public() bool                 { return a.public }
func (a *ask) Ask() ports.Ask               { return a.person }
func (a *ask) Report(r protocol.LinkReport) { a.reports <- r }
func (a *ask) Refuse(f protocol.Failure) error {
	a.refused <- f
	return nil
}

func (a *ask) Open() (ports.Stream, error) {
	if a.gaveUp {
		return nil, errors.New("given up")
	}
	return a.near, nil
}

func (a *ask) Hand(conn io.ReadWriteCloser) (ports.Stream, bool, error) {
	switch {
	case !a.direct:
		return nil, false, nil
	case a.gaveUp:
		return nil, true, errors.New("given up")
	}
	a.handed <- conn
	return a.near, true, nil
}

// daemons gives carriages whose far ends the test has.
type daemons struct {
	mu     sync.Mutex
	starts []protocol.StartPolicy
	far    chan *simnet.End
	fail   error
	hang   bool
}

func newDaemons() *daemons { return &daemons{far: make(chan *simnet.End, 10)} }

func (d *daemons) DialDaemon(ctx context.Context, start protocol.StartPolicy) (io.ReadWriteCloser, error) {
	d.mu.Lock()
	d.starts = append(d.starts, start)
	d.mu.Unlock()
	if d.hang {
		<-ctx.Done()
		return nil, fault.Wrap(fault.Timeout, ctx.Err(), "the daemon does not answer")
	}
	if d.fail != nil {
		return nil, d.fail
	}
	near, far := simnet.Pipe(1 << 10)
	d.far <- far
	return near, nil
}

// serve runs a broker for one client in a bubble.
func serve(t *testing.T, run func(t *testing.T, b *Broker, c *client, d *daemons)) {
	bubble.Test(t, func(t *testing.T) {
		d, c := newDaemons(), newClient()
		b := New(Options{Daemon: d, Version: "test"})
		served := make(chan error)
		go func() { served <- b.Serve(t.Context(), c) }()
		run(t, b, c, d)
		close(c.gone)
		require.NoError(t, <-served)
		<-c.closed
	})
}

func TestBytesGoBothWaysUntouched(t *testing.T) {
	serve(t, func(t *testing.T, _ *Broker, c *client, d *daemons) {
		a, cs := newAsk(protocol.LocalHost)
		a.start = protocol.ExistingOnly
		c.asks <- a
		ds := <-d.far
		require.Equal(t, []protocol.StartPolicy{protocol.ExistingOnly}, d.starts)
		up, down := bytes.Repeat([]byte("up"), 300<<10), bytes.Repeat([]byte("down"), 200<<10)
		go func() {
			cs.Write(up)
			cs.Close()
		}()
		got, err := io.ReadAll(ds)
		require.NoError(t, err)
		require.Equal(t, up, got, "all that came before the client's end")

		a, cs = newAsk(protocol.LocalHost)
		c.asks <- a
		ds = <-d.far
		go func() {
			ds.Write(down)
			ds.Close()
		}()
		got, err = io.ReadAll(cs)
		require.NoError(t, err)
		require.Equal(t, down, got, "all that came before the daemon's end")
	})
}

// The daemon has ended and takes no more; its last words arrive although the client still sends.
func TestLastWordsOfADaemonThatTakesNoMore(t *testing.T) {
	serve(t, func(t *testing.T, _ *Broker, c *client, d *daemons) {
		a, cs := newAsk(protocol.LocalHost)
		c.asks <- a
		ds := <-d.far
		go func() {
			ds.Write(bytes.Repeat([]byte("x"), 100<<10))
			ds.Close()
		}()
		cs.Write([]byte("keys"))
		time.Sleep(time.Second)
		cs.Write([]byte("more keys"))
		got, err := io.ReadAll(cs)
		require.NoError(t, err)
		require.Len(t, got, 100<<10)
	})
}

func TestRefusals(t *testing.T) {
	serve(t, func(t *testing.T, _ *Broker, c *client, d *daemons) {
		a, _ := newAsk("elsewhere\x1b")
		c.asks <- a
		f := <-a.refused
		require.Equal(t, fault.NotFound, f.Kind)
		require.Equal(t, `no host "elsewhere " is known`, f.Text)
		require.NotEmpty(t, f.Hint)

		d.fail = fault.New(fault.NotFound, "no daemon runs").WithHint("start one")
		a, _ = newAsk(protocol.LocalHost)
		c.asks <- a
		require.Equal(t, protocol.Failure{Kind: fault.NotFound, Text: "no daemon runs", Hint: "start one"}, <-a.refused)

		d.fail, d.hang = nil, true
		start := time.Now()
		a, _ = newAsk(protocol.LocalHost)
		c.asks <- a
		require.Equal(t, fault.Timeout, (<-a.refused).Kind)
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))

		d.hang = false
		for _, direct := range []bool{false, true} {
			a, _ = newAsk(protocol.LocalHost)
			a.gaveUp, a.direct = true, direct
			c.asks <- a
			_, err := (<-d.far).Read(make([]byte, 1))
			require.Equal(t, io.EOF, err, "the daemon is not kept waiting for a client that gave up")
		}
	})
}

// A client that takes the daemon's connection itself has it as long as its stream lives.
func TestTheConnectionIsHandedOver(t *testing.T) {
	serve(t, func(t *testing.T, _ *Broker, c *client, d *daemons) {
		a, cs := newAsk(protocol.LocalHost)
		a.direct = true
		c.asks <- a
		ds := <-d.far
		<-a.handed
		_, err := ds.Read(make([]byte, 1))
		require.Equal(t, io.EOF, err, "the broker gives up its own hold at once")
		time.Sleep(time.Hour)
		cs.Close()
	})
}

// A client that goes leaves nothing behind, whatever its relays are stuck in.
func TestAClientThatGoesLeavesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, c := newDaemons(), newClient()
		b := New(Options{Daemon: d})
		served := make(chan error)
		go func() { served <- b.Serve(t.Context(), c) }()
		a, cs := newAsk(protocol.LocalHost)
		c.asks <- a
		ds := <-d.far
		go cs.Write(make([]byte, 100<<10)) // which the daemon does not read
		time.Sleep(time.Second)
		c.end = fault.New(fault.Violation, "broke the protocol")
		close(c.gone)
		cs.Close() // a conversation's end ends its streams
		require.Equal(t, fault.Violation, fault.KindOf(<-served))
		_, err := io.Copy(io.Discard, ds)
		require.NoError(t, err)
		require.Equal(t, fault.Unavailable, (<-c.closed).Kind)
	})
}

func TestClientsAreToldWhenTheBrokerEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newClient()
		b := New(Options{Daemon: newDaemons()})
		served := make(chan error)
		go func() { served <- b.Serve(ctx, c) }()
		synctest.Wait()
		cancel()
		require.NoError(t, <-served)
		f := <-c.closed
		require.Equal(t, fault.Unavailable, f.Kind)
		require.NotEmpty(t, f.Hint)
	})
}

func TestRunEndsWhenIdle(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := New(Options{Daemon: newDaemons()})
		start := time.Now()
		ran := make(chan error)
		go func() { ran <- b.Run(t.Context()) }()
		time.Sleep(DefaultIdle - time.Second)
		c := newClient()
		served := make(chan error)
		go func() { served <- b.Serve(t.Context(), c) }()
		time.Sleep(time.Hour) // a client that does nothing is a client
		close(c.gone)
		require.NoError(t, <-served)
		require.NoError(t, <-ran)
		require.Equal(t, DefaultIdle-time.Second+time.Hour+DefaultIdle, time.Since(start))

		go func() { ran <- b.Run(t.Context()) }() // somebody came in the last moment
		time.Sleep(time.Second)
		require.NoError(t, <-ran)
	})
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("told")
		time.AfterFunc(time.Second, func() { cancel(why) })
		require.Equal(t, why, New(Options{Idle: time.Minute}).Run(ctx))
	})
}

func TestNumbers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := New(Options{Version: "1.2", Refused: func() uint64 { return 11 }})
		first, second := newClient(), newClient()
		served := make(chan error)
		for _, c := range []*client{first, second} {
			go func() { served <- b.Serve(t.Context(), c) }()
		}
		synctest.Wait()
		close(first.gone)
		<-served
		time.Sleep(time.Minute)
		n := b.Numbers()
		require.Equal(t, "1.2", n.Version)
		require.EqualValues(t, 60000, n.UptimeMS)
		require.Equal(t, 1, n.Clients)
		require.Equal(t, 1, n.Streams, "of those that are there")
		require.EqualValues(t, 4, n.StreamsTotal, "of all that were")
		require.EqualValues(t, 3, n.ParkedBytes)
		require.EqualValues(t, 4, n.CreditOwedBytes)
		require.Equal(t, []uint64{10, 12, 14, 16, 18, 20, 11}, []uint64{n.BytesIn, n.BytesOut, n.FramesIn, n.FramesOut, n.CreditWaits, n.FlowErrors, n.ForeignRefused})
		require.NotZero(t, n.HeapBytes)
		require.NotZero(t, n.Goroutines)
		require.NotZero(t, n.Pid)
		close(second.gone)
		<-served
	})
}

// scriptedReads gives reads of chosen sizes and notes how large the buffers were.
type scriptedReads struct {
	sizes []int
	room  []int
}

func (s *scriptedReads) Read(p []byte) (int, error) {
	if len(s.sizes) == 0 {
		return 0, io.EOF
	}
	s.room = append(s.room, len(p))
	n := min(s.sizes[0], len(p))
	s.sizes = s.sizes[1:]
	return n, nil
}

func TestAFloodGetsALargeBufferAndGivesItBack(t *testing.T) {
	r := &scriptedReads{sizes: []int{10, smallBuffer, bigBuffer, 10}}
	for range calm {
		r.sizes = append(r.sizes, 10)
	}
	r.sizes = append(r.sizes, 10)
	require.True(t, carry(io.Discard, r))
	require.Equal(t, []int{smallBuffer, smallBuffer, bigBuffer, bigBuffer}, r.room[:4])
	require.Equal(t, bigBuffer, r.room[2+calm])
	require.Equal(t, smallBuffer, r.room[len(r.room)-1])
}

// What a stream begins with comes before all else, here and elsewhere.
func TestFirstBytesGoAhead(t *testing.T) {
	serve(t, func(t *testing.T, _ *Broker, c *client, d *daemons) {
		a, cs := newAsk(protocol.LocalHost)
		a.first = []byte("first, ")
		c.asks <- a
		ds := <-d.far
		_, _ = cs.Write([]byte("then the rest"))
		_ = cs.Close()
		got, err := io.ReadAll(ds)
		require.NoError(t, err)
		require.Equal(t, "first, then the rest", string(got))
	})
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		a, _ := newAsk("far")
		a.first = []byte("first, ")
		s, err := b.reach(t.Context(), a)
		require.NoError(t, err)
		_, _ = s.Write([]byte("then the rest"))
		_ = s.Close()
		got, err := io.ReadAll(<-f.last().far)
		require.NoError(t, err)
		require.Equal(t, "first, then the rest", string(got))
	})
}
