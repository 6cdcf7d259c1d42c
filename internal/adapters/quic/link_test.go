package quic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// A link leads to the daemon behind the proxy, many streams at once; a stream that ends leaves the others alone.
func TestALinkHasStreams(t *testing.T) {
	m := newMachine(t, Ports{})
	d := newDialer(&ssh{to: m})
	require.False(t, d.Resumable("far"))
	l := dial(t, d)
	require.True(t, d.Resumable("far"))
	one, two := open(t, l), open(t, l)
	echoes(t, one, "one")
	echoes(t, two, strings.Repeat("two", 100_000))
	require.NoError(t, one.Close())
	_, err := one.Read(make([]byte, 1))
	require.Equal(t, fault.Canceled, fault.KindOf(err))
	echoes(t, two, "still there")

	_, err = l.OpenStream(t.Context(), "elsewhere", protocol.StartIfNeeded, nil)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "a proxy knows its own machine only")
	e, _ := errors.AsType[*fault.Error](err)
	require.True(t, e.Peer)
	m.daemon.Store(false)
	_, err = l.OpenStream(t.Context(), protocol.LocalHost, protocol.ExistingOnly, nil)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	m.daemon.Store(true)

	require.NoError(t, l.Probe(t.Context()))
	v := l.Vitals()
	require.Equal(t, domain.TransportQUIC, v.Transport)
	require.Positive(t, v.RTT)
	require.WithinDuration(t, time.Now(), v.Heard, time.Second)
	require.Positive(t, v.Sent)
	require.NoError(t, l.Err())
	require.NoError(t, l.Close())
	require.Error(t, l.Err())
	_, err = two.Read(make([]byte, 1))
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	_, err = l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.Error(t, err)
}

// What was written before an orderly end arrives, and then the end; an abort drops it.
func TestHowAStreamEnds(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	s := open(t, l)
	text := strings.Repeat("x", 300_000)
	var wrote sync.WaitGroup
	wrote.Go(func() { _, _ = io.WriteString(s, text) })
	got, err := io.ReadAll(io.LimitReader(s, int64(len(text))))
	require.NoError(t, err)
	require.Equal(t, text, string(got))
	wrote.Wait()
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)

	s = open(t, l)
	require.NoError(t, s.Abort(protocol.Failure{Kind: fault.Limit}))
	_, err = s.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// A write that waits for the other side's window returns when the stream is closed.
func TestAWriteThatWaitsIsReleased(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	s := open(t, l)
	ended := make(chan error)
	go func() {
		_, err := io.WriteString(s, strings.Repeat("x", 32<<20)) // its echo is not read: it stops somewhere
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(300 * time.Millisecond):
	}
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, io.ErrClosedPipe)
	echoes(t, open(t, l), "the others go on")
}

// A connection has no more streams than any other of vev's.
func TestTheStreamsOfAConnectionAreBounded(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	var last ports.Stream
	for range maxStreams {
		last = open(t, l)
	}
	_, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.Equal(t, fault.Limit, fault.KindOf(err))
	require.NoError(t, last.Close())
	require.Eventually(t, func() bool {
		s, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
		if err == nil {
			_ = s.Close()
		}
		return err == nil
	}, 5*time.Second, 10*time.Millisecond)
}

// Who was let in once comes back by its key: ssh is not asked again, also not by many at once.
func TestComingBackTakesNoSSH(t *testing.T) {
	m := newMachine(t, Ports{})
	s := &ssh{to: m}
	d := newDialer(s)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			l, err := d.DialLink(t.Context(), "far", nil)
			if err != nil {
				t.Error(err)
				return
			}
			s, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
			if err == nil {
				_, err = io.WriteString(s, fmt.Sprint(i))
			}
			_ = err // a newer one may have taken its place
			_ = l.Close()
		})
	}
	all.Wait()
	echoes(t, open(t, dial(t, d)), "back")
	require.EqualValues(t, 1, s.runs.Load())
}

// A new connection takes the place of the old one with its first stream, at both ends; before that it changes nothing.
func TestANewConnectionReplacesTheOld(t *testing.T) {
	m := newMachine(t, Ports{})
	d := newDialer(&ssh{to: m})
	old := dial(t, d)
	stream := open(t, old)
	echoes(t, stream, "old")
	beside, fresh := dial(t, d), dial(t, d)
	echoes(t, stream, "still the old one")
	require.NoError(t, beside.Close())
	echoes(t, stream, "an attempt that lost ends nothing")
	echoes(t, open(t, fresh), "new")
	_, err := stream.Read(make([]byte, 1))
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.Eventually(t, func() bool { return old.Err() != nil && len(m.addresses()) == 1 }, 5*time.Second, time.Millisecond)
	require.NoError(t, fresh.Err())
}

