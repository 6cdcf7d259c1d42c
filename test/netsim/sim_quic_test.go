package netsim

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// air is the network between this machine and another one, for packets and in virtual time. This machine is behind a router,
// which shows an address and a port of its own for each socket and knows the way back by them.
type air struct {
	mu       sync.Mutex
	c        simnet.Conditions
	up, down *simnet.Shaper
	there    *airSocket             // the other machine's
	shown    map[*airSocket]string  // what the router shows for a socket
	behind   map[string]*airSocket  // the same, from outside
	address  byte                   // the last of what the router shows
	port     int                    // the newest
	unplug   bool                   // this machine has no interface
	lose     bool                   // the next large packet from the other machine is lost
	changes  map[*airChanges]func() // that are read, and how they are told
}

func newAir(c simnet.Conditions) *air {
	return &air{
		c: c, up: simnet.NewShaper(1), down: simnet.NewShaper(2), shown: map[*airSocket]string{}, behind: map[string]*airSocket{},
		address: 1, port: 1000, changes: map[*airChanges]func(){},
	}
}

// set changes what becomes of packets.
func (a *air) set(c simnet.Conditions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c = c
}

func (a *air) isDown() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.c.Down || a.unplug
}

// rebind has the router forget what it showed for whom: nobody is told.
func (a *air) rebind() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.shown)
	clear(a.behind)
}

// moves has this machine go to another router, of which the system tells.
func (a *air) moves() {
	a.rebind()
	a.mu.Lock()
	a.address++
	a.mu.Unlock()
	a.tell()
}

// plug takes the interface away, or gives it back.
func (a *air) plug(in bool) {
	a.mu.Lock()
	a.unplug = !in
	a.mu.Unlock()
	a.tell()
}

func (a *air) tell() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, told := range a.changes {
		told()
	}
}

// carry takes a packet of a socket's to an address.
func (a *air) carry(from *airSocket, b []byte, to string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	shaper, dst, origin := a.down, a.behind[to], from.addr
	if from != a.there {
		if a.unplug {
			return
		}
		shaper, dst = a.up, a.there
		if a.shown[from] == "" {
			a.port++
			addr := &net.UDPAddr{IP: net.IPv4(198, 51, 100, a.address), Port: a.port}
			a.shown[from] = addr.String()
			a.behind[addr.String()] = from
		}
		origin, _ = net.ResolveUDPAddr("udp", a.shown[from])
	}
	if a.lose && from == a.there && len(b) > 1000 {
		a.lose = false
		return
	}
	due, fate := shaper.Admit(a.c, time.Now(), len(b))
	if fate != simnet.Arrives || dst == nil {
		return
	}
	p := airPacket{slices.Clone(b), origin}
	time.AfterFunc(time.Until(due), func() {
		select {
		case dst.in <- p:
		default: // the socket is full
		}
	})
}

type airPacket struct {
	data []byte
	from net.Addr
}

// airSocket is a net.PacketConn.
type airSocket struct {
	air  *air
	addr *net.UDPAddr
	in   chan airPacket
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	deadline time.Time
	changed  chan struct{}
}

func (a *air) socket(addr *net.UDPAddr) *airSocket {
	return &airSocket{air: a, addr: addr, in: make(chan airPacket, 1000), done: make(chan struct{}), changed: make(chan struct{}, 1)}
}

func (s *airSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		s.mu.Lock()
		deadline := s.deadline
		s.mu.Unlock()
		var passed <-chan time.Time
		if !deadline.IsZero() {
			wait := time.Until(deadline)
			if wait <= 0 {
				return 0, nil, os.ErrDeadlineExceeded
			}
			passed = time.After(wait)
		}
		select {
		case p := <-s.in:
			return copy(b, p.data), p.from, nil
		case <-s.done:
			return 0, nil, net.ErrClosed
		case <-passed:
			return 0, nil, os.ErrDeadlineExceeded
		case <-s.changed:
		}
	}
}

func (s *airSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	s.air.carry(s, b, to.String())
	return len(b), nil
}

func (s *airSocket) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}
func (s *airSocket) LocalAddr() net.Addr { return s.addr }
func (s *airSocket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	s.deadline = t
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return nil
}
func (s *airSocket) SetDeadline(t time.Time) error    { return s.SetReadDeadline(t) }
func (s *airSocket) SetWriteDeadline(time.Time) error { return nil }

// here and overThere are the two machines' parts of the network.
type (
	here      struct{ *air }
	overThere struct{ *air }
)

var _, _ quic.Net = here{}, overThere{}

const airHost = "192.0.2.1"

func (n here) Listen(quic.Ports) (net.PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.port++
	return n.socket(&net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: n.port}), nil
}

