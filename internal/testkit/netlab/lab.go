//go:build linux

package netlab

import (
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/testkit/simnet"
)

// Lab is two hosts and the link between them. Any goroutine may call its methods.
type Lab struct {
	Near, Far *Host

	up, down *direction
	stop     int // an eventfd that ends both directions
	threads  sync.WaitGroup
}

// Counters are those of one direction.
type Counters struct {
	Packets, Bytes int64 // that were sent: whole IP packets
	Dropped        int64 // packets of them that never arrived
}

// New makes a lab; up are the conditions from Near to Far. The seed decides what is lost. The
// error says what the machine lacks.
func New(seed uint64, up, down simnet.Conditions) (l *Lab, err error) {
	l = &Lab{stop: -1}
	defer func() {
		if err != nil {
			l.Close()
			err = fmt.Errorf("netlab: %w", err)
		}
	}()
	if l.Near, err = newHost(netip.AddrFrom4([4]byte{10, 77, 0, 1})); err != nil {
		return l, err
	}
	if l.Far, err = newHost(netip.AddrFrom4([4]byte{10, 77, 0, 2})); err != nil {
		return l, err
	}
	if l.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return l, err
	}
	l.up = newDirection(seed, l.Near.tun, l.Far.tun, l.stop, up)
	l.down = newDirection(seed+1, l.Far.tun, l.Near.tun, l.stop, down)
	l.threads.Go(l.up.run)
	l.threads.Go(l.down.run)
	return l, nil
}

// Set changes the conditions from now on. What is on its way arrives as it would have.
func (l *Lab) Set(up, down simnet.Conditions) {
	l.up.set(up)
	l.down.set(down)
}

// BlockUDP has UDP dropped in both directions, as many a firewall does, or not any more.
func (l *Lab) BlockUDP(on bool) {
	l.up.blockUDP(on)
	l.down.blockUDP(on)
}

// Counters are how much has been sent, in each direction.
func (l *Lab) Counters() (up, down Counters) { return l.up.counters(), l.down.counters() }

// Close takes the link down. Processes on the hosts go on, with nobody to talk to.
func (l *Lab) Close() {
	if l.stop >= 0 {
		_, _ = unix.Write(l.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		l.threads.Wait()
		_ = unix.Close(l.stop)
		l.stop = -1
	}
	for _, h := range []*Host{l.Near, l.Far} {
		if h != nil {
			h.close()
		}
	}
	l.Near, l.Far = nil, nil
}
