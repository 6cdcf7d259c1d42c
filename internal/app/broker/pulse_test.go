package broker

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/pulse"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// viewer is a client with one stream to the far host, which is served.
type viewer struct {
	ask  *ask
	near *simnet.End // the client's end of its stream
	end  func()
	done chan struct{}
}

// attaches has a client open a stream, and returns once it is relayed.
func (b *Broker) attaches(t *testing.T, f *far) *viewer {
	t.Helper()
	return b.attachesOver(t, func() *farLink { return f.last() })
}

func (b *Broker) attachesOver(t *testing.T, over func() *farLink) *viewer {
	t.Helper()
	a, near := newAsk("far")
	v := &viewer{ask: a, near: near, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		b.answer(t.Context(), a)
	}()
	synctest.Wait()
	var l *farLink
	for l == nil {
		time.Sleep(time.Millisecond)
		if b.hosts.link("far").State == domain.LinkConnected {
			l = over()
		}
	}
	daemon := <-l.far
	v.end = func() {
		_, _ = near.Close(), daemon.Close()
		<-v.done
	}
	return v
}

func (v *viewer) types(text string) { _, _ = v.near.Write([]byte(text)) }

// told are the reports that came.
func (v *viewer) told() (reports []protocol.LinkReport) {
	synctest.Wait()
	for {
		select {
		case r := <-v.ask.reports:
			reports = append(reports, r)
		default:
			return reports
		}
	}
}

func (v *viewer) states() (states []domain.LinkState) {
	for _, r := range v.told() {
		states = append(states, r.State)
	}
	return states
}

func gaps(times []time.Time) (out []time.Duration) {
	for i := 1; i < len(times); i++ {
		out = append(out, times[i].Sub(times[i-1]))
	}
	return out
}

// A link is asked often while it is used, seldom while it is kept, and never when it is gone.
func TestHeartbeats(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		v := b.attaches(t, f)
		l := f.last()
		l.probed()
		time.Sleep(time.Minute)
		require.Len(t, l.probed(), 19)
		time.Sleep(20 * time.Second)
		for _, gap := range gaps(l.probed()) {
			require.Equal(t, pulse.BeatEvery+10*time.Millisecond, gap)
		}
		require.Empty(t, v.told(), "nothing is wrong")
		v.end()
		time.Sleep(2 * pulse.BeatEvery)
		l.probed()
		time.Sleep(linkIdle - 10*time.Second)
		require.Len(t, l.probed(), 9)
		time.Sleep(time.Minute)
		require.True(t, l.ended())
		l.probed()
		time.Sleep(time.Hour)
		require.Empty(t, l.probed())
		require.Equal(t, domain.LinkNone, b.HostLink("far").State)
		require.NotZero(t, b.HostLink("far").Heard)
	})
}

// What is silent is said, another link is made beside it, and who uses the silent one is told to move there.
func TestASilentLinkIsLeft(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		v := b.attaches(t, f)
		old := f.last()
		f.set(2500*time.Millisecond, nil)
		old.slow(time.Hour)
		time.Sleep(pulse.BeatEvery + pulse.SilentAfter)
		require.Equal(t, []domain.LinkState{domain.LinkSlow, domain.LinkSilent}, v.states())
		require.Equal(t, domain.LinkSilent, b.HostLink("far").State)
		time.Sleep(time.Second)
		reports := v.told()
		require.Len(t, reports, 1)
		require.True(t, reports[0].Move)
		require.Equal(t, domain.LinkConnected, reports[0].State)
		require.False(t, old.ended(), "it carries a stream")
		w := b.attaches(t, f)
		require.NotSame(t, old, f.last())
		require.Empty(t, w.told())
		v.end()
		synctest.Wait()
		require.True(t, old.ended())
		w.end()
	})
}

// A link that is heard again keeps its place, and nobody is told to move.
func TestALinkThatIsHeardAgain(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		v := b.attaches(t, f)
		l := f.last()
		time.Sleep(pulse.BeatEvery / 2)
		f.set(time.Hour, nil)
		l.slow(5 * time.Second)
		time.Sleep(pulse.BeatEvery)
		l.slow(10 * time.Millisecond)
		time.Sleep(time.Minute)
		require.Equal(t, []domain.LinkState{domain.LinkSlow, domain.LinkSilent, domain.LinkConnected}, v.states())
		_, active, made := f.counts()
		require.Equal(t, 1, made)
		require.Zero(t, active, "the search beside it was given up")
		v.end()
	})
}