func (n overThere) Listen(quic.Ports) (net.PacketConn, error) {
	n.there = n.socket(&net.UDPAddr{IP: net.ParseIP(airHost), Port: 4433})
	return n.there, nil
}

// airChanges are told at most once before they are read.
type airChanges struct {
	air  *air
	told chan struct{}
	done chan struct{}
}

func (n here) Changes() (io.ReadCloser, error) {
	c := &airChanges{n.air, make(chan struct{}, 1), make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changes[c] = func() {
		select {
		case c.told <- struct{}{}:
		default:
		}
	}
	return c, nil
}

func (n overThere) Changes() (io.ReadCloser, error) { return nil, io.EOF }

func (c *airChanges) Read(b []byte) (int, error) {
	select {
	case <-c.told:
		return 1, nil
	case <-c.done:
		return 0, io.EOF
	}
}

func (c *airChanges) Close() error {
	c.air.mu.Lock()
	delete(c.air.changes, c)
	c.air.mu.Unlock()
	close(c.done)
	return nil
}

func (n here) Knock(context.Context, string, uint16) error      { return io.EOF }
func (n overThere) Knock(context.Context, string, uint16) error { return io.EOF }

// overAir is the way to the far machine by ssh, over the world's link, and by QUIC.
type overAir struct {
	farLinks
	air    *air
	proxy  *quic.Proxy
	sshd   atomic.Bool  // it answers
	starts atomic.Int64 // of ssh
}

func (o *overAir) DialLink(ctx context.Context, name string, ask ports.Ask) (ports.Link, error) {
	o.starts.Add(1)
	link, err := o.farLinks.DialLink(ctx, name, ask)
	if err != nil {
		return nil, err
	}
	return overSSH{link}, nil
}

// overSSH is a link that says what carries it.
type overSSH struct{ ports.Link }

func (l overSSH) Vitals() domain.Vitals {
	v := l.Link.Vitals()
	v.Transport = domain.TransportSSH
	return v
}

func (o *overAir) RunRole(ctx context.Context, _, _ string, _ int, _ ports.Ask) ([]byte, error) {
	o.starts.Add(1)
	if err := o.reach(ctx, ""); err != nil {
		return nil, err
	}
	return o.proxy.Invite()
}

// reach is a connection to sshd.
func (o *overAir) reach(ctx context.Context, _ string) error {
	if o.air.isDown() {
		<-ctx.Done()
	} else {
		time.Sleep(2 * o.air.c.Delay)
	}
	if !o.sshd.Load() || o.air.isDown() {
		return fault.New(fault.Unavailable, "no ssh server answers")
	}
	return ctx.Err()
}

// newAirBrokers are brokers whose links go over ssh or QUIC, as policy has it.
func newAirBrokers(t *testing.T, w *world, a *air, policy domain.Transport, daemon ports.DaemonDialer) *overAir {
	b := &brokers{patience: 1200 * time.Millisecond, reports: true}
	b.end, b.stop = context.WithCancel(context.Background())
	b.far = broker.New(broker.Options{Daemon: daemon})
	o := &overAir{farLinks: farLinks{w, b}, air: a}
	o.sshd.Store(true)
	converse := func(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
		link, err := brokeripc.Dial(ctx, c, "test")
		if err != nil {
			return nil, err
		}
		return link, nil
	}
	d := &quic.Dialer{
		Net: here{a}, Roles: o, Converse: converse,
		Locate: func(context.Context, domain.Host) (ports.Location, error) { return ports.Location{Name: airHost}, nil },
	}
	var err error
	o.proxy, err = quic.Listen(quic.Options{
		Net: overThere{a}, Serve: b.far.Serve, DaemonRuns: func() bool { return true }, Log: slog.New(slog.DiscardHandler),
		Accept: func(ctx context.Context, c io.ReadWriteCloser) (ports.BrokerConn, error) {
			s, err := brokeripc.Accept(ctx, c, brokeripc.Broker{Software: "test", Epoch: 1, Numbers: b.far.Numbers})
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	})
	require.NoError(t, err)
	w.all.Go(func() { _ = o.proxy.Run(b.end) })
	b.near = broker.New(broker.Options{Remote: broker.Remote{
		SSH: o, QUIC: d, Resumable: d.Resumable, Forget: d.Forget, Reach: o.reach, Policy: func(string) domain.Transport { return policy },
	}})
	w.brokers = b
	return o
}

// close ends the brokers and the proxy.
func (o *overAir) close() {
	o.b.near.Close()
	o.b.stop()
	o.proxy.Close()
}

// disturbances are what happens to the network under an attachment; each returns when there is a way again.
var disturbances = []struct {
	name string
	do   func(w *world, a *air, c simnet.Conditions, press func())
}{
	{"the router forgets", func(_ *world, a *air, _ simnet.Conditions, _ func()) { a.rebind() }},
	{"another address", func(_ *world, a *air, _ simnet.Conditions, _ func()) { a.moves() }},
	{"a minute of nothing", func(w *world, a *air, c simnet.Conditions, press func()) {
		dark(w, a, c)
		time.Sleep(20 * time.Second)
		press()
		time.Sleep(40 * time.Second)
		light(w, a, c)
	}},
	{"five minutes of nothing, then elsewhere behind a router that forgets", func(w *world, a *air, c simnet.Conditions, press func()) {
		dark(w, a, c)
		time.Sleep(time.Minute)
		press()
		a.moves()
		time.Sleep(2 * time.Minute)
		a.moves()
		time.Sleep(2 * time.Minute)
		a.rebind()
		light(w, a, c)
	}},
	{"no interface, then another", func(w *world, a *air, c simnet.Conditions, press func()) {
		dark(w, a, c)
		a.plug(false)
		time.Sleep(20 * time.Second)
		press()
		time.Sleep(20 * time.Second)
		w.links[0].Set(c, c)
		a.set(c)
		a.moves()
		a.plug(true)
	}},
}

func dark(w *world, a *air, c simnet.Conditions) {
	c.Down = true
	w.links[0].Set(c, c)
	a.set(c)
}

func light(w *world, a *air, c simnet.Conditions) {
	w.links[0].Set(c, c)
	a.set(c)
}

// TestWhateverHappensToTheNetworkUnderQUIC: a session that draws all the time is current within a second each time that there is a
// way again, mostly within two round trips and 300 ms; what is typed meanwhile arrives once; and no ssh is started for it, whether
// its server would answer or not.
func TestWhateverHappensToTheNetworkUnderQUIC(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // no real socket is under it
	for _, sshd := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) { roams(t, sshd) })
	}
}