// A proxy that ends says so: the next link begins with ssh again. One that is another one's successor is not taken for it.
func TestAProxyThatEndsIsForgotten(t *testing.T) {
	m := newMachine(t, Ports{})
	s := &ssh{to: m}
	d := newDialer(s)
	l := dial(t, d)
	m.proxy.Close()
	<-l.conn.Context().Done() // a moment after its streams
	require.Error(t, l.Err())
	require.False(t, d.Resumable("far"))
	require.NoError(t, l.Close())
	require.False(t, d.Resumable("far"))

	s.to = newMachine(t, Ports{})
	l = dial(t, d)
	echoes(t, open(t, l), "the next one")
	require.EqualValues(t, 2, s.runs.Load())
	s.to.proxy.Close()
	<-l.conn.Context().Done()
	s.to = newMachine(t, Ports{})
	l = dial(t, d)
	echoes(t, open(t, l), "another one, though the link was not closed")
	require.EqualValues(t, 3, s.runs.Load())
	s.to.proxy.leases.forget()
	l = dial(t, d)
	if s.runs.Load() == 3 { // the handshake was over on this side before the proxy has looked at the key
		_, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.False(t, d.Resumable("far"), "it knows this process no more: %v", err)
		require.NoError(t, l.Close())
		l = dial(t, d)
	}
	require.EqualValues(t, 4, s.runs.Load())
	clear(l.peer.pin[:])
	l = dial(t, d)
	echoes(t, open(t, l), "and the next")
	require.EqualValues(t, 5, s.runs.Load())
}

// forget has the proxy know nobody.
func (s *leases) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.known)
}

// The port that a router shows may change at any time: the connection goes on.
func TestARouterMayChangeThePort(t *testing.T) {
	m := newMachine(t, Ports{})
	r := newRelay(t, portOf(m.proxy.socket))
	s := &ssh{to: m, port: r.port()}
	l := dial(t, newDialer(s))
	stream := open(t, l)
	echoes(t, stream, "before")
	for i := range 20 {
		before := m.addresses()
		r.rebind()
		start := time.Now()
		echoes(t, stream, fmt.Sprint("after ", i))
		require.Less(t, time.Since(start), attemptTimeout)
		require.Eventually(t, func() bool { return m.addresses()[0] != before[0] }, 5*time.Second, time.Millisecond)
	}
	require.NoError(t, l.Err())
	require.EqualValues(t, 1, s.runs.Load())
}

// Nothing gets through for a while; attempts beside the silent link find the way when there is one again, without ssh.
func TestAttemptsBesideASilentLink(t *testing.T) {
	m := newMachine(t, Ports{})
	r := newRelay(t, portOf(m.proxy.socket))
	s := &ssh{to: m, port: r.port()}
	d := newDialer(s)
	old := open(t, dial(t, d))
	echoes(t, old, "before")
	r.down.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := d.DialLink(ctx, "far", nil)
	require.Equal(t, fault.Timeout, fault.KindOf(err))
	r.down.Store(false)
	start := time.Now()
	echoes(t, open(t, dial(t, d)), "after")
	require.Less(t, time.Since(start), attemptTimeout)
	_, err = old.Read(make([]byte, 1))
	require.Error(t, err)
	require.EqualValues(t, 1, s.runs.Load())
}

// A proxy that is silent though its machine is there has ended without a word: ssh leads to another one. While the machine is
// not there ssh is not run, nor again and again where UDP does not get through.
func TestAProxyThatVanishes(t *testing.T) {
	m := newMachine(t, Ports{})
	r := newRelay(t, portOf(m.proxy.socket))
	sshd, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &ssh{to: m, port: r.port(), sshd: uint16(sshd.Addr().(*net.TCPAddr).Port)}
	d := newDialer(s)
	echoes(t, open(t, dial(t, d)), "first")
	r.down.Store(true)
	require.NoError(t, sshd.Close())
	_, err = d.DialLink(t.Context(), "far", nil)
	require.Error(t, err)
	require.EqualValues(t, 1, s.runs.Load(), "nothing says that the machine is there")
	require.True(t, d.Resumable("far"))

	sshd, err = net.Listen("tcp", sshd.Addr().String())
	require.NoError(t, err)
	defer sshd.Close()
	_, err = d.DialLink(t.Context(), "far", nil)
	require.Error(t, err)
	require.EqualValues(t, 2, s.runs.Load(), "UDP does not get through: ssh and a token have told")
	require.False(t, d.Resumable("far"))
	_, err = d.DialLink(t.Context(), "far", nil)
	require.Error(t, err)
	require.EqualValues(t, 2, s.runs.Load(), "not so soon again")

	s.port = 0
	l, err := d.DialLink(t.Context(), "far", func(context.Context, protocol.Prompt) ([]byte, error) { return nil, nil })
	require.NoError(t, err, "a person may want to know at once")
	require.NoError(t, l.Close())
	require.EqualValues(t, 3, s.runs.Load())
}

