package quic

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Net is the network that a Dialer or a Proxy is in. Tests have others than the system's, in virtual time.
type Net interface {
	// Listen opens a UDP socket on one of the ports.
	Listen(ports Ports) (net.PacketConn, error)
	// Changes gives something to read for every change of this machine's part of it.
	Changes() (io.ReadCloser, error)
	// Knock returns nil when an ssh server has let a connection through.
	Knock(ctx context.Context, name string, port uint16) error
}

// Ports is a range of UDP ports, its ends included; the zero value leaves the choice to the network.
type Ports struct{ First, Last uint16 }

// socket is a Net's, or the system's, that knows when something came last, and what it has taken.
type socket interface {
	net.PacketConn
	lastHeard() time.Time
	sends() *taken
}

// openSocket opens a socket of n; nil: the system's.
func openSocket(n Net, ports Ports) (socket, error) {
	if n == nil {
		return listen(ports)
	}
	conn, err := n.Listen(ports)
	if err != nil {
		return nil, err
	}
	s := &otherSocket{PacketConn: conn}
	s.hear()
	return s, nil
}

// portOf is where a socket listens.
func portOf(s socket) uint16 { return uint16(s.LocalAddr().(*net.UDPAddr).Port) }

// heard is when something came last, Unix time in nanoseconds.
type heard struct{ at atomic.Int64 }

func (h *heard) hear()                { h.at.Store(time.Now().UnixNano()) }
func (h *heard) lastHeard() time.Time { return time.Unix(0, h.at.Load()) }

type otherSocket struct {
	net.PacketConn
	heard
	taken
}

// ReadFrom implements net.PacketConn.
func (s *otherSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := s.PacketConn.ReadFrom(b)
	if err == nil {
		s.hear()
	}
	return n, from, err
}

// WriteTo implements net.PacketConn.
func (s *otherSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	n, err := s.PacketConn.WriteTo(b, to)
	s.take(len(b))
	return n, err
}

// systemSocket is a UDP socket of which no network's end is the end: what cannot be sent now is lost like any packet. It is bound
// to no address, so that it goes on when this machine gets another one.
type systemSocket struct {
	*net.UDPConn
	batch *ipv4.PacketConn
	heard
	taken
}

// listen opens a socket on one of the ports, over IPv4 and IPv6 where there are both.
func listen(ports Ports) (*systemSocket, error) {
	var err error
	for port := int(ports.First); port <= int(ports.Last); port++ {
		var conn *net.UDPConn
		if conn, err = net.ListenUDP("udp", &net.UDPAddr{Port: port}); err == nil {
			s := &systemSocket{UDPConn: conn, batch: ipv4.NewPacketConn(conn)}
			s.hear()
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

// ReadBatch is what the QUIC library reads with.
func (s *systemSocket) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := s.batch.ReadBatch(ms, flags)
	if n > 0 {
		s.hear()
	}
	return n, err
}

// WriteMsgUDP is what it writes with.
func (s *systemSocket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	n, oobn, err = s.UDPConn.WriteMsgUDP(b, oob, addr)
	s.take(len(b))
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