// Who types into a link that is dead is told sooner.
func TestTypingIntoASilentLink(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		v := b.attaches(t, f)
		l := f.last()
		time.Sleep(pulse.BeatEvery + 1200*time.Millisecond)
		v.types("w")
		synctest.Wait()
		require.Len(t, l.probed(), 2)
		time.Sleep(pulse.UrgeEvery / 5)
		l.slow(time.Hour)
		typed := time.Now()
		v.types("x")
		time.Sleep(pulse.UrgeEvery)
		require.Equal(t, []time.Time{typed.Add(pulse.UrgeEvery*4/5 + 10*time.Millisecond)}, l.probed(), "so long after the last answer")
		time.Sleep(pulse.DoubtAfter + 100*time.Millisecond)
		reports := v.told()
		require.True(t, reports[len(reports)-1].Move)
		time.Sleep(pulse.UrgeEvery)
		v.types("y")
		synctest.Wait()
		require.Empty(t, l.probed(), "it is left already")
		v.end()
	})
}

func TestALinkThatNobodyUsesAndThatIsSilentEnds(t *testing.T) {
	reaching(t, func(t *testing.T, b *Broker, f *far) {
		b.toFar(t).Close()
		l := f.last()
		l.slow(time.Hour)
		time.Sleep(pulse.IdleEvery + pulse.SilentAfter + time.Second)
		require.True(t, l.ended())
		_, _, made := f.counts()
		require.Equal(t, 1, made)
		require.Equal(t, domain.LinkNone, b.HostLink("far").State)
	})
}

// sleeper is a machine that sleeps when a test says so.
type sleeper struct {
	slept atomic.Int64 // time.Duration
	woke  chan struct{}
}

func (s *sleeper) Slept() time.Duration  { return time.Duration(s.slept.Load()) }
func (s *sleeper) Woke() <-chan struct{} { return s.woke }

// After a sleep links are asked at once, and doubted sooner; whether or not the system tells.
func TestWakingUp(t *testing.T) {
	for _, tells := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) {
			f, s := &far{transport: domain.TransportSSH}, &sleeper{woke: make(chan struct{}, 1)}
			s.slept.Store(int64(time.Hour))
			b := New(Options{Remote: Remote{SSH: f, Sleep: s}, Idle: 24 * time.Hour})
			defer b.Close()
			ran := make(chan error)
			go func() { ran <- b.Run(t.Context()) }()
			v := b.attaches(t, f)
			old := f.last()
			time.Sleep(pulse.BeatEvery + 100*time.Millisecond)
			require.Len(t, old.probed(), 1)
			s.woke <- struct{}{} // the clock was set, no more
			time.Sleep(time.Second)
			require.Empty(t, old.probed())
			old.slow(time.Hour)
			s.slept.Add(int64(8 * time.Hour))
			woken := time.Now()
			if tells {
				s.woke <- struct{}{}
			}
			time.Sleep(pulse.BeatEvery)
			probes := old.probed()
			require.Len(t, probes, 1)
			if tells {
				require.Equal(t, woken, probes[0])
			}
			time.Sleep(pulse.WakeDoubtAfter)
			_, _, made := f.counts()
			require.Equal(t, 2, made)
			reports := v.told()
			require.True(t, reports[len(reports)-1].Move)
			v.end()
			require.NoError(t, <-ran)
		})
	}
}

// Who is told of changes is told of each.
func TestChangesOfALinkAreTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &far{transport: domain.TransportSSH, takes: time.Second}
		var told []string
		b := New(Options{Remote: Remote{SSH: f, Changed: func(host string) { told = append(told, host) }}})
		defer b.Close()
		reached := make(chan ports.Stream)
		go func() {
			s, err := b.hosts.open(t.Context(), wish{host: "far"})
			if err != nil {
				t.Error(err)
			}
			reached <- s
		}()
		time.Sleep(500 * time.Millisecond)
		require.Equal(t, domain.LinkConnecting, b.HostLink("far").State)
		s := <-reached
		require.Equal(t, domain.LinkConnected, b.HostLink("far").State)
		require.Equal(t, domain.TransportSSH, b.HostLink("far").Transport)
		f.set(time.Second, fault.New(fault.Denied, "not you"))
		f.last().Close()
		s.Close()
		require.Equal(t, domain.LinkNone, b.HostLink("far").State)
		_, err := b.hosts.open(t.Context(), wish{host: "far"})
		require.Error(t, err)
		require.Equal(t, domain.LinkGone, b.HostLink("far").State)
		require.Equal(t, "not you", b.HostLink("far").Failure.Msg)
		require.Len(t, told, 5, "connecting, connected, none, reconnecting, gone")
		require.Zero(t, b.HostLink("elsewhere"))
	})
}
