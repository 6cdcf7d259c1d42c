package netsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

const fleetRTT = 80 * time.Millisecond

// fleet is a user's broker, this machine's daemon, and other machines behind a link each.
type fleet struct {
	near *broker.Broker
	all  sync.WaitGroup
	end  context.Context
	stop context.CancelFunc

	here  *machine
	hosts map[string]*machine
	store memoryStore

	mu    sync.Mutex
	dials map[string]int
}

// machine is one with a daemon, and the mux helper of each link.
type machine struct {
	f      *fleet
	daemon *daemon.Daemon // nil: none runs
	link   *simnet.Link
	far    *broker.Broker
	old    bool // its daemon knows no Watch

	mu    sync.Mutex
	conns []io.Closer // to the daemon
	ends  []*simnet.End
}

// inFleet runs a test with n other machines, h0 and so on, in a bubble.
func inFleet(t *testing.T, n int, run func(t *testing.T, f *fleet)) {
	t.Helper()
	inFleetWith(t, n, false, run)
}

// inFleetWith is inFleet, with QUIC if it is to be.
func inFleetWith(t *testing.T, n int, quic bool, run func(t *testing.T, f *fleet)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		f := &fleet{hosts: map[string]*machine{}, dials: map[string]int{}}
		f.end, f.stop = context.WithCancel(context.Background())
		f.here = f.machine()
		remote := broker.Remote{SSH: fleetLinks{f, domain.TransportSSH}}
		if quic {
			remote.QUIC, remote.Resumable = fleetLinks{f, domain.TransportQUIC}, func(string) bool { return true }
		}
		f.near = broker.New(broker.Options{
			Daemon: f.here, Remote: remote, Hosts: &f.store, Warn: func(err error) { panic(err) },
			Converse: func(ctx context.Context, carriage io.ReadWriteCloser) (ports.SessionClientConn, error) {
				conn, err := sessionwire.Client(ctx, carriage, "test", protocol.FeatureNone)
				if err != nil {
					return nil, err
				}
				return conn, nil
			},
		})
		for i := range n {
			f.hosts[fmt.Sprint("h", i)] = f.machine()
		}
		run(t, f)
		f.near.Close()
		f.stop()
		for _, m := range append(f.machines(), f.here) {
			m.far.Close()
			m.mu.Lock()
			for _, c := range m.conns {
				_ = c.Close()
			}
			for _, e := range m.ends {
				_ = e.Close()
			}
			m.mu.Unlock()
			if m.daemon != nil {
				m.daemon.Close(context.Background())
			}
		}
		f.all.Wait()
	})
}

func (f *fleet) machines() (all []*machine) {
	for _, name := range f.names() {
		all = append(all, f.hosts[name])
	}
	return all
}

