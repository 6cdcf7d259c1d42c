package quic

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/vev-term/vev/internal/domain/fault"
)

// socket is a UDP socket of which no network's end is the end: what cannot be sent now is lost like any packet. It is bound
// to no address, so that it goes on when this machine gets another one.
type socket struct {
	*net.UDPConn
	batch *ipv4.PacketConn
	heard atomic.Int64 // when something came last, Unix time in nanoseconds
}

// Ports is a range of UDP ports, its ends included; the zero value leaves the choice to the system.
type Ports struct{ First, Last uint16 }

// listen opens a socket on one of the ports, over IPv4 and IPv6 where there are both.
func listen(ports Ports) (*socket, error) {
	var err error
	for port := int(ports.First); port <= int(ports.Last); port++ {
		var conn *net.UDPConn
		if conn, err = net.ListenUDP("udp", &net.UDPAddr{Port: port}); err == nil {
			s := &socket{UDPConn: conn, batch: ipv4.NewPacketConn(conn)}
			s.heard.Store(time.Now().UnixNano())
			return s, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if ports != (Ports{}) && errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.Wrap(fault.Limit, err, "no UDP port from %d to %d is free", ports.First, ports.Last)
	}
	return nil, fault.Wrap(fault.Unavailable, err, "cannot listen on UDP")
}

// port is where it listens.
func (s *socket) port() uint16 { return uint16(s.LocalAddr().(*net.UDPAddr).Port) }

// ReadBatch is what the QUIC library reads with.
func (s *socket) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := s.batch.ReadBatch(ms, flags)
	if n > 0 {
		s.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// WriteMsgUDP is what it writes with.
func (s *socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	n, oobn, err = s.UDPConn.WriteMsgUDP(b, oob, addr)
	if passes(err) {
		return len(b), len(oob), nil
	}
	return n, oobn, err
}

// passes reports whether an error of a write says no more than that the packet did not leave: no route, no address, no
// interface, no room, or a firewall's no. The next one may.
func passes(err error) bool {
	var errno syscall.Errno
	if err == nil || errors.Is(err, os.ErrClosed) || !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EADDRNOTAVAIL,
		syscall.ENOBUFS, syscall.EPERM, syscall.EACCES, syscall.ECONNREFUSED, syscall.EAGAIN:
		return true
	}
	return false
}