func roams(t *testing.T, sshd bool) {
	const rtt = 50 * time.Millisecond
	c := simnet.Conditions{Delay: rtt / 2}
	prog := newProgram(newOracle(simSize))
	w := &world{
		d:     daemon.New(daemon.Options{Programs: programs{prog}, Version: "test"}),
		links: []*simnet.Link{simnet.NewLink(1, c, c)},
	}
	a := newAir(c)
	o := newAirBrokers(t, w, a, domain.TransportAuto, farDaemon{w})
	var mu sync.Mutex
	var newest time.Time // of the screens that were shown
	tty, leave := tellsTime(t, w, prog, time.Second/10, func(at time.Time) {
		mu.Lock()
		defer mu.Unlock()
		newest = at
	})
	time.Sleep(20 * time.Second)
	before, _ := w.links[0].Bytes()
	time.Sleep(10 * time.Second)
	after, _ := w.links[0].Bytes()
	if before != after {
		t.Errorf("%d bytes go over ssh still", after-before)
	}
	begun := o.starts.Load()
	if begun != 2 {
		t.Errorf("ssh was started %d times: one for a link at once, one for the token", begun)
	}
	o.sshd.Store(sshd)

	typed := ""
	press := func() {
		key := string(rune('a' + len(typed)%26))
		typed += key
		tty.press(key)
	}
	var took []time.Duration
	for _, what := range disturbances {
		what.do(w, a, c, press)
		back := time.Now().UTC()
		press()
		for {
			mu.Lock()
			current := !newest.Before(back)
			mu.Unlock()
			if current && prog.got() == typed {
				break
			}
			if time.Since(back) > time.Minute {
				t.Errorf("%s: typed %q, got %q, newest %v, %v ago", what.name, typed, prog.got(), newest, time.Since(newest))
				break
			}
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(back))
		t.Logf("%s: %v", what.name, time.Since(back))
		time.Sleep(10 * time.Second)
	}
	started := o.starts.Load() - begun
	leave()
	o.close()
	w.close()
	require.Empty(t, w.problem)
	require.Equal(t, typed, prog.got())
	require.Zero(t, started, "ssh was started again")
	slices.Sort(took)
	require.Less(t, took[len(took)-1], time.Second)
	require.LessOrEqual(t, took[len(took)/2], 2*rtt+300*time.Millisecond)
}

// talker is a daemon of which each conversation is what its first byte says: bulk, or an echo.
type talker struct{ all *sync.WaitGroup }

func (d talker) DialDaemon(context.Context, protocol.StartPolicy) (io.ReadWriteCloser, error) {
	ours, theirs := simnet.Pipe(64 << 10)
	d.all.Go(func() {
		defer theirs.Close()
		b := make([]byte, 1200)
		if _, err := io.ReadFull(theirs, b[:1]); err != nil {
			return
		}
		for bulk := b[0] == 'b'; ; {
			var err error
			if bulk {
				time.Sleep(2 * time.Millisecond)
				_, err = theirs.Write(b)
			} else if _, err = io.ReadFull(theirs, b[:1]); err == nil {
				_, err = theirs.Write(b[:1])
			}
			if err != nil {
				return
			}
		}
	})
	return ours, nil
}

