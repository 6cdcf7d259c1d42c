package quic

import (
	"context"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const software = "vev test"

// machine is one with a proxy and a daemon that says what it hears.
type machine struct {
	t      *testing.T
	proxy  *Proxy
	daemon atomic.Bool // it runs
	dials  atomic.Int64
	served atomic.Pointer[served] // the last
	talks  sync.WaitGroup
}

func newMachine(t *testing.T, in Ports) *machine {
	t.Helper()
	m := &machine{t: t}
	m.daemon.Store(true)
	b := broker.New(broker.Options{Daemon: m, Version: software})
	var err error
	m.proxy, err = Listen(Options{
		Ports: in, Accept: m.accept, DaemonRuns: m.daemon.Load, Spare: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Serve: func(ctx context.Context, conn ports.BrokerConn) error {
			m.served.Store(conn.(*served))
			return b.Serve(ctx, conn)
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		for ctx.Err() == nil {
			_ = m.proxy.Run(ctx) // it is as if somebody came late each time that it ends
		}
	})
	t.Cleanup(func() {
		cancel()
		run.Wait()
		m.proxy.Close()
		b.Close()
		m.talks.Wait()
	})
	return m
}

func (m *machine) accept(ctx context.Context, c io.ReadWriteCloser) (ports.BrokerConn, error) {
	s, err := brokeripc.Accept(ctx, c, brokeripc.Broker{Software: software, Epoch: 1, Numbers: func() protocol.BrokerNumbers {
		return protocol.BrokerNumbers{}
	}})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// DialDaemon implements ports.DaemonDialer.
func (m *machine) DialDaemon(_ context.Context, start protocol.StartPolicy) (io.ReadWriteCloser, error) {
	if start == protocol.ExistingOnly && !m.daemon.Load() {
		return nil, fault.New(fault.NotFound, "no daemon runs")
	}
	m.dials.Add(1)
	near, far := net.Pipe()
	m.talks.Go(func() {
		_, _ = io.Copy(far, far)
		_ = far.Close()
	})
	return near, nil
}

// ssh leads to a machine, as the user's would.
type ssh struct {
	to    *machine
	port  uint16 // in place of the proxy's, or 0
	sshd  uint16 // where its ssh server listens
	runs  atomic.Int64
	error error
}

func (s *ssh) RunRole(context.Context, string, string, int, ports.Ask) ([]byte, error) {
	s.runs.Add(1)
	if s.error != nil {
		return nil, s.error
	}
	line, err := s.to.proxy.Invite()
	if err == nil && s.port != 0 {
		i, perr := parseReady(line)
		require.NoError(s.to.t, perr)
		i.port = s.port
		line, err = i.line()
	}
	return line, err
}

func (s *ssh) locate(context.Context, domain.Host) (ports.Location, error) {
	return ports.Location{Name: "127.0.0.1", Port: s.sshd}, nil
}

func newDialer(s *ssh) *Dialer {
	return &Dialer{Roles: s, Locate: s.locate, Converse: func(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
		client, err := brokeripc.Dial(ctx, c, software)
		if err != nil {
			return nil, err
		}
		return client, nil
	}}
}

func dial(t *testing.T, d *Dialer) *link {
	t.Helper()
	l, err := d.DialLink(t.Context(), "far", nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.(*link)
}

func open(t *testing.T, l ports.Link) ports.Stream {
	t.Helper()
	s, err := l.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// echoes has a daemon say something.
func echoes(t *testing.T, s ports.Stream, text string) {
	t.Helper()
	_, err := io.WriteString(s, text)
	require.NoError(t, err)
	got := make([]byte, len(text))
	_, err = io.ReadFull(s, got)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

// relay is a router between the two: it may lose everything, and change the port that it shows to the machine.
type relay struct {
	t     *testing.T
	inner *net.UDPConn
	to    *net.UDPAddr
	down  atomic.Bool
	delay time.Duration    // of what comes back
	lose  func(n int) bool // what comes back and is lost, by its size; nil: nothing
	goes  func(n int)      // is told the size of what goes there; or nil
	all   sync.WaitGroup

	mu    sync.Mutex
	outer map[string]*net.UDPConn
	seen  []*net.UDPConn
}

func newRelay(t *testing.T, port uint16, settings ...func(*relay)) *relay {
	t.Helper()
	inner, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	r := &relay{t: t, inner: inner, to: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)}, outer: map[string]*net.UDPConn{}}
	for _, set := range settings {
		set(r)
	}
	r.all.Go(r.run)
	t.Cleanup(func() {
		_ = inner.Close()
		r.rebind()
		r.mu.Lock()
		for _, c := range r.seen {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.all.Wait()
	})
	return r
}

func (r *relay) port() uint16 { return uint16(r.inner.LocalAddr().(*net.UDPAddr).Port) }

func (r *relay) run() {
	buf := make([]byte, 2048)
	for {
		n, from, err := r.inner.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if r.goes != nil {
			r.goes(n)
		}
		if r.down.Load() {
			continue
		}
		r.mu.Lock()
		out := r.outer[from.String()]
		if out == nil {
			if out, err = net.DialUDP("udp4", nil, r.to); err != nil {
				r.mu.Unlock()
				return
			}
			r.outer[from.String()] = out
			r.seen = append(r.seen, out)
			r.all.Go(func() { r.back(out, from) })
		}
		r.mu.Unlock()
		_, _ = out.Write(buf[:n])
	}
}

func (r *relay) back(out *net.UDPConn, to *net.UDPAddr) {
	type packet struct {
		due  time.Time
		data []byte
	}
	flying := make(chan packet, 10_000)
	r.all.Go(func() {
		for p := range flying {
			time.Sleep(time.Until(p.due))
			_, _ = r.inner.WriteToUDP(p.data, to)
		}
	})
	defer close(flying)
	buf := make([]byte, 2048)
	for {
		n, err := out.Read(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		current := r.outer[to.String()] == out
		r.mu.Unlock()
		if current && !r.down.Load() && (r.lose == nil || !r.lose(n)) {
			select {
			case flying <- packet{time.Now().Add(r.delay), slices.Clone(buf[:n])}:
			default: // its queue is full
			}
		}
	}
}

// rebind has it forget its mapping: what comes next leaves from another port, and answers to the old one are lost.
func (r *relay) rebind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.outer)
}

// addresses are those that the machine's connections come from.
func (m *machine) addresses() (found []string) {
	m.proxy.leases.mu.Lock()
	defer m.proxy.leases.mu.Unlock()
	for _, l := range m.proxy.leases.known {
		for _, c := range l.conns {
			found = append(found, c.conn.RemoteAddr().String())
		}
	}
	slices.Sort(found)
	return found
}