// A packet that is lost of one stream delays no echo on another. Where one stream carries both, as over ssh, it does.
func TestALostPacketDelaysItsStreamAlone(t *testing.T) {
	const delay = 40 * time.Millisecond
	m := newMachine(t, Ports{})
	var lose atomic.Bool
	r := newRelay(t, portOf(m.proxy.socket), func(r *relay) {
		r.delay = delay
		r.lose = func(n int) bool { return n > 1000 && lose.CompareAndSwap(true, false) }
	})
	l := dial(t, newDialer(&ssh{to: m, port: r.port()}))
	a, b := echoBeside(t, l, &lose)
	<-l.begun
	c, _ := echoBeside(t, l.control, &lose)
	// The machine may be busy, and some of what was lost was no more than a try of how large packets may be.
	apart, bulk, together := a[len(a)/4], b[3*len(b)/4], c[3*len(c)/4]
	t.Logf("echo beside a lost packet: %v, which itself came after %v; in one stream %v", apart, bulk, together)
	require.Less(t, apart, delay+delay/2)
	require.Greater(t, bulk, delay+delay/2)
	require.Greater(t, together, delay+delay/2)
}

// echoBeside is how long echoes take right after a packet of another stream was lost, and how long that stream waits, sorted.
func echoBeside(t *testing.T, l ports.Link, lose *atomic.Bool) (echo, whole []time.Duration) {
	t.Helper()
	bulk, keys := open(t, l), open(t, l)
	chunk := make([]byte, 2<<10)
	for range 15 {
		lose.Store(true)
		start := time.Now()
		_, err := bulk.Write(chunk)
		require.NoError(t, err)
		for lose.Load() {
			time.Sleep(time.Millisecond)
		}
		pressed := time.Now()
		echoes(t, keys, "k")
		echo = append(echo, time.Since(pressed))
		_, err = io.ReadFull(bulk, chunk)
		require.NoError(t, err)
		whole = append(whole, time.Since(start))
	}
	require.NoError(t, bulk.Close())
	require.NoError(t, keys.Close())
	slices.Sort(echo)
	slices.Sort(whole)
	return echo, whole
}

// Tries of how large packets may be come from the proxy alone.
func TestTheProxyAloneTriesLargePackets(t *testing.T) {
	m := newMachine(t, Ports{})
	var there, back atomic.Int64 // the largest
	r := newRelay(t, portOf(m.proxy.socket), func(r *relay) {
		r.delay = time.Millisecond
		r.goes = func(n int) { there.Store(max(there.Load(), int64(n))) }
		r.lose = func(n int) bool { back.Store(max(back.Load(), int64(n))); return false }
	})
	s := open(t, dial(t, newDialer(&ssh{to: m, port: r.port()})))
	require.Eventually(t, func() bool {
		echoes(t, s, "a key")
		return back.Load() > 1400
	}, 10*time.Second, 10*time.Millisecond)
	echoes(t, s, strings.Repeat("x", 10_000))
	require.EqualValues(t, 1200, there.Load())
}

// What a stream begins with is there before the stream is granted: it waits for no answer.
func TestAStreamBeginsBeforeItIsGranted(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	first := strings.Repeat("x", protocol.MaxFirstBytes)
	s, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, []byte(first))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	got := make([]byte, len(first))
	_, err = io.ReadFull(s, got)
	require.NoError(t, err)
	require.Equal(t, first, string(got))
	echoes(t, s, "and more")

	m.daemon.Store(false)
	_, err = l.OpenStream(t.Context(), protocol.LocalHost, protocol.ExistingOnly, []byte(first))
	require.Equal(t, fault.NotFound, fault.KindOf(err), "a refusal is one")
}
