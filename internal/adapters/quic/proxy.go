package quic

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// DefaultSpare is how long a proxy stays that nobody needs. Twice in that time it looks whether it is needed: whether its daemon
// runs, and whether a key is known.
const DefaultSpare = 30 * time.Second

// Options are what a Proxy needs.
type Options struct {
	Net   Net // nil: the system's
	Ports Ports
	// Accept begins the broker conversation on a control stream, which is its own from there on.
	Accept func(ctx context.Context, carriage io.ReadWriteCloser) (ports.BrokerConn, error)
	// Serve serves a conversation to its end, and closes it.
	Serve func(ctx context.Context, conn ports.BrokerConn) error
	// DaemonRuns tells whether this machine's daemon does.
	DaemonRuns func() bool
	Spare      time.Duration // 0: DefaultSpare
	Log        *slog.Logger
}

// Proxy lets brokers of other machines in over QUIC, and to this machine's daemon. Any goroutine may call its methods.
type Proxy struct {
	o          Options
	id         *identity
	socket     socket
	transport  *quicgo.Transport
	listener   *quicgo.Listener
	tokens     tokens
	leases     *leases
	handshakes atomic.Int64

	serving context.Context // ends with Close
	stop    context.CancelFunc
	closing sync.Once
	all     sync.WaitGroup // connections
}

// Listen makes a proxy that listens and lets nobody in yet.
func Listen(o Options) (*Proxy, error) {
	id, err := newIdentity()
	if err != nil {
		return nil, err
	}
	s, err := openSocket(o.Net, o.Ports)
	if err != nil {
		return nil, err
	}
	if o.Spare == 0 {
		o.Spare = DefaultSpare
	}
	p := &Proxy{o: o, id: id, socket: s, leases: newLeases()}
	p.serving, p.stop = context.WithCancel(context.Background())
	var reset quicgo.StatelessResetKey
	_, _ = rand.Read(reset[:]) // never fails
	p.transport = &quicgo.Transport{
		Conn: s, StatelessResetKey: &reset, ConnContext: p.begins,
		VerifySourceAddress: func(net.Addr) bool { return p.handshakes.Load() >= maxHandshakes/2 },
	}
	p.listener, err = p.transport.Listen(id.serverTLS(p.mayCome), p.config())
	if err != nil {
		_ = s.Close()
		return nil, fault.Wrap(fault.Unavailable, err, "cannot listen on UDP")
	}
	return p, nil
}

func (p *Proxy) config() *quicgo.Config {
	c := config()
	c.MaxIncomingStreams = 1 + maxStreams
	c.InitialStreamReceiveWindow, c.InitialConnectionReceiveWindow = unknownWindow, unknownWindow
	c.AllowConnectionWindowIncrease = func(conn *quicgo.Conn, _ uint64) bool { return p.leases.trusts(conn) }
	return c
}

// Invite makes a token and returns the readiness line that has it. The caller clears it after use.
func (p *Proxy) Invite() ([]byte, error) {
	i := invitation{port: portOf(p.socket), pin: p.id.pin(), expires: tokenLifetime}
	i.nonce, i.token = p.tokens.issue()
	defer clear(i.token[:])
	return i.line()
}

// handshake is one under way, in the context of its connection.
type handshake struct{ done func() }

type handshakeKey struct{}

// begins counts handshakes, and refuses what is too many.
func (p *Proxy) begins(ctx context.Context, _ *quicgo.ClientInfo) (context.Context, error) {
	if p.handshakes.Add(1) > maxHandshakes {
		p.handshakes.Add(-1)
		return nil, errors.New("too many handshakes")
	}
	done := sync.OnceFunc(func() { p.handshakes.Add(-1) })
	context.AfterFunc(ctx, done)
	return context.WithValue(ctx, handshakeKey{}, handshake{done}), nil
}

// mayCome ends the handshake of who is not known, unless somebody is expected.
func (p *Proxy) mayCome(s tls.ConnectionState) error {
	cert, err := theirs(s)
	if err != nil {
		return err
	}
	if p.leases.knows(sha256.Sum256(cert.RawSubjectPublicKeyInfo), time.Now()) || p.tokens.outstanding() {
		return nil
	}
	return fault.New(fault.Denied, "the key is not known, and nobody is expected")
}

// Run lets brokers in until nobody needs the proxy any more (nil), or ctx ends (its cause). It may be called again.
func (p *Proxy) Run(ctx context.Context) error {
	accepting, stop := context.WithCancel(ctx)
	var accept sync.WaitGroup
	defer accept.Wait()
	defer stop()
	accept.Go(func() { p.accept(accepting) })
	timer := time.NewTicker(p.o.Spare / 2)
	defer timer.Stop()
	for needed := time.Now(); ; {
		now := time.Now()
		if p.needed(now) {
			needed = now
		} else if now.Sub(needed) >= p.o.Spare {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// needed reports whether anybody may come back to something: a broker that has a token, or a key and a daemon here.
func (p *Proxy) needed(now time.Time) bool {
	keys, streams := p.leases.state(now)
	return p.tokens.outstanding() || keys > 0 && (streams > 0 || p.o.DaemonRuns())
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		conn, err := p.listener.Accept(ctx)
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(conn) })
	}
}

// Close takes leave of who is connected, forgets all keys and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() {
	p.closing.Do(func() {
		p.tokens.close()
		for _, conn := range p.leases.close() {
			_ = conn.CloseWithError(codeEnding, "") // before any other goodbye; it does not wait for the other side
		}
		p.stop()
		p.all.Wait()
		_ = p.listener.Close()
		_ = p.transport.Close()
		_ = p.socket.Close()
		p.id.erase()
	})
}
