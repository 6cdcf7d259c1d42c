package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
)

// maxAddresses is how many addresses of a host are tried at once.
const maxAddresses = 8

// addresses gives those that are known, and then those that the host's name leads to now, each once. It closes the channel.
func addresses(ctx context.Context, name string, known []netip.Addr, to chan<- netip.Addr) {
	defer close(to)
	given := make([]netip.Addr, 0, maxAddresses)
	give := func(addr netip.Addr) {
		if addr = addr.Unmap(); len(given) < maxAddresses && !slices.Contains(given, addr) {
			given = append(given, addr)
			to <- addr // has room for all
		}
	}
	for _, addr := range known {
		give(addr)
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		give(addr)
		return
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return // what is known may do; if nothing is, nothing was given
	}
	for _, addr := range found {
		give(addr)
	}
}

// raced is how the way to one address ended.
type raced struct {
	addr netip.Addr
	conn *quicgo.Conn
	way  *way // of conn
	err  error
}

// race dials every address at once; the first that answers has won.
func race(ctx context.Context, k *peer, verify func(tls.ConnectionState) error) (raced, error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	found := make(chan netip.Addr, maxAddresses)
	known := k.answered()
	all.Go(func() { addresses(ctx, k.name, known, found) })
	results := make(chan raced, maxAddresses)
	running := 0
	last := error(fault.New(fault.Unavailable, "no address of %s is known", fault.Clean(k.name)))
	for found != nil || running > 0 {
		select {
		case addr, ok := <-found:
			if !ok {
				found = nil
				continue
			}
			running++
			all.Go(func() { results <- k.run(ctx, addr, verify) })
		case r := <-results:
			running--
			if r.err == nil {
				cancel()
				for range running {
					(<-results).drop()
				}
				return r, nil
			}
			last = unreached(ctx, r.err)
		}
	}
	return raced{}, last
}

// run dials one address, from a socket of its own.
func (k *peer) run(ctx context.Context, addr netip.Addr, verify func(tls.ConnectionState) error) raced {
	w, err := newWay(k.network.in)
	if err != nil {
		return raced{err: err}
	}
	to := net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, k.port))
	conn, err := w.transport.Dial(ctx, to, k.id.clientTLS(verify), clientConfig())
	if err != nil {
		w.close()
		return raced{err: err}
	}
	return raced{addr: addr, conn: conn, way: w}
}

// drop closes what came second.
func (r raced) drop() {
	if r.conn != nil {
		_ = r.conn.CloseWithError(codeDone, "")
		r.way.close()
	}
}

// unreached is why no handshake came about, as a fault.
func unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return gaveUp(ctx)
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	var refused *quicgo.TransportError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == quicgo.ConnectionRefused && refused.Remote:
		return fault.Wrap(fault.Limit, err, "the proxy there has too many handshakes to make")
	case errors.As(err, &refused) && refused.ErrorCode.IsCryptoError() && refused.Remote:
		return fault.Wrap(fault.Denied, err, "the proxy there does not let this broker in")
	}
	return fault.Wrap(fault.Unavailable, err, "no answer over UDP")
}
