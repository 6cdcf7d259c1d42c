package quic

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// BootstrapRole is the role that a Dialer runs on another machine to be let in.
	BootstrapRole = "_broker-mux-quic-bootstrap"

	// attemptEvery and maxAttempts: a packet a quarter of a second, on average, finds a link that is back soon; what it
	// costs where there is none is some KB a second.
	attemptEvery = 250 * time.Millisecond
	maxAttempts  = 8
	// attemptTimeout is how long one attempt may take. Its own packets come at longer and longer intervals.
	attemptTimeout = 3 * time.Second
	// beginAgain is how long nobody is led by ssh to a proxy that does not answer.
	beginAgain = 10 * time.Second
)

// Dialer makes links over QUIC. The first one to a host takes the user's ssh, which leads to a proxy there; later ones
// find that proxy by themselves, as long as it knows this process's key. Any goroutine may call its methods.
type Dialer struct {
	// Roles runs the bootstrap. Set before the first call, never changed, as the rest.
	Roles ports.RoleRunner
	// Locate says where a host is: the name or address that the user's ssh has for it.
	Locate func(ctx context.Context, host domain.Host) (ports.Location, error)
	// Converse begins the broker conversation on the control stream, which is its own from there on.
	Converse func(ctx context.Context, carriage io.ReadWriteCloser) (ports.Link, error)
	// Net is the network; nil: the system's.
	Net Net

	network network

	mu    sync.Mutex // a leaf
	hosts map[string]*host
}

var _ ports.BesideDialer = (*Dialer)(nil)

// host is what is known of a host, guarded by Dialer.mu but for what turn says.
type host struct {
	turn  chan struct{} // cap 1: held by who asks ssh, who owns the next two
	tried time.Time     // when ssh led to a proxy that did not answer
	why   error         // which is what it came to

	peer *peer // nil: there is none that knows us
}

// Attempts implements ports.LinkDialer.
func (d *Dialer) Attempts() (every time.Duration, most int) { return attemptEvery, maxAttempts }

// Resumable reports whether DialLink to a host begins without ssh: a proxy there knows this process.
func (d *Dialer) Resumable(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hosts[name]
	return h != nil && h.peer != nil && !h.peer.ended()
}

// DialLink implements ports.LinkDialer. Where no proxy knows this process, its faults are also those of
// ports.RoleRunner. Denied means that what answers there is not the proxy that ssh led to.
func (d *Dialer) DialLink(ctx context.Context, name string, ask ports.Ask) (ports.Link, error) {
	return d.dial(ctx, name, ask, nil)
}

// DialBeside implements ports.BesideDialer.
func (d *Dialer) DialBeside(ctx context.Context, name string, beside ports.Link) (ports.Link, error) {
	return d.dial(ctx, name, nil, beside)
}

func (d *Dialer) dial(ctx context.Context, name string, ask ports.Ask, beside ports.Link) (ports.Link, error) {
	to, err := domain.ParseHost(name)
	if err != nil {
		return nil, err
	}
	h := d.host(name)
	if l, err := d.resume(ctx, h); l != nil || err != nil {
		return unlessNil(l, err)
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, gaveUp(ctx)
	}
	if l, err := d.resume(ctx, h); l != nil || err != nil { // somebody was faster
		return unlessNil(l, err)
	}
	return unlessNil(d.begin(ctx, h, to, ask, beside))
}