func (f *fleet) names() (all []string) {
	for name := range f.hosts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (f *fleet) machine() *machine {
	c := simnet.Conditions{Delay: fleetRTT / 2}
	m := &machine{f: f, daemon: daemon.New(daemon.Options{Programs: sleepers{}, Version: "test"}), link: simnet.NewLink(1, c, c)}
	m.far = broker.New(broker.Options{Daemon: m})
	return m
}

// down cuts a machine off, or lets it come back.
func (m *machine) down(down bool) {
	c := simnet.Conditions{Delay: fleetRTT / 2, Down: down}
	m.link.Set(c, c)
}

// DialDaemon implements ports.DaemonDialer.
func (m *machine) DialDaemon(context.Context, protocol.StartPolicy) (io.ReadWriteCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.daemon == nil {
		return nil, fault.New(fault.NotFound, "no session daemon is running")
	}
	ours, theirs := simnet.Pipe(64 << 10)
	m.conns = append(m.conns, ours)
	d, old := m.daemon, m.old
	m.f.all.Go(func() {
		conn, err := sessionwire.Server(theirs, "test")
		if err != nil {
			return
		}
		if old {
			_ = d.Serve(m.f.end, ancient{conn})
		} else {
			_ = d.Serve(m.f.end, conn)
		}
	})
	return ours, nil
}

// ancient is the conversation of a daemon that answers Watch as version 1 first did.
type ancient struct{ ports.SessionServerConn }

func (a ancient) Receive() (protocol.SessionClientMessage, error) {
	m, err := a.SessionServerConn.Receive()
	if _, ok := m.(*protocol.Watch); ok {
		return &protocol.Watch{}, nil
	}
	return m, err
}

// serve is a broker's end of a carriage.
func (f *fleet) serve(rw io.ReadWriteCloser, b *broker.Broker) {
	f.all.Go(func() {
		conn, err := brokeripc.Accept(f.end, rw, brokeripc.Broker{
			Software: "test", Epoch: 1, Numbers: b.Numbers, Subscribed: b.Subscribed, Operate: b.Operate,
		})
		if err == nil {
			_ = b.Serve(f.end, conn)
		}
	})
}

// memoryStore is a ports.HostStore.
type memoryStore struct {
	mu    sync.Mutex
	hosts domain.Hosts
}

func (s *memoryStore) Load() (domain.Hosts, *fault.Error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts, nil, nil
}

func (s *memoryStore) Change(_ context.Context, change func(domain.Hosts) (domain.Hosts, error)) (domain.Hosts, *fault.Error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hosts, err := change(s.hosts)
	if err == nil {
		s.hosts = hosts
	}
	return hosts, nil, err
}

// fleetLinks dials the machines.
type fleetLinks struct {
	f  *fleet
	by domain.Transport
}

// carried is a link that says what carries it.
type carried struct {
	*brokeripc.Client
	by domain.Transport
}

func (c carried) Vitals() domain.Vitals {
	v := c.Client.Vitals()
	v.Transport = c.by
	return v
}

func (l fleetLinks) Attempts() (time.Duration, int) { return time.Second, 4 }

func (l fleetLinks) DialBeside(ctx context.Context, host string, _ ports.Link) (ports.Link, error) {
	return l.DialLink(ctx, host, nil)
}

func (l fleetLinks) DialLink(ctx context.Context, host string, _ ports.Ask) (ports.Link, error) {
	m := l.f.hosts[host]
	if m == nil {
		return nil, fault.New(fault.NotFound, "no host %q is known", host)
	}
	l.f.mu.Lock()
	l.f.dials[host]++
	l.f.mu.Unlock()
	near, far := m.link.Connect()
	m.mu.Lock()
	m.ends = append(m.ends, near, far)
	m.mu.Unlock()
	l.f.serve(far, m.far)
	link, err := brokeripc.Dial(ctx, near, "test")
	if err != nil {
		return nil, err
	}
	return carried{link, l.by}, nil
}

// subscriber is a client of the near broker.
type subscriber struct{ *brokeripc.Client }

func (f *fleet) subscribe(t *testing.T, reach protocol.Reach, hosts ...string) *subscriber {
	ours, theirs := simnet.Pipe(64 << 10)
	f.serve(theirs, f.near)
	c, err := brokeripc.Dial(t.Context(), ours, "test")
	require.NoError(t, err)
	c.Subscribe(hosts, reach)
	return &subscriber{c}
}

// until waits until what is listed satisfies ok, and returns how long that took.
func (s *subscriber) until(t *testing.T, limit time.Duration, ok func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool) time.Duration {
	t.Helper()
	began, timer := time.Now(), time.NewTimer(limit)
	defer timer.Stop()
	for {
		list, sessions, ready, err := s.Listed()
		require.NoError(t, err)
		hosts := map[string]catalogue.Host{}
		for _, h := range list {
			hosts[h.Name] = h
		}
		if ready && ok(hosts, sessions) {
			return time.Since(began)
		}
		select {
		case <-s.Changes():
		case <-timer.C:
			require.Failf(t, "not in time", "after %v: %+v", limit, hosts)
		}
	}
}

// settled: every one of n hosts is in that state.
func all(state catalogue.State, names ...string) func(map[string]catalogue.Host, []catalogue.Session) bool {
	return func(hosts map[string]catalogue.Host, _ []catalogue.Session) bool {
		for _, name := range names {
			if h, known := hosts[name]; !known || h.State != state {
				return false
			}
		}
		return true
	}
}

// request has a machine's daemon do something.
func (m *machine) request(t *testing.T, body protocol.RequestBody) {
	t.Helper()
	carriage, err := m.DialDaemon(t.Context(), protocol.ExistingOnly)
	require.NoError(t, err)
	conn, err := sessionwire.Client(t.Context(), carriage, "test", protocol.FeatureNone)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.Send(&protocol.Request{ID: 1, Body: body}))
	r, err := conn.Receive()
	require.NoError(t, err)
	require.Nil(t, r.(*protocol.Result).Failure)
}

