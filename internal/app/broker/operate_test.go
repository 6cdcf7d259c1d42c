package broker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
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
)

// hostsKept is a ports.HostStore in memory.
type hostsKept struct {
	mu     sync.Mutex
	hosts  domain.Hosts
	notice *fault.Error
	fails  error
}

func (k *hostsKept) Load() (domain.Hosts, *fault.Error, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	notice := k.notice
	k.notice = nil
	return k.hosts, notice, k.fails
}

func (k *hostsKept) Change(_ context.Context, change func(domain.Hosts) (domain.Hosts, error)) (domain.Hosts, *fault.Error, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	notice := k.notice
	k.notice = nil
	if k.fails != nil {
		return k.hosts, notice, k.fails
	}
	hosts, err := change(k.hosts)
	if err == nil {
		k.hosts = hosts
	}
	return k.hosts, notice, err
}

// asked is a ports.OperationRequest.
type asked struct {
	m      protocol.Mutation
	person ports.Ask
	gone   chan struct{}
	mu     sync.Mutex
	told   []protocol.Progress
	ends   chan error
}

func (a *asked) Mutation() protocol.Mutation { return a.m }
func (a *asked) Ask() ports.Ask              { return a.person }
func (a *asked) Gone() <-chan struct{}       { return a.gone }
func (a *asked) Finish(err error)            { a.ends <- err }
func (a *asked) Progress(p protocol.Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.Took = 0
	a.told = append(a.told, p)
}

// steps are what was told, a word each.
func (a *asked) steps() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.told {
		text := p.Step + ": " + p.Text
		if p.Failure != nil {
			text = p.Step + " fails: " + p.Failure.Text
		}
		all = append(all, text)
	}
	return all
}

func operation(m protocol.Mutation) *asked {
	return &asked{m: m, gone: make(chan struct{}), ends: make(chan error, 1)}
}

// visitor is a machine that is there, or not.
type visitor struct {
	at      ports.Location
	survey  ports.Survey
	fails   map[string]error // by what is done
	hangs   bool             // Visit, until it is given up
	visited []domain.Host
	copied  []string
}

func (v *visitor) Locate(_ context.Context, h domain.Host) (ports.Location, error) {
	at := v.at
	if at.Name == "" {
		at.Name = h.Name
	}
	return at, v.fails["locate"]
}

func (v *visitor) Resolve(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}, v.fails["resolve"]
}

func (v *visitor) Knock(_ context.Context, at ports.Location) (netip.AddrPort, error) {
	return netip.AddrPortFrom(at.Addrs[0], at.Port), v.fails["knock"]
}

func (v *visitor) Visit(ctx context.Context, h domain.Host, _ ports.Ask, install *ports.Installation) (ports.Survey, *ports.RemoteVev, error) {
	v.visited = append(v.visited, h)
	if v.hangs {
		<-ctx.Done()
		return ports.Survey{}, nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "given up")
	}
	if err := v.fails["visit"]; err != nil || install == nil {
		return v.survey, nil, err
	}
	wanted, err := install.Wanted(v.survey)
	if err != nil || !wanted {
		return v.survey, nil, err
	}
	install.Copied(5, 10)
	if err := v.fails["install"]; err != nil {
		return v.survey, nil, err
	}
	v.copied = append(v.copied, install.Program)
	return v.survey, &ports.RemoteVev{Path: "/home/ann/.local/bin/vev", Version: "mine", MinVersion: protocol.MinVersion, MaxVersion: protocol.MaxVersion}, nil
}

// place is a broker with hosts, in a bubble.
type place struct {
	t       *testing.T
	b       *Broker
	kept    *hostsKept
	visitor *visitor
	far     *far
	warned  []error
}

func placed(t *testing.T, run func(p *place)) {
	bubble.Test(t, func(t *testing.T) {
		p := &place{t: t, kept: &hostsKept{}, far: &far{takes: 50 * time.Millisecond, transport: domain.TransportSSH}, visitor: &visitor{at: ports.Location{Port: 22}, survey: ports.Survey{System: "Linux", Machine: "x86_64"}, fails: map[string]error{}}}
		p.b = New(Options{
			Daemon: newDaemons(), Remote: Remote{SSH: p.far}, Hosts: p.kept, Visitor: p.visitor, Version: "mine",
			Warn: func(err error) { p.warned = append(p.warned, err) },
		})
		run(p)
		p.b.Close()
	})
}

// does carries out an operation and returns its outcome.
func (p *place) does(m protocol.Mutation) (*asked, error) {
	a := operation(m)
	p.b.Operate(a)
	return a, <-a.ends
}

func (p *place) ok(m protocol.Mutation) *asked {
	p.t.Helper()
	a, err := p.does(m)
	require.NoError(p.t, err)
	return a
}

