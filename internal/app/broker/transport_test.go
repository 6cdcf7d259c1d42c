package broker

import (
	"context"
	"net/netip"
	"sync"
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
)

// net is a network with both transports.
type net struct {
	ssh, quic *far

	mu        sync.Mutex
	policy    domain.Transport
	resumable bool
	reach     error
	reached   int
}

func networked(t *testing.T, run func(t *testing.T, b *Broker, n *net)) {
	bubble.Test(t, func(t *testing.T) {
		n := &net{
			ssh:  &far{takes: 400 * time.Millisecond, transport: domain.TransportSSH, every: time.Second},
			quic: &far{takes: 600 * time.Millisecond, transport: domain.TransportQUIC, every: 2 * time.Second},
		}
		b := New(Options{Remote: Remote{
			SSH: n.ssh, QUIC: n.quic,
			Policy: func(string) (p domain.Transport) {
				n.set(func() { p = n.policy })
				return p
			},
			Resumable: func(string) (is bool) {
				n.set(func() { is = n.resumable })
				return is
			},
			Reach: func(context.Context, string) (err error) {
				n.set(func() { n.reached, err = n.reached+1, n.reach })
				return err
			},
		}})
		defer b.Close()
		run(t, b, n)
	})
}

func (n *net) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// udpBlocked lets no packet of QUIC through.
func (n *net) udpBlocked() {
	n.quic.set(3*time.Second, fault.New(fault.Timeout, "no answer"))
	for _, l := range n.quic.made {
		l.slow(24 * time.Hour)
	}
}

// onQUIC is an attachment over QUIC, which took the place of ssh. The caller ends it.
func onQUIC(t *testing.T, b *Broker, n *net) *viewer {
	t.Helper()
	v := b.attaches(t, n.ssh)
	time.Sleep(5 * time.Second)
	n.set(func() { n.resumable = true })
	w := b.attaches(t, n.quic)
	v.end()
	return w
}

// An attachment begins over ssh; QUIC is made beside it, and it moves.
func TestQUICTakesOver(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		v := b.attaches(t, n.ssh)
		ssh := n.ssh.last()
		time.Sleep(betterAfter / 2)
		require.Zero(t, n.quic.dialled(), "what asks one thing need not wait for two")
		time.Sleep(betterAfter + time.Second)
		require.Equal(t, 1, n.quic.dialled())
		require.Equal(t, []ports.Link{ssh}, n.quic.beside, "the link that there is leads there")
		reports := v.told()
		require.Len(t, reports, 1)
		require.Equal(t, protocol.LinkReport{
			State: domain.LinkConnected, Transport: domain.TransportQUIC, RTT: 10 * time.Millisecond,
			Silent: reports[0].Silent, Move: true,
		}, reports[0])
		n.set(func() { n.resumable = true })
		w := b.attaches(t, n.quic)
		v.end()
		synctest.Wait()
		require.True(t, ssh.ended())
		require.Equal(t, 1, n.ssh.dialled())
		facts := b.HostLink("far")
		require.Equal(t, domain.TransportQUIC, facts.Transport)
		require.Empty(t, facts.Why)
		w.end()

		// The way is known now: it is taken at once.
		time.Sleep(linkIdle + time.Second)
		n.quic.set(100*time.Millisecond, nil)
		b.attaches(t, n.quic).end()
		require.Equal(t, 1, n.ssh.dialled())
	})
}

func TestWhatAsksOneThingMakesOneLink(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		b.attaches(t, n.ssh).end()
		time.Sleep(time.Minute)
		require.Zero(t, n.quic.dialled())
	})
}