// names are the machine's sessions, the oldest first.
func (m *machine) names() (names []string) {
	carriage, _ := m.DialDaemon(context.Background(), protocol.ExistingOnly)
	conn, err := sessionwire.Client(context.Background(), carriage, "test", protocol.FeatureNone)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if conn.Send(&protocol.Request{ID: 1, Body: &protocol.List{}}) != nil {
		return nil
	}
	r, err := conn.Receive()
	if err != nil {
		return nil
	}
	for _, s := range r.(*protocol.Result).Body.(*protocol.Sessions).List {
		names = append(names, s.Name)
	}
	return names
}

// cut cuts every connection of the machine: those of its link, and those to its daemon.
func (m *machine) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		_ = c.Close()
	}
	for _, e := range m.ends {
		_ = e.Close()
	}
	m.conns, m.ends = nil, nil
}

func (m *machine) create(t *testing.T, name string) {
	t.Helper()
	m.request(t, &protocol.New{Create: protocol.Create{Name: name, Command: domain.Command{Argv: []string{"prog", name}}}})
}

// 20 hosts, 3 of them dead: those that live are listed within a few round trips the first time and within one from then
// on, the dead ones are marked at the deadline, and nothing takes longer.
func TestListsOfAllHosts(t *testing.T) {
	inFleet(t, 20, func(t *testing.T, f *fleet) {
		names := f.names()
		dead, living := names[:3], names[3:]
		for _, name := range dead {
			f.hosts[name].down(true)
		}
		f.here.create(t, "mine")
		for _, name := range living {
			f.hosts[name].create(t, "work")
		}

		s := f.subscribe(t, protocol.ReachAll, append(names, protocol.LocalHost)...)
		took := s.until(t, 10*fleetRTT, all(catalogue.Current, append(living, protocol.LocalHost)...))
		require.Less(t, took, 6*fleetRTT, "link, stream, preamble, watch")
		took += s.until(t, protocol.ProbeTimeout, all(catalogue.Stale, dead...))
		require.LessOrEqual(t, took, protocol.ProbeTimeout+100*time.Millisecond)
		_, sessions, _, _ := s.Listed()
		require.Len(t, sessions, len(living)+1)
		s.Close()

		// Warm, after a quiet while: each host is asked whether it is still there.
		time.Sleep(time.Minute)
		warm := f.subscribe(t, protocol.ReachAll, append(names, protocol.LocalHost)...)
		took = warm.until(t, time.Minute, func(hosts map[string]catalogue.Host, _ []catalogue.Session) bool {
			return all(catalogue.Current, append(living, protocol.LocalHost)...)(hosts, nil) && hosts[dead[0]].State != catalogue.Unasked
		})
		require.LessOrEqual(t, took, fleetRTT+20*time.Millisecond, "one round trip")
		warm.Close()

		// Right after a failure the dead are told at once.
		again := f.subscribe(t, protocol.ReachAll, append(names, protocol.LocalHost)...)
		again.until(t, 2*protocol.ProbeTimeout, all(catalogue.Stale, dead...))
		again.Close()
		again = f.subscribe(t, protocol.ReachAll, append(names, protocol.LocalHost)...)
		took = again.until(t, time.Second, func(hosts map[string]catalogue.Host, _ []catalogue.Session) bool {
			return all(catalogue.Stale, dead...)(hosts, nil) && all(catalogue.Current, living...)(hosts, nil)
		})
		require.LessOrEqual(t, took, fleetRTT+20*time.Millisecond)
		again.Close()
	})
}