func (p *place) fails(kind fault.Kind, m protocol.Mutation) *asked {
	p.t.Helper()
	a, err := p.does(m)
	require.Error(p.t, err)
	require.Equal(p.t, kind, fault.KindOf(err), err.Error())
	return a
}

func TestHostsAreKept(t *testing.T) {
	placed(t, func(p *place) {
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "ann@desk.example", Alias: "desk", Transport: 1})
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "box"})
		require.Equal(t, []string{"box", "desk"}, []string{p.kept.hosts.Known[0].Alias, p.kept.hosts.Known[1].Alias})
		require.Equal(t, domain.TransportSSH, p.kept.hosts.Known[1].Policy.Transport)
		p.fails(fault.Conflict, protocol.Mutation{Kind: protocol.AddHost, Host: "box"})
		p.fails(fault.Usage, protocol.Mutation{Kind: protocol.AddHost, Host: "a b"})
		p.fails(fault.Usage, protocol.Mutation{Kind: protocol.AddHost, Host: "[::1]"})
		p.fails(fault.Usage, protocol.Mutation{Kind: protocol.AddHost})
		for _, transport := range []domain.Transport{3, 256, 1 << 31} {
			p.fails(fault.Unsupported, protocol.Mutation{Kind: protocol.AddHost, Host: "new", Transport: transport})
		}
		p.ok(protocol.Mutation{Kind: protocol.UpdateHostPolicy, Host: "ann@desk.example", Transport: 2, Start: protocol.ExistingOnly})
		require.Equal(t, domain.HostPolicy{Transport: domain.TransportQUIC, Start: domain.ExistingOnly}, p.kept.hosts.Known[1].Policy)
		p.fails(fault.NotFound, protocol.Mutation{Kind: protocol.UpdateHostPolicy, Host: "none"})
		p.ok(protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"})
		p.fails(fault.NotFound, protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"})
		p.fails(fault.Unsupported, protocol.Mutation{Kind: 77, Host: "desk"})

		p.kept.fails = fault.New(fault.Unknown, "may be kept")
		p.fails(fault.Unknown, protocol.Mutation{Kind: protocol.RemoveHost, Host: "box"})
		require.Empty(t, p.visitor.visited, "nobody went there")
	})
	bubble.Test(t, func(t *testing.T) {
		b := New(Options{})
		p := &place{t: t, b: b}
		p.fails(fault.Unsupported, protocol.Mutation{Kind: protocol.AddHost, Host: "box"})
		p.fails(fault.NotFound, protocol.Mutation{Kind: protocol.AddHost, Host: "box", Install: true})
		p.fails(fault.NotFound, protocol.Mutation{Kind: protocol.Reconcile, Host: "box"})
		b.Close()
		p.fails(fault.Unavailable, protocol.Mutation{Kind: protocol.RemoveHost, Host: "box"})
	})
}

func TestADamagedListIsTold(t *testing.T) {
	placed(t, func(p *place) {
		p.kept.notice = fault.New(fault.Internal, "the list was damaged")
		a := p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "box"})
		require.Equal(t, []string{" fails: the list was damaged"}, a.steps())
		require.Len(t, p.warned, 1)
		require.Empty(t, p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "other"}).steps())
	})
}

// An alias leads where its address does, over one link, with its policy.
func TestAnAliasStandsForItsAddress(t *testing.T) {
	placed(t, func(p *place) {
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})
		for _, name := range []string{"desk", "far"} {
			s, err := p.b.reach(p.t.Context(), wants(name))
			require.NoError(t, err)
			require.NoError(t, s.Close())
		}
		require.Equal(t, 1, p.far.dials)

		p.ok(protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"})
		_, err := p.b.reach(p.t.Context(), wants("desk"))
		require.Equal(t, fault.Conflict, fault.KindOf(err), "it is not what ssh may know by that name")
		p.fails(fault.Conflict, protocol.Mutation{Kind: protocol.Reconcile, Host: "desk"})
		require.Equal(t, 1, p.far.dials)
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})

		p.kept.fails = fault.New(fault.Unavailable, "the disk is away")
		s, err := p.b.reach(p.t.Context(), wants("desk"))
		require.NoError(t, err, "what was known last does")
		require.NoError(t, s.Close())
		require.Len(t, p.warned, 1)
	})
}

