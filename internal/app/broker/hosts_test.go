package broker

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// farLink is a link whose far ends the test has.
type farLink struct {
	takes  time.Duration // an answer
	refuse error
	far    chan *simnet.End
	done   chan struct{}
	once   sync.Once

	transport domain.Transport

	mu     sync.Mutex
	probes []time.Time
	heard  time.Time
	rtt    time.Duration
	start  protocol.StartPolicy // as it was asked for last

	streams []*simnet.End
}

func newFarLink() *farLink {
	return &farLink{takes: 10 * time.Millisecond, heard: time.Now(), far: make(chan *simnet.End, 10), done: make(chan struct{})}
}

func (l *farLink) OpenStream(ctx context.Context, host string, start protocol.StartPolicy, first []byte) (ports.Stream, error) {
	l.mu.Lock()
	l.start = start
	l.mu.Unlock()
	if host != protocol.LocalHost {
		return nil, fault.New(fault.Internal, "a helper knows its own machine only")
	}
	if err := l.answer(ctx); err != nil {
		return nil, err
	}
	if l.refuse != nil {
		return nil, l.refuse
	}
	near, far := simnet.Pipe(1 << 10)
	_, _ = near.Write(first)
	l.far <- far
	l.mu.Lock()
	l.streams = append(l.streams, near)
	l.mu.Unlock()
	return stream{near}, nil
}

// answer waits for one.
func (l *farLink) answer(ctx context.Context) error {
	l.mu.Lock()
	takes := l.takes
	l.mu.Unlock()
	select {
	case <-time.After(takes):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heard, l.rtt = time.Now(), takes
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Canceled, ctx.Err(), "given up")
	case <-l.done:
		return fault.New(fault.Unavailable, "the connection ended")
	}
}

func (l *farLink) Probe(ctx context.Context) error {
	l.mu.Lock()
	l.probes = append(l.probes, time.Now())
	l.mu.Unlock()
	return l.answer(ctx)
}

// probed are the times of the probes since the last call.
func (l *farLink) probed() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.probes = nil }()
	return l.probes
}

func (l *farLink) Vitals() domain.Vitals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return domain.Vitals{Transport: l.transport, RTT: l.rtt, Heard: l.heard}
}

func (l *farLink) slow(takes time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takes = takes
}

func (l *farLink) Err() error {
	if l.ended() {
		return fault.New(fault.Unavailable, "the connection ended")
	}
	return nil
}

func (l *farLink) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, s := range l.streams {
			_ = s.Close()
		}
	})
	return nil
}

func (l *farLink) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// far is a network of one host, "far".
type far struct {
	transport domain.Transport
	every     time.Duration // between two attempts, on average; 0: 150 ms

	mu    sync.Mutex
	takes time.Duration // a dial

	question string // must be answered
	answers  []string

	fails  error
	made   []*farLink
	dials  int
	active int
	most   int
	beside []ports.Link // by which it was to be reached
}

func (f *far) DialBeside(ctx context.Context, host string, beside ports.Link) (ports.Link, error) {
	f.mu.Lock()
	f.beside = append(f.beside, beside.(*link).Link)
	f.mu.Unlock()
	return f.DialLink(ctx, host, nil)
}

func (f *far) Attempts() (time.Duration, int) {
	if f.every > 0 {
		return f.every, maxAttempts
	}
	return 150 * time.Millisecond, maxAttempts
}

const maxAttempts = 8

func (f *far) DialLink(ctx context.Context, host string, ask ports.Ask) (ports.Link, error) {
	f.mu.Lock()
	f.dials++
	f.active++
	f.most = max(f.most, f.active)
	takes := f.takes
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.active--; f.mu.Unlock() }()
	if host != "far" && !strings.HasPrefix(host, "many") {
		return nil, fault.New(fault.NotFound, "no host %q is known", host)
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Canceled, ctx.Err(), "given up")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails != nil {
		return nil, f.fails
	}
	l := newFarLink()
	l.transport = f.transport
	if f.question != "" {
		f.mu.Unlock()
		answer, err := []byte(nil), error(fault.New(fault.Denied, "nobody can be asked"))
		if ask != nil {
			answer, err = ask(ctx, protocol.Prompt{Host: host, Text: f.question})
		}
		f.mu.Lock()
		if err != nil {
			return nil, err
		}
		f.answers = append(f.answers, string(answer))
	}
	f.made = append(f.made, l)
	return l, nil
}

