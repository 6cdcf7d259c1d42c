package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/netip"
	"slices"
	"sync"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// peer is a proxy that knows a key of this process: how it is found again, and the links to it.
type peer struct {
	name    string // of its machine, or an address
	ssh     uint16 // the port of the ssh server there
	port    uint16
	pin     fingerprint
	id      *identity
	network *network
	dead    func(*peer) // told, once, that it knows nobody any more

	mu     sync.Mutex   // a leaf
	addrs  []netip.Addr // that answered, the latest first; at most maxAddresses
	links  []*link      // that were not closed, in the order of their serials
	serial uint64
}

// converse begins the broker conversation.
type converse = func(ctx context.Context, carriage io.ReadWriteCloser) (ports.Link, error)

// dial makes a link. What it says first is the record of a broker that is not known yet; nil: the key is known.
func (k *peer) dial(ctx context.Context, talk converse, record []byte) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	var swapped error // why the certificate is not the right one
	var once sync.Mutex
	verify := func(s tls.ConnectionState) error {
		err := isPinned(s, k.pin)
		if err != nil {
			once.Lock()
			defer once.Unlock()
			swapped = err
		}
		return err
	}
	r, err := race(ctx, k, verify)
	if err != nil {
		once.Lock()
		defer once.Unlock()
		if swapped != nil {
			return nil, swapped
		}
		return nil, err
	}
	l, err := k.converse(ctx, talk, r, record)
	if err != nil {
		r.drop()
		return nil, err
	}
	l.repeats, l.room = newRepeats(r.conn), newRoom(r.conn, r.way.socket)
	k.join(l, r.addr)
	k.network.enter(l)
	return l, nil
}

// converse begins the conversation on a connection. A record goes first: then the link is there when that was answered.
func (k *peer) converse(ctx context.Context, talk converse, r raced, record []byte) (*link, error) {
	c, err := openCarriage(ctx, r.conn)
	if err == nil && len(record) > 0 {
		_, err = c.Write(record)
	}
	if err != nil {
		return nil, k.why(r.conn, err)
	}
	l := &link{conn: r.conn, way: r.way, peer: k, begun: make(chan struct{})}
	begin := func(ctx context.Context) {
		defer close(l.begun)
		if l.control, err = talk(ctx, c); err != nil {
			l.failed = k.why(r.conn, err)
		}
	}
	if len(record) > 0 {
		begin(ctx)
		return l, l.failed
	}
	// What the two speak was agreed the first time, with this very process: streams need not wait for its answer.
	ctx, l.stop = context.WithTimeout(context.WithoutCancel(ctx), protocol.HandshakeTimeout)
	l.beginning.Go(func() { begin(ctx) })
	return l, nil
}

// why is the reason for the end of a connection, which says more than what the conversation ended with.
func (k *peer) why(conn *quicgo.Conn, err error) error {
	for _, cause := range []error{context.Cause(conn.Context()), err} {
		var refused *quicgo.TransportError
		if errors.As(cause, &refused) && refused.Remote && refused.ErrorCode.IsCryptoError() {
			return fault.Wrap(fault.Denied, cause, "the proxy there does not let this broker in")
		}
		var end *quicgo.ApplicationError
		if errors.As(cause, &end) && end.Remote {
			return lost(end)
		}
	}
	return err
}

// gone reports whether an error of dial means that the proxy knows this key no more, or is another one.
func (k *peer) gone(err error) bool { return fault.KindOf(err) == fault.Denied }

// there reports whether the machine's ssh server lets a connection through.
func (k *peer) there(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return k.network.knock(ctx, k.name, k.ssh) == nil
}

// answered are the addresses that did.
func (k *peer) answered() []netip.Addr {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.addrs)
}

// ended reports whether the proxy has said that it ends.
func (k *peer) ended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.links, func(l *link) bool {
		code, ok := endOf(context.Cause(l.conn.Context()))
		return ok && code == codeEnding
	})
}

// busy reports whether there is a link that was not closed.
func (k *peer) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.links) > 0
}

// join notes a new link and the address that it goes to.
func (k *peer) join(l *link, addr netip.Addr) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addrs = slices.DeleteFunc(k.addrs, func(a netip.Addr) bool { return a == addr })
	k.addrs = slices.Insert(k.addrs, 0, addr)
	k.addrs = k.addrs[:min(len(k.addrs), maxAddresses)]
	k.serial++
	l.serial = k.serial
	k.links = append(k.links, l)
}

// left forgets a link that was closed.
func (k *peer) left(l *link) {
	k.mu.Lock()
	k.links = slices.DeleteFunc(k.links, func(other *link) bool { return other == l })
	k.mu.Unlock()
	if code, ok := endOf(context.Cause(l.conn.Context())); ok && code == codeEnding {
		k.dead(k)
	}
}

// inUse ends the links that are older than one that is used now: what waits on them goes on there, at once.
func (k *peer) inUse(l *link) {
	k.mu.Lock()
	var old []*link
	for _, other := range k.links {
		if other.serial < l.serial {
			old = append(old, other)
		}
	}
	k.mu.Unlock()
	for _, other := range old {
		other.yield()
	}
}