func TestNoDaemonIsStartedWhereNoneMayBe(t *testing.T) {
	placed(t, func(p *place) {
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk", Start: protocol.ExistingOnly})
		a, _ := newAsk("desk")
		a.start = protocol.StartIfNeeded
		s, err := p.b.reach(p.t.Context(), a)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Equal(t, protocol.ExistingOnly, p.far.last().start)
		p.far.last().refuse = &fault.Error{Kind: fault.NotFound, Msg: "no daemon runs", Peer: true}
		_, err = p.b.reach(p.t.Context(), a)
		require.Equal(t, fault.Denied, fault.KindOf(err))
		require.Contains(t, err.(*fault.Error).Hint, "vev host set desk --start needed")
		a.start = protocol.ExistingOnly
		_, err = p.b.reach(p.t.Context(), a)
		require.Equal(t, fault.NotFound, fault.KindOf(err), "nobody wanted to start one")
	})
}

var thisVev = &ports.RemoteVev{Path: "/usr/bin/vev", Version: "1.0", MinVersion: protocol.MinVersion, MaxVersion: protocol.MaxVersion}

func TestACheckGoesStepByStep(t *testing.T) {
	name, tcp := "name: far is 192.0.2.7, 2001:db8::7", "tcp: 192.0.2.7:22 answers"
	ssh, version := "ssh: Linux on x86_64", fmt.Sprintf("version: vev 1.0, protocol %d, /usr/bin/vev", protocol.MaxVersion)
	for what, c := range map[string]struct {
		set   func(p *place)
		kind  fault.Kind // of the failure, or 0
		steps []string
	}{
		"all is well": {func(p *place) { p.visitor.survey.Program = thisVev }, 0, []string{name, tcp, ssh, version, "daemon: one runs, reached over ssh in 10ms"}},
		"no daemon": {func(p *place) {
			p.visitor.survey.Program = thisVev
			p.b.toFar(p.t).Close()
			p.far.last().refuse = &fault.Error{Kind: fault.NotFound, Msg: "no daemon runs", Peer: true}
		}, 0, []string{name, tcp, ssh, version, "daemon: none runs; the first session there starts it"}},
		"the link fails": {func(p *place) {
			p.visitor.survey.Program = thisVev
			p.far.set(0, fault.New(fault.Unavailable, "cut"))
		}, fault.Unavailable, []string{name, tcp, ssh, version, "daemon fails: cut"}},
		"no name": {
			func(p *place) { p.visitor.fails["resolve"] = fault.New(fault.Unavailable, "no such name") }, fault.Unavailable,
			[]string{"name fails: no such name"},
		},
		"bad configuration": {
			func(p *place) { p.visitor.fails["locate"] = fault.New(fault.Usage, "bad") }, fault.Usage, []string{"name fails: bad"},
		},
		"nobody listens": {
			func(p *place) { p.visitor.fails["knock"] = fault.New(fault.Timeout, "silent") }, fault.Timeout, []string{name, "tcp fails: silent"},
		},
		"through another": {func(p *place) {
			p.visitor.at.Through = "jump"
			p.visitor.fails["resolve"], p.visitor.fails["knock"] = errors.New("not here"), errors.New("not here")
			p.visitor.survey.Program = thisVev
		}, 0, []string{"name: far, through jump", ssh, version, "daemon: one runs, reached over ssh in 10ms"}},
		"no login": {
			func(p *place) { p.visitor.fails["visit"] = fault.New(fault.Denied, "no") }, fault.Denied, []string{name, tcp, "ssh fails: no"},
		},
		"no vev": {
			func(*place) {}, fault.Unsupported,
			[]string{name, tcp, ssh, "version fails: there is no vev there, neither as ~/.local/bin/vev nor in PATH"},
		},
		"one that does not run": {
			func(p *place) { p.visitor.survey.Program = &ports.RemoteVev{Path: "/vev"} }, fault.Unsupported,
			[]string{name, tcp, ssh, "version fails: /vev does not say which version it is: it may not run there"},
		},
		"a newer one": {
			func(p *place) {
				p.visitor.survey.Program = &ports.RemoteVev{Path: "/vev", Version: "9", MinVersion: 8, MaxVersion: 9}
			}, fault.Incompatible,
			[]string{name, tcp, ssh, fmt.Sprintf("version fails: vev 9 there speaks versions 8 to 9, this is vev mine with versions %s", versions(protocol.MinVersion, protocol.MaxVersion))},
		},
	} {
		t.Run(what, func(t *testing.T) {
			placed(t, func(p *place) {
				p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})
				c.set(p)
				a, err := p.does(protocol.Mutation{Kind: protocol.Reconcile, Host: "desk"})
				require.Equal(t, c.steps, a.steps())
				if c.kind == 0 {
					require.NoError(t, err)
					return
				}
				require.Equal(t, c.kind, fault.KindOf(err))
				require.Equal(t, a.told[len(a.told)-1].Failure, protocol.FailureOf(err), "the failure is that of the step")
				if c.kind == fault.Unsupported || c.kind == fault.Incompatible {
					require.Contains(t, err.(*fault.Error).Hint, "vev host install desk")
				}
			})
		})
	}
}