// A warm host that goes away is not shown as if it were there: it is stale at the deadline, with its sessions and its last
// contact, and current again when it is back.
func TestAWarmHostThatGoesAwayIsStale(t *testing.T) {
	inFleet(t, 3, func(t *testing.T, f *fleet) {
		for _, m := range f.machines() {
			m.create(t, "work")
		}
		s := f.subscribe(t, protocol.ReachAll, f.names()...)
		s.until(t, time.Second, all(catalogue.Current, f.names()...))
		gone := time.Now()
		f.hosts["h1"].down(true)
		time.Sleep(time.Minute)
		late := f.subscribe(t, protocol.ReachAll, f.names()...)
		took := late.until(t, time.Minute, all(catalogue.Current, "h0", "h2"))
		require.LessOrEqual(t, took, fleetRTT+20*time.Millisecond)
		took += late.until(t, time.Minute, all(catalogue.Stale, "h1"))
		require.LessOrEqual(t, took, protocol.ProbeTimeout+20*time.Millisecond)
		hosts, sessions, _, _ := late.Listed()
		require.Len(t, sessions, 3, "what was known stays listed")
		i := slices.IndexFunc(hosts, func(h catalogue.Host) bool { return h.Name == "h1" })
		require.WithinDuration(t, gone, hosts[i].Heard, time.Second, "its last contact")
		require.NotNil(t, hosts[i].Failure)
		s.until(t, time.Second, all(catalogue.Stale, "h1"))

		f.hosts["h1"].down(false)
		f.hosts["h1"].create(t, "more")
		late.until(t, 2*time.Minute, all(catalogue.Current, "h1"))
		_, sessions, _, _ = late.Listed()
		require.Len(t, sessions, 4)
		late.Close()
		s.Close()
	})
}

// What changes anywhere is told while it happens.
func TestChangesAreToldAsTheyHappen(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, f *fleet) {
		s := f.subscribe(t, protocol.ReachAll, append(f.names(), protocol.LocalHost)...)
		s.until(t, time.Second, all(catalogue.Current, append(f.names(), protocol.LocalHost)...))
		has := func(want ...string) func(map[string]catalogue.Host, []catalogue.Session) bool {
			return func(_ map[string]catalogue.Host, sessions []catalogue.Session) bool {
				var got []string
				for _, s := range sessions {
					got = append(got, s.Host+":"+s.Name)
				}
				return slices.Equal(want, got)
			}
		}
		const soon = fleetRTT/2 + 60*time.Millisecond // the way, and the pace of a watch
		f.hosts["h0"].create(t, "a")
		require.LessOrEqual(t, s.until(t, time.Second, has("h0:a")), soon)
		f.here.create(t, "b")
		require.LessOrEqual(t, s.until(t, time.Second, has(":b", "h0:a")), soon)
		f.hosts["h0"].request(t, &protocol.Rename{Session: "a", Name: "c"})
		require.LessOrEqual(t, s.until(t, time.Second, has(":b", "h0:c")), soon)
		f.here.request(t, &protocol.Kill{Session: "b"})
		require.LessOrEqual(t, s.until(t, time.Second, has("h0:c")), soon)
		s.Close()
	})
}

// A client that takes nothing for an hour, in which much happens, is told what there is then.
func TestASubscriberThatDoesNotReadIsToldWhatThereIs(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, f *fleet) {
		for i := range 300 {
			f.here.create(t, fmt.Sprint("s", i))
		}
		ours, theirs := simnet.Pipe(1 << 10)
		f.serve(theirs, f.near)
		c, err := brokeripc.Dial(t.Context(), ours, "test")
		require.NoError(t, err)
		theirs.Stall()
		c.Subscribe(nil, protocol.ReachAll)
		for i := range 300 {
			f.here.request(t, &protocol.Rename{Session: fmt.Sprint("s", i), Name: fmt.Sprint("r", i)})
		}
		time.Sleep(time.Hour)
		theirs.Resume()
		s := &subscriber{c}
		s.until(t, time.Second, func(_ map[string]catalogue.Host, sessions []catalogue.Session) bool {
			for _, s := range sessions {
				if s.Name[0] != 'r' {
					return false
				}
			}
			return len(sessions) == 300
		})
		s.Close()
	})
}