func (f *far) set(takes time.Duration, fails error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takes, f.fails = takes, fails
}

// counts are the dials, those that run, and the links that were made.
func (f *far) counts() (dials, active, made int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dials, f.active, len(f.made)
}

// links are those that were made.
func (f *far) links() []*farLink {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.made)
}

// dialled is how many dials there were.
func (f *far) dialled() int {
	dials, _, _ := f.counts()
	return dials
}

func (f *far) last() *farLink {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made[len(f.made)-1]
}

// reaching runs a broker with a far host in a bubble; a goroutine left behind fails it.
func reaching(t *testing.T, run func(t *testing.T, b *Broker, f *far)) {
	bubble.Test(t, func(t *testing.T) {
		f := &far{takes: 50 * time.Millisecond, transport: domain.TransportSSH}
		b := New(Options{Daemon: newDaemons(), Remote: Remote{SSH: f}})
		defer b.Close()
		run(t, b, f)
	})
}

// wants is a request for a host's daemon.
func wants(host string) ports.StreamRequest {
	a, _ := newAsk(host)
	a.start = protocol.StartIfNeeded
	return a
}

func (b *Broker) toFar(t *testing.T) io.ReadWriteCloser {
	t.Helper()
	s, err := b.reach(t.Context(), wants("far"))
	require.NoError(t, err)
	return s
}

func TestAHostIsReachedOverOneLink(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		served, c := make(chan error), newClient()
		go func() { served <- b.Serve(t.Context(), c) }()
		var ends []*simnet.End
		for range 5 { // at once: they share the attempt too
			a, cs := newAsk("far")
			c.asks <- a
			ends = append(ends, cs)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		require.Equal(t, 1, f.dials)
		daemon := <-f.last().far
		go daemon.Write([]byte("hello"))
		daemon.Close()
		close(c.gone)
		for _, e := range ends {
			_ = e.Close()
		}
		require.NoError(t, <-served)
		time.Sleep(linkIdle - time.Second)
		require.False(t, f.last().ended(), "the next stream needs no new link")
		b.toFar(t).Close()
		require.Equal(t, 1, f.dials)
		time.Sleep(linkIdle + time.Second)
		require.True(t, f.last().ended(), "a link that nobody needs ends")
		b.toFar(t).Close()
		require.Equal(t, 2, f.dials)
	})
}

func TestUnknownHostsAndRefusals(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		_, err := b.reach(t.Context(), wants("nowhere"))
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		f.set(0, fault.New(fault.Unavailable, "refused"))
		_, err = b.reach(t.Context(), wants("far"))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.Equal(t, 2, f.dials, "a host that was never reached is tried once: the attempt may ask the user")
		f.set(0, nil)
		b.toFar(t).Close()
		f.last().refuse = &fault.Error{Kind: fault.NotFound, Msg: "no daemon runs", Peer: true}
		_, err = b.reach(t.Context(), wants("far"))
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		require.Equal(t, 3, f.dials, "a refusal is an answer")
	})
}

// A link that does not answer is not waited for: another is made beside it, and takes its place.
func TestASilentLinkIsReplaced(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		kept := b.toFar(t)
		old := f.last()
		old.slow(time.Hour)
		start := time.Now()
		s := b.toFar(t)
		require.InDelta(t, leastPatience+60*time.Millisecond, time.Since(start), float64(10*time.Millisecond))
		require.NotSame(t, old, f.last())
		require.False(t, old.ended(), "what it carries may still arrive")
		kept.Close()
		synctest.Wait()
		require.True(t, old.ended(), "its last stream has ended")
		require.False(t, f.last().ended())
		s.Close()
	})
}

// A broker that ends closes also the links that others took the place of.
func TestReplacedLinksEndWithTheBroker(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		kept := b.toFar(t)
		old := f.last()
		old.slow(time.Hour)
		s := b.toFar(t)
		require.False(t, old.ended())
		b.Close()
		require.True(t, old.ended())
		require.True(t, f.last().ended())
		kept.Close()
		s.Close()
	})
}