// Where UDP is blocked from the start nothing happens to who is attached; QUIC is tried again, more and more seldom.
func TestUDPBlockedFromTheStart(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		n.udpBlocked()
		v := b.attaches(t, n.ssh)
		time.Sleep(30 * time.Second)
		require.Equal(t, 1, n.quic.dialled())
		require.Equal(t, domain.TransportSSH, b.HostLink("far").Transport)
		require.Equal(t, "QUIC: no answer", b.HostLink("far").Why)
		n.set(func() { n.policy = domain.TransportSSH })
		require.Empty(t, b.HostLink("far").Why, "it is what was chosen")
		n.set(func() { n.policy = domain.TransportAuto })
		time.Sleep(firstBlocked)
		require.Equal(t, 2, n.quic.dialled())
		time.Sleep(24 * time.Hour)
		require.InDelta(t, 24*time.Hour/lastBlocked, n.quic.dialled(), 6)
		require.Empty(t, v.told())
		require.Equal(t, 1, n.ssh.dialled())
		n.quic.set(100*time.Millisecond, nil)
		time.Sleep(lastBlocked + time.Minute)
		require.True(t, v.told()[0].Move, "it is not blocked any more")
		v.end()
	})
}

// Where ssh would have to ask for a link over QUIC it is tried once.
func TestQUICThatNeedsAnAnswer(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		n.quic.set(time.Second, fault.New(fault.Denied, "a password is wanted"))
		v := b.attaches(t, n.ssh)
		time.Sleep(24 * time.Hour)
		require.Equal(t, 1, n.quic.dialled())
		require.Equal(t, "QUIC: a password is wanted", b.HostLink("far").Why)
		v.end()
	})
}

// UDP is cut in mid-session: ssh takes over, once its server lets a connection through.
func TestUDPCutInMidSession(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		w := onQUIC(t, b, n)
		time.Sleep(time.Minute)
		require.Empty(t, w.told())

		n.udpBlocked()
		cut := time.Now()
		var states []domain.LinkState
		for moved := false; !moved; {
			r := <-w.ask.reports
			states, moved = append(states, r.State), r.Move
		}
		require.Equal(t, []domain.LinkState{domain.LinkSlow, domain.LinkConnected}, states)
		require.Less(t, time.Since(cut), pulse.BeatEvery+pulse.DoubtAfter+reachedAfter+time.Second)
		require.Equal(t, domain.TransportSSH, b.HostLink("far").Transport)
		require.Equal(t, "QUIC does not get through any more", b.HostLink("far").Why)
		require.Equal(t, 2, n.ssh.dialled())
		x := b.attaches(t, n.ssh)
		w.end()

		n.quic.set(100*time.Millisecond, nil)
		time.Sleep(firstBlocked + 5*time.Second)
		require.True(t, x.told()[0].Move)
		x.end()
	})
}

// When nothing gets through, no ssh is started: QUIC is back the sooner.
func TestNothingGetsThrough(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		w := onQUIC(t, b, n)
		n.udpBlocked()
		n.set(func() { n.reach = fault.New(fault.Timeout, "no answer") })
		time.Sleep(5 * time.Minute)
		require.Equal(t, domain.LinkSilent, b.HostLink("far").State)
		require.Equal(t, 1, n.ssh.dialled())
		var reached int
		n.set(func() { reached = n.reached })
		require.InDelta(t, 5*time.Minute/reachEvery, reached, 5)
		_, active, _ := n.quic.counts()
		require.NotZero(t, active)
		n.quic.set(100*time.Millisecond, nil)
		time.Sleep(5 * time.Second)
		reports := w.told()
		require.True(t, reports[len(reports)-1].Move)
		require.Equal(t, domain.TransportQUIC, b.HostLink("far").Transport)
		require.Equal(t, 1, n.ssh.dialled())
		w.end()
	})
}

// What cannot be known about the way of ssh is found out by trying, later.
func TestWhereItCannotBeKnownWhatGetsThrough(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		w := onQUIC(t, b, n)
		n.udpBlocked()
		n.set(func() { n.reach = fault.New(fault.Unsupported, "a jump host") })
		time.Sleep(pulse.BeatEvery + pulse.DoubtAfter + unknownAfter - time.Second)
		require.Equal(t, 1, n.ssh.dialled())
		time.Sleep(3 * time.Second)
		require.Equal(t, 2, n.ssh.dialled())
		require.Equal(t, domain.TransportSSH, b.HostLink("far").Transport)
		w.end()
	})
}