func TestAHostWithoutADaemonHasNoSessions(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, f *fleet) {
		m := f.hosts["h0"]
		d := m.daemon
		m.mu.Lock()
		m.daemon = nil
		m.mu.Unlock()
		s := f.subscribe(t, protocol.ReachAll, "h0")
		s.until(t, time.Second, all(catalogue.Current, "h0"))
		_, sessions, _, _ := s.Listed()
		require.Empty(t, sessions)
		m.mu.Lock()
		m.daemon = d
		m.mu.Unlock()
		m.create(t, "work")
		s.until(t, 2*time.Minute, func(_ map[string]catalogue.Host, sessions []catalogue.Session) bool { return len(sessions) == 1 })
		s.Close()
	})
}

func TestAnOlderDaemonIsAskedForItsList(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, f *fleet) {
		f.hosts["h0"].old = true
		f.hosts["h0"].create(t, "a")
		s := f.subscribe(t, protocol.ReachAll, "h0")
		s.until(t, time.Second, func(_ map[string]catalogue.Host, sessions []catalogue.Session) bool { return len(sessions) == 1 })
		s.until(t, time.Second, all(catalogue.Current, "h0"))
		f.hosts["h0"].create(t, "b")
		again := f.subscribe(t, protocol.ReachAll, "h0")
		again.until(t, time.Second, func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool {
			return len(sessions) == 2 && hosts["h0"].State == catalogue.Current
		})
		s.Close()
		again.Close()
	})
}

// Who asks for no more than what is warm has nothing dialed.
func TestNothingIsDialedForWhatIsWarm(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, f *fleet) {
		f.hosts["h0"].create(t, "a")
		s := f.subscribe(t, protocol.ReachWarm, "h0", "h1")
		s.until(t, time.Second, all(catalogue.Unasked, "h0", "h1"))
		s.Close()
		require.Empty(t, f.dials)
		s = f.subscribe(t, protocol.ReachAll, "h0")
		s.until(t, time.Second, all(catalogue.Current, "h0"))
		s.Close()
		s = f.subscribe(t, protocol.ReachWarm)
		s.until(t, time.Second, all(catalogue.Current, "h0", protocol.LocalHost))
		s.Close()
		require.Equal(t, map[string]int{"h0": 1}, f.dials)
	})
}

// A host that somebody names and that nothing reaches is that one's affair.
func TestWhatSomebodyElseNamesIsNotListed(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, f *fleet) {
		f.hosts["h1"].down(true)
		s := f.subscribe(t, protocol.ReachAll, "h0", "h1")
		s.until(t, time.Minute, all(catalogue.Stale, "h1"))
		every := f.subscribe(t, protocol.ReachAll)
		every.until(t, time.Second, func(hosts map[string]catalogue.Host, _ []catalogue.Session) bool {
			return len(hosts) == 2 && all(catalogue.Current, protocol.LocalHost, "h0")(hosts, nil)
		})
		f.hosts["h1"].down(false)
		every.until(t, 2*time.Minute, all(catalogue.Current, "h1"))
		s.Close()
		every.Close()
	})
}