// unlessNil keeps a nil pointer from becoming a link that is not nil.
func unlessNil(l *link, err error) (ports.Link, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// host is the record of a host, made if there is none.
func (d *Dialer) host(name string) *host {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hosts == nil {
		d.hosts, d.network.in = map[string]*host{}, d.Net
	}
	h := d.hosts[name]
	if h == nil {
		d.makeRoom()
		h = &host{turn: make(chan struct{}, 1)}
		d.hosts[name] = h
	}
	return h
}

// makeRoom forgets a host without links if as many are known as may be, with mu held.
func (d *Dialer) makeRoom() {
	if len(d.hosts) < protocol.MaxHosts {
		return
	}
	for name, h := range d.hosts {
		if len(h.turn) == 0 && (h.peer == nil || !h.peer.busy()) {
			delete(d.hosts, name)
			return
		}
	}
}

// resume dials the proxy that is known; nil and no error: there is none, or none that knows us any more. One that is silent
// is taken for gone when it stays so after its machine's ssh server has let a connection through: then the network is
// there and the proxy is not, or UDP does not get through, which ssh and a token will tell.
func (d *Dialer) resume(ctx context.Context, h *host) (*link, error) {
	for proven := false; ; proven = true {
		d.mu.Lock()
		k := h.peer
		d.mu.Unlock()
		if k == nil {
			return nil, nil
		}
		if k.ended() {
			d.forget(h, k)
			return nil, nil
		}
		l, err := k.dial(ctx, d.Converse, nil)
		switch {
		case err == nil:
			return l, nil
		case k.gone(err) || proven && ctx.Err() == nil:
			d.forget(h, k)
			return nil, nil
		case ctx.Err() != nil || !k.there(ctx):
			return nil, err
		}
	}
}

// Forget forgets the proxy of a host: the next link to it begins with ssh.
func (d *Dialer) Forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[name]; h != nil {
		h.peer = nil
	}
}

func (d *Dialer) forget(h *host, k *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.peer == k {
		h.peer = nil
	}
}

// begin has ssh lead to a proxy, or a link over ssh that is there, and is let in with the token that it gives.
func (d *Dialer) begin(ctx context.Context, h *host, to domain.Host, ask ports.Ask, beside ports.Link) (*link, error) {
	if h.why != nil && ask == nil && time.Since(h.tried) < beginAgain {
		return nil, h.why
	}
	h.why = nil
	at, err := d.Locate(ctx, to)
	if err != nil {
		return nil, err
	}
	Conceal() // from here on there is something to hide
	line, err := d.invitation(ctx, to, ask, beside)
	if err != nil {
		return nil, err
	}
	i, err := parseReady(line)
	clear(line)
	if err != nil {
		return nil, err
	}
	id, err := newIdentity()
	if err != nil {
		return nil, err
	}
	record := (&authRecord{nonce: i.nonce, token: i.token, public: id.public}).append(nil)
	defer clear(record)
	defer clear(i.token[:])
	ctx, cancel := context.WithTimeout(ctx, i.expires)
	defer cancel()
	k := &peer{name: at.Name, ssh: at.Port, port: i.port, pin: i.pin, id: id, network: &d.network, dead: func(k *peer) { d.forget(h, k) }}
	l, err := k.dial(ctx, d.Converse, record)
	if err != nil {
		id.erase()
		h.tried, h.why = time.Now(), err
		return nil, err
	}
	d.mu.Lock()
	h.peer = k
	d.mu.Unlock()
	return l, nil
}

// invitation is the proxy's readiness line.
func (d *Dialer) invitation(ctx context.Context, to domain.Host, ask ports.Ask, beside ports.Link) ([]byte, error) {
	if beside != nil {
		line, err := readInvitation(ctx, beside)
		if f := new(fault.Error); err == nil || !(errors.As(err, &f) && f.Peer && f.Kind == fault.NotFound) && beside.Err() == nil {
			return line, err
		} // an older vev knows no such host
	}
	return d.Roles.RunRole(ctx, to.String(), BootstrapRole, MaxReadyBytes, ask)
}

// readInvitation has the other end of a link over ssh invite to the proxy there.
func readInvitation(ctx context.Context, beside ports.Link) ([]byte, error) {
	s, err := beside.OpenStream(ctx, protocol.ProxyHost, protocol.ExistingOnly, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	line, err := io.ReadAll(io.LimitReader(s, MaxReadyBytes+1)) // one over the limit is refused as such
	switch {
	case ctx.Err() != nil:
		return nil, fault.Wrap(fault.Timeout, context.Cause(ctx), "vev says nothing there")
	case err != nil:
		return nil, err
	case len(line) == 0:
		return nil, fault.New(fault.Unavailable, "the QUIC proxy there lets nobody in")
	}
	return line, nil
}