func TestInstalling(t *testing.T) {
	placed(t, func(p *place) {
		a := p.ok(protocol.Mutation{Kind: protocol.Reconcile, Host: "far", Install: true, Program: "/opt/vev"})
		require.Equal(t, []string{
			"name: far is 192.0.2.7, 2001:db8::7", "tcp: 192.0.2.7:22 answers", "ssh: Linux on x86_64", ": copied 50 % of 0.0 MB",
			"install: /home/ann/.local/bin/vev is this vev now",
			fmt.Sprintf("version: vev mine, protocol %d, /home/ann/.local/bin/vev", protocol.MaxVersion), "daemon: one runs, reached over ssh in 10ms",
		}, a.steps())
		require.Equal(t, []string{"/opt/vev"}, p.visitor.copied)
		p.visitor.fails["install"] = fault.New(fault.Unsupported, "another kind")
		a = p.fails(fault.Unsupported, protocol.Mutation{Kind: protocol.Reconcile, Host: "far", Install: true})
		require.Equal(t, "install fails: another kind", a.steps()[4])

		// A host is added once vev is there, and not if it cannot be brought there.
		p.fails(fault.Unsupported, protocol.Mutation{Kind: protocol.AddHost, Host: "far", Install: true})
		require.Empty(t, p.kept.hosts.Known)
		delete(p.visitor.fails, "install")
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Install: true, Program: "/mine"})
		require.Len(t, p.kept.hosts.Known, 1)
		require.Equal(t, []string{"/opt/vev", "/mine"}, p.visitor.copied)
		went := len(p.visitor.visited)
		p.fails(fault.Conflict, protocol.Mutation{Kind: protocol.AddHost, Host: "far", Install: true})
		require.Len(t, p.visitor.visited, went, "nobody goes there for nothing")

		// One that is there and will do stays.
		p.visitor.survey.Program = thisVev
		a = p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "ann@far", Alias: "other", Install: true})
		require.Contains(t, a.steps(), "install: not needed")
		require.Len(t, p.visitor.copied, 2)
	})
}

// Whether QUIC gets through is told where it may be used; where ssh may be too, that it does not is no failure.
func TestACheckOfUDP(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		kept, quic := &hostsKept{}, &far{takes: 20 * time.Millisecond, transport: domain.TransportQUIC}
		v := &visitor{at: ports.Location{Port: 22, Through: "jump"}, survey: ports.Survey{System: "Linux", Machine: "x86_64", Program: thisVev}}
		b := New(Options{
			Remote: Remote{SSH: &far{takes: 50 * time.Millisecond, transport: domain.TransportSSH}, QUIC: quic, Resumable: func(string) bool { return false }},
			Hosts:  kept, Visitor: v,
		})
		defer b.Close()
		p := &place{t: t, b: b}
		last := func() string {
			t.Helper()
			all := p.ok(protocol.Mutation{Kind: protocol.Reconcile, Host: "far"}).steps()
			return all[len(all)-1]
		}
		quic.set(0, fault.New(fault.Timeout, "nothing comes back"))
		require.Equal(t, "udp fails: nothing comes back", last())
		quic.set(0, nil)
		require.Equal(t, "udp: QUIC gets through", last())
		require.True(t, quic.last().ended(), "it was a try")
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Transport: domain.TransportSSH})
		require.Equal(t, "daemon: one runs, reached over ssh in 10ms", last(), "it is not to be used")
		p.ok(protocol.Mutation{Kind: protocol.UpdateHostPolicy, Host: "far", Transport: domain.TransportQUIC})
		require.Equal(t, "udp: in use", last())
	})
}

// A client that goes gives up what reaches out for it; so does a broker that ends, and so does the time.
func TestACheckIsGivenUp(t *testing.T) {
	for what, giveUp := range map[string]func(p *place, a *asked){
		"the client goes": func(_ *place, a *asked) { close(a.gone) },
		"the broker ends": func(p *place, _ *asked) { go p.b.Close() },
		"time":            func(*place, *asked) { time.Sleep(sshTimeout) },
		"a person's time": func(_ *place, a *asked) { time.Sleep(protocol.PromptTimeout + sshTimeout) },
	} {
		t.Run(what, func(t *testing.T) {
			placed(t, func(p *place) {
				p.visitor.hangs = true
				a := operation(protocol.Mutation{Kind: protocol.Reconcile, Host: "far"})
				if what == "a person's time" {
					a.person = func(context.Context, protocol.Prompt) ([]byte, error) { return nil, nil }
				}
				p.b.Operate(a)
				time.Sleep(time.Second)
				synctest.Wait()
				require.Empty(t, a.ends)
				giveUp(p, a)
				require.Equal(t, fault.Canceled, fault.KindOf(<-a.ends))
			})
		})
	}
}