// A link over QUIC takes the place of one over ssh that is used for a second: the list goes on over it.
func TestAListGoesOnOverAnotherLink(t *testing.T) {
	inFleetWith(t, 1, true, func(t *testing.T, f *fleet) {
		f.hosts["h0"].create(t, "work")
		s := f.subscribe(t, protocol.ReachAll, "h0")
		s.until(t, time.Second, all(catalogue.Current, "h0"))
		quic := func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool {
			h := hosts["h0"]
			require.NotEqual(t, catalogue.Stale, h.State)
			return h.State == catalogue.Current && h.Transport == domain.TransportQUIC && len(sessions) == 1
		}
		took := s.until(t, 5*time.Second, quic)
		require.LessOrEqual(t, took, time.Second+10*fleetRTT)
		f.hosts["h0"].create(t, "more")
		s.until(t, time.Second, func(_ map[string]catalogue.Host, sessions []catalogue.Session) bool { return len(sessions) == 2 })
		require.Equal(t, 2, f.dials["h0"])
		s.Close()
		time.Sleep(5 * time.Minute)
		s = f.subscribe(t, protocol.ReachAll, "h0")
		require.LessOrEqual(t, s.until(t, time.Second, all(catalogue.Current, "h0")), fleetRTT+20*time.Millisecond, "it is warm")
		s.Close()
	})
}

// Nobody wants it any more: the conversation and the link end.
func TestWhatNobodyWantsEnds(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, f *fleet) {
		s := f.subscribe(t, protocol.ReachAll)
		s.until(t, time.Second, all(catalogue.Current, protocol.LocalHost))
		s.Close()
		s = f.subscribe(t, protocol.ReachAll, "h0")
		s.until(t, time.Second, all(catalogue.Current, "h0"))
		s.Close()
		synctest.Wait()
		before := bubbled()
		time.Sleep(9 * time.Minute)
		require.Equal(t, before, bubbled(), "kept warm")
		time.Sleep(time.Hour)
		require.Less(t, bubbled(), before)
		s = f.subscribe(t, protocol.ReachWarm)
		s.until(t, time.Second, func(hosts map[string]catalogue.Host, _ []catalogue.Session) bool { return len(hosts) == 1 })
		s.Close()
	})
}

// bubbled counts the goroutines of this test; those of others may be ending.
func bubbled() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte(", synctest bubble "))
}

// Hosts that were added are listed by their names, also where one is named by its address; one that is removed is listed no
// longer and nothing that is still on its way from it brings it back.
func TestMembersAreListed(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, f *fleet) {
		f.hosts["h0"].create(t, "work")
		only := func(names ...string) func(map[string]catalogue.Host, []catalogue.Session) bool {
			return func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool {
				for _, s := range sessions {
					if !slices.Contains(names, s.Host) {
						return false
					}
				}
				return len(hosts) == len(names) && all(catalogue.Current, names...)(hosts, nil)
			}
		}
		s := f.subscribe(t, protocol.ReachAll)
		s.until(t, time.Second, only(protocol.LocalHost))
		add := func(alias, host string) {
			require.NoError(t, s.Operate(t.Context(), protocol.Mutation{Kind: protocol.AddHost, Host: host, Alias: alias}, nil))
		}
		add("desk", "h0")
		s.until(t, time.Second, only(protocol.LocalHost, "desk"))
		add("lab", "h1")
		s.until(t, time.Second, only(protocol.LocalHost, "desk", "lab"))

		named := f.subscribe(t, protocol.ReachAll, "h0")
		named.until(t, time.Second, only("h0"))
		_, sessions, _, _ := named.Listed()
		require.Len(t, sessions, 1)
		_, sessions, _, _ = s.Listed()
		require.Len(t, sessions, 1, "it is listed once")
		named.Close()
		require.Equal(t, map[string]int{"h0": 1, "h1": 1}, f.dials, "one link each")

		// An update is on its way when the host is removed, and more happens there.
		f.hosts["h0"].create(t, "late")
		time.Sleep(fleetRTT / 4)
		require.NoError(t, s.Operate(t.Context(), protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"}, nil))
		s.until(t, time.Second, only(protocol.LocalHost, "lab"))
		f.hosts["h0"].create(t, "later")
		time.Sleep(time.Minute)
		s.until(t, time.Second, only(protocol.LocalHost, "lab"))
		fresh := f.subscribe(t, protocol.ReachWarm)
		fresh.until(t, time.Second, all(catalogue.Current, "lab"))
		fresh.Close()

		// One of the same name is another host.
		f.hosts["h1"].create(t, "other")
		require.NoError(t, s.Operate(t.Context(), protocol.Mutation{Kind: protocol.RemoveHost, Host: "lab"}, nil))
		add("desk", "h1")
		s.until(t, time.Second, func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool {
			return hosts["desk"].State == catalogue.Current && slices.ContainsFunc(sessions, func(s catalogue.Session) bool {
				return s.Host == "desk" && s.Name == "other"
			})
		})
		s.Close()
	})
}