func TestASlowLinkMayStillWin(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		old := f.last()
		old.slow(leastPatience + 100*time.Millisecond)
		f.set(time.Hour, nil)
		b.toFar(t).Close()
		require.Len(t, f.made, 1)
	})
}

// While a host that was reached before is out of reach, attempts begin one after another, so
// that one begins soon after it is back; a bounded number runs at once.
func TestAttemptsWhileAHostIsAway(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		f.last().Close()
		f.set(3*time.Second, fault.New(fault.Timeout, "no answer"))
		back := time.AfterFunc(10*time.Second, func() { f.set(50*time.Millisecond, nil) })
		defer back.Stop()
		start := time.Now()
		b.toFar(t).Close()
		require.Less(t, time.Since(start), 11*time.Second)
		require.Equal(t, maxAttempts, f.most)
		synctest.Wait()
		require.Zero(t, f.active, "the others are given up")
	})
}

// Two clients want to reach a host whose ssh asks: the one that came first is asked. When it declines, or cannot be asked,
// the other one is.
func TestWhoIsAsked(t *testing.T) {
	for _, first := range []ports.Ask{
		nil,
		func(context.Context, protocol.Prompt) ([]byte, error) {
			time.Sleep(20 * time.Second)
			return nil, fault.New(fault.Canceled, "declined")
		},
	} {
		reaching(t, func(t *testing.T, b *Broker, f *far) {
			f.question = "password?"
			asked := 0
			one, _ := newAsk("far")
			one.person = first
			two, _ := newAsk("far")
			two.person = func(_ context.Context, q protocol.Prompt) ([]byte, error) {
				asked++
				require.Equal(t, "password?", q.Text)
				time.Sleep(time.Minute)
				return []byte("sesame"), nil
			}
			failed := make(chan error)
			go func() {
				_, err := b.reach(t.Context(), one)
				failed <- err
			}()
			synctest.Wait()
			go func() { require.Error(t, <-failed) }()
			s, err := b.reach(t.Context(), two)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.Equal(t, 1, asked)
			require.Equal(t, []string{"sesame"}, f.answers)
		})
	}
}

// Who can be asked is told at once what is wrong, also with a host that was reached before.
func TestOneAttemptForWhoCanBeAsked(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		f.last().Close()
		f.set(time.Second, fault.New(fault.Unavailable, "refused"))
		a, _ := newAsk("far")
		a.person = func(context.Context, protocol.Prompt) ([]byte, error) { return nil, nil }
		start := time.Now()
		_, err := b.reach(t.Context(), a)
		require.ErrorContains(t, err, "refused")
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestLinksAreBounded(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		var open []io.Closer
		for i := range protocol.MaxHosts - 1 {
			s, err := b.reach(t.Context(), wants(fmt.Sprintf("many%d", i)))
			require.NoError(t, err)
			open = append(open, s)
		}
		f.set(time.Hour, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sought := make(chan error)
		go func() {
			_, err := b.reach(ctx, wants("far"))
			sought <- err
		}()
		synctest.Wait()
		_, err := b.reach(t.Context(), wants("many-more"))
		require.Equal(t, fault.Limit, fault.KindOf(err))
		s, err := b.reach(t.Context(), wants("many0"))
		require.NoError(t, err, "there is a link already")
		require.NoError(t, s.Close())
		cancel()
		require.Error(t, <-sought)
		synctest.Wait()
		f.set(0, nil)
		s, err = b.reach(t.Context(), wants("many-more"))
		require.NoError(t, err)
		for _, c := range append(open, s) {
			require.NoError(t, c.Close())
		}
	})
}

func TestNobodyWaitsNothingIsTried(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		f.last().Close()
		f.set(time.Hour, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.reach(ctx, wants("far"))
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		synctest.Wait()
		require.Zero(t, f.active)
	})
}

func TestALinkThatDiesWhileAskedIsReplaced(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		old := f.last()
		old.slow(time.Hour)
		time.AfterFunc(100*time.Millisecond, func() { old.Close() })
		b.toFar(t).Close()
		require.Equal(t, 2, f.dials)
	})
}

func TestABrokerThatEndsReachesNobody(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		f.last().Close()
		f.set(time.Hour, nil)
		time.AfterFunc(time.Second, b.Close)
		_, err := b.reach(t.Context(), wants("far"))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		_, err = b.reach(t.Context(), wants("far"))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
}