// TestALossInBulkDelaysNoEcho: a packet of a bulk stream is lost. Over QUIC the echo on another stream of that host takes a round
// trip all the same; over ssh, which is one stream for all, it waits until the packet has come again.
func TestALossInBulkDelaysNoEcho(t *testing.T) {
	const rtt = 50 * time.Millisecond
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // no real socket is under it
	worst := map[domain.Transport]time.Duration{}
	for _, over := range []domain.Transport{domain.TransportQUIC, domain.TransportSSH} {
		bubble.Test(t, func(t *testing.T) { worst[over] = echoBesideALoss(t, over, simnet.Conditions{Delay: rtt / 2}) })
	}
	t.Logf("the longest echo: %v", worst)
	require.Less(t, worst[domain.TransportQUIC], rtt+5*time.Millisecond)
	require.Greater(t, worst[domain.TransportSSH], 2*rtt-10*time.Millisecond)
}

// echoBesideALoss is the longest echo, of many, around a loss.
func echoBesideALoss(t *testing.T, over domain.Transport, c simnet.Conditions) (worst time.Duration) {
	w := &world{d: daemon.New(daemon.Options{}), links: []*simnet.Link{simnet.NewLink(1, c, c)}}
	a := newAir(c)
	o := newAirBrokers(t, w, a, over, talker{&w.all})
	ours, theirs := simnet.Pipe(64 << 10)
	o.b.serve(w, theirs, o.b.near)
	near, err := brokeripc.Dial(t.Context(), ours, "test")
	require.NoError(t, err)
	open := func(kind string) ports.Stream {
		s, err := near.OpenStream(t.Context(), farHost, protocol.StartIfNeeded, []byte(kind))
		require.NoError(t, err)
		return s
	}
	bulk, echo := open("b"), open("e")
	w.all.Go(func() { _, _ = io.Copy(io.Discard, bulk) })
	sent := make(chan time.Time, 1000)
	w.all.Go(func() {
		b := make([]byte, 1)
		for at := range sent {
			if _, err := io.ReadFull(echo, b); err != nil {
				t.Error(err)
				break
			}
			worst = max(worst, time.Since(at))
		}
		_ = near.Close()
	})
	time.Sleep(5*time.Second + 500*time.Microsecond) // no echo leaves in one packet with bulk, which may be the one that is lost
	for i := range 200 {
		if i == 100 {
			w.links[0].LoseOne()
			a.mu.Lock()
			a.lose = true
			a.mu.Unlock()
		}
		sent <- time.Now()
		_, err := echo.Write([]byte("k"))
		require.NoError(t, err)
		time.Sleep(3 * time.Millisecond)
	}
	close(sent)
	<-near.Done()
	a.mu.Lock()
	if over == domain.TransportQUIC && a.lose {
		t.Error("no packet of bulk was lost")
	}
	a.mu.Unlock()
	o.close()
	w.close()
	return worst
}

// TestAnIdleHostOverQUICIsCheap: what a host costs that is reached over QUIC and idle. Here the other machine's proxy and broker are
// in the same process, and counted.
func TestAnIdleHostOverQUICIsCheap(t *testing.T) {
	const hosts, most = 40, 300 << 10                          // of both sides; a broker has a quarter of it in garbage, too
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // no real socket is under it
	bubble.Test(t, func(t *testing.T) {
		c := simnet.Conditions{Delay: 10 * time.Millisecond}
		w := &world{d: daemon.New(daemon.Options{}), links: []*simnet.Link{simnet.NewLink(1, c, c)}}
		o := newAirBrokers(t, w, newAir(c), domain.TransportQUIC, talker{&w.all})
		ours, theirs := simnet.Pipe(64 << 10)
		o.b.serve(w, theirs, o.b.near)
		near, err := brokeripc.Dial(t.Context(), ours, "test")
		require.NoError(t, err)
		reach := func(host string) {
			s, err := near.OpenStream(t.Context(), host, protocol.StartIfNeeded, []byte("ek"))
			require.NoError(t, err)
			_, err = io.ReadFull(s, make([]byte, 1))
			require.NoError(t, err)
		}
		reach("first")
		before := used()
		for i := range hosts {
			reach(fmt.Sprintf("h%d", i))
		}
		time.Sleep(time.Minute)
		each := (used() - before) / hosts
		t.Logf("%d KiB each", each>>10)
		if each > most {
			t.Errorf("%d KiB each, at most %d", each>>10, most>>10)
		}
		require.NoError(t, near.Close())
		o.close()
		w.close()
	})
}