// Whatever happens to sessions and to the way to their hosts, what is told in the end is what there is.
func TestAfterAnythingTheListsAreTrue(t *testing.T) {
	for seed := range uint64(20) {
		inFleet(t, 3, func(t *testing.T, f *fleet) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := f.subscribe(t, protocol.ReachAll, append(f.names(), protocol.LocalHost)...)
			machines := append(f.machines(), f.here)
			for i := range 60 {
				m := machines[rnd.IntN(len(machines))]
				switch rnd.IntN(6) {
				case 0, 1, 2:
					m.create(t, fmt.Sprint("s", i))
				case 3:
					if names := m.names(); len(names) > 0 {
						m.request(t, &protocol.Kill{Session: names[rnd.IntN(len(names))]})
					}
				case 4:
					if m != f.here {
						m.down(rnd.IntN(2) == 0)
					}
				case 5:
					m.cut()
				}
				time.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
			}
			for _, m := range f.machines() {
				m.down(false)
			}
			s.until(t, 10*time.Minute, func(hosts map[string]catalogue.Host, sessions []catalogue.Session) bool {
				if !all(catalogue.Current, append(f.names(), protocol.LocalHost)...)(hosts, nil) {
					return false
				}
				got := map[string][]string{}
				for _, s := range sessions {
					got[s.Host] = append(got[s.Host], s.Name)
				}
				for name, m := range f.hosts {
					if !slices.Equal(got[name], m.names()) {
						return false
					}
				}
				return slices.Equal(got[""], f.here.names())
			})
			s.Close()
		})
	}
}

// What an idle host costs that is watched: this side's link, stream, conversation and list; here the other side's broker and
// daemon are in the same process, and counted.
func TestAnIdleHostIsCheap(t *testing.T) {
	const hosts = 50
	inFleet(t, hosts, func(t *testing.T, f *fleet) {
		for _, m := range f.machines() {
			m.create(t, "work")
		}
		before := used()
		s := f.subscribe(t, protocol.ReachAll, f.names()...)
		s.until(t, time.Second, all(catalogue.Current, f.names()...))
		time.Sleep(time.Minute)
		each := (used() - before) / hosts
		t.Logf("%d KiB each", each>>10)
		require.Less(t, each, int64(200<<10))
		s.Close()
	})
}

// used is the memory of heap and stacks after a collection.
func used() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// sleepers starts programs that print nothing.
type sleepers struct{}

func (sleepers) Start(cmd domain.Command, _ domain.Size) (ports.Program, error) {
	return &sleeper{cmd: cmd, over: make(chan struct{})}, nil
}

type sleeper struct {
	cmd  domain.Command
	once sync.Once
	over chan struct{}
}

func (p *sleeper) Read([]byte) (int, error)    { <-p.over; return 0, io.EOF }
func (p *sleeper) Write(b []byte) (int, error) { return len(b), nil }
func (p *sleeper) TryWrite(b []byte) int       { return len(b) }
func (p *sleeper) Resize(domain.Size) error    { return nil }
func (p *sleeper) Pid() int                    { return 1 }
func (p *sleeper) Command() []string           { return p.cmd.Argv }
func (p *sleeper) Foreground() ports.Process   { return ports.Process{} }
func (p *sleeper) Cwd() string                 { return "/" }
func (p *sleeper) Use() ports.TerminalUse      { return ports.TerminalUse{} }
func (p *sleeper) ForegroundGroup() int        { return 1 }
func (p *sleeper) Wait() domain.ExitStatus     { <-p.over; return domain.ExitStatus{} }
func (p *sleeper) Kill(context.Context)        { p.once.Do(func() { close(p.over) }) }
func (p *sleeper) Close() error                { p.Kill(context.Background()); return nil }