// A proxy that is gone is not waited for.
func TestAProxyThatIsGone(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		w := onQUIC(t, b, n)
		n.set(func() { n.reach = fault.New(fault.Timeout, "never") })
		n.set(func() { n.resumable = false })
		n.quic.last().slow(time.Hour)
		start := time.Now()
		time.Sleep(pulse.BeatEvery + pulse.DoubtAfter + time.Second)
		require.Equal(t, 2, n.ssh.dialled(), "%s", time.Since(start))
		require.Equal(t, 1, n.quic.dialled())
		w.end()
	})
}

// The first stream after a while, where UDP is blocked by now: ssh is begun a second later.
func TestUDPBlockedMeanwhile(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		v := b.attaches(t, n.ssh)
		time.Sleep(5 * time.Second)
		n.set(func() { n.resumable = true })
		b.attaches(t, n.quic).end()
		v.end()
		time.Sleep(linkIdle + time.Second)
		n.udpBlocked()
		a, _ := newAsk("far")
		a.person = func(context.Context, protocol.Prompt) ([]byte, error) { return nil, nil }
		start := time.Now()
		s, err := b.reach(t.Context(), a)
		require.NoError(t, err)
		require.InDelta(t, sshAfter+400*time.Millisecond, time.Since(start), float64(20*time.Millisecond))
		require.NoError(t, s.Close())
	})
}

func TestPolicies(t *testing.T) {
	networked(t, func(t *testing.T, b *Broker, n *net) {
		n.set(func() { n.policy = domain.TransportSSH })
		v := b.attaches(t, n.ssh)
		time.Sleep(time.Hour)
		require.Zero(t, n.quic.dialled())

		n.set(func() { n.policy = domain.TransportQUIC })
		time.Sleep(pulse.BeatEvery + time.Second)
		reports := v.told()
		require.True(t, reports[len(reports)-1].Move, "what the policy does not allow is left")
		w := b.attaches(t, n.quic)
		require.Equal(t, 1, n.quic.dialled())
		v.end()
		synctest.Wait()
		require.True(t, n.ssh.last().ended())
		w.end()
		n.udpBlocked()
		time.Sleep(linkIdle + time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), protocol.HandshakeTimeout)
		defer cancel()
		_, err := b.reach(ctx, wants("far"))
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, 1, n.ssh.dialled())
	})
	bubble.Test(t, func(t *testing.T) {
		b := New(Options{Remote: Remote{SSH: &far{}, Policy: func(string) domain.Transport { return domain.TransportQUIC }}})
		defer b.Close()
		_, err := b.reach(t.Context(), wants("far"))
		require.Equal(t, fault.Unsupported, fault.KindOf(err), "this program has no QUIC")
	})
}

// walker goes as far as its errors let it.
type walker struct {
	ports.HostVisitor // nothing else of it is used
	through           string
	errs              [3]error // of Locate, Resolve, Knock
}

func (v walker) Locate(_ context.Context, host domain.Host) (ports.Location, error) {
	return ports.Location{Name: host.Name + ".example.org", Port: 2222, Through: v.through}, v.errs[0]
}

func (v walker) Resolve(_ context.Context, name string) ([]netip.Addr, error) {
	if name != "far.example.org" {
		return nil, fault.New(fault.Internal, "%s", name)
	}
	return []netip.Addr{netip.IPv4Unspecified()}, v.errs[1]
}

func (v walker) Knock(_ context.Context, at ports.Location) (netip.AddrPort, error) {
	if at.Port != 2222 || len(at.Addrs) != 1 {
		return netip.AddrPort{}, fault.New(fault.Internal, "%v", at)
	}
	return netip.AddrPort{}, v.errs[2]
}

func TestKnocking(t *testing.T) {
	knock := func(v walker, host string) error { return knocking(v)(t.Context(), host) }
	require.NoError(t, knock(walker{}, "far"))
	require.Equal(t, fault.Unsupported, fault.KindOf(knock(walker{through: "gate"}, "far")))
	require.Equal(t, fault.Usage, fault.KindOf(knock(walker{}, "-far")))
	for i := range 3 {
		v := walker{}
		v.errs[i] = fault.New(fault.Timeout, "no answer")
		require.Equal(t, v.errs[i], knock(v, "far"))
	}
}
