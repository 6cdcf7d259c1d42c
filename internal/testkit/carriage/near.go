//go:build unix

package carriage

import (
	"context"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

const (
	software = "vev test carriage"
	farHost  = "far"
	// dialTimeout gives up an attempt whose first packet was lost about when the kernel sends
	// another: a new attempt does the same.
	dialTimeout = 1200 * time.Millisecond
)

// Near is the broker of the machine it runs on, until ctx ends: it takes VEV_HOME's broker.sock
// and leads whoever comes to the helper behind the TCP address. ready, which may be nil, is
// called when the socket is there.
func Near(ctx context.Context, addr string, ready func()) error {
	return Broker(ctx, broker.Remote{SSH: tcp{addr}}, func(c ports.BrokerConn) ports.BrokerConn { return farther{c} }, ready)
}

// Broker is the broker of the machine it runs on, as Near, with any way to others. What a client asks for is asked as what
// lead makes of it.
func Broker(ctx context.Context, remote broker.Remote, lead func(ports.BrokerConn) ports.BrokerConn, ready func()) error {
	dir, err := rundir.Open()
	if err != nil {
		return err
	}
	claim, err := dir.Claim(ctx, "broker")
	if err != nil {
		return err
	}
	b := broker.New(broker.Options{Version: software, Remote: remote})
	endpoint := brokeripc.Broker{Software: software, Epoch: 1, Numbers: b.Numbers}
	var all sync.WaitGroup
	all.Go(func() {
		<-ctx.Done()
		for _, late := range claim.Retire() {
			_ = late.Close()
		}
	})
	if ready != nil {
		ready()
	}
	for {
		conn, err := claim.Accept()
		if err != nil {
			break // retired
		}
		all.Go(func() {
			if client, err := brokeripc.Accept(ctx, relayed{conn.(*net.UnixConn)}, endpoint); err == nil {
				_ = b.Serve(ctx, lead(client)) // its end is the client's affair
			}
		})
	}
	all.Wait()
	b.Close()
	return claim.Close()
}

// relayed is a Unix socket over which no descriptors are offered: nothing is on this machine.
type relayed struct{ *net.UnixConn }

// farther makes each stream of a client one to the far host.
type farther struct{ ports.BrokerConn }

func (f farther) Accept(ctx context.Context) (ports.StreamRequest, error) {
	r, err := f.BrokerConn.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return toFar{r}, nil
}

type toFar struct{ ports.StreamRequest }

func (toFar) Host() string { return farHost }

// tcp dials links over TCP.
type tcp struct{ addr string }

// Attempts: one costs a round trip and a few packets.
func (t tcp) Attempts() (time.Duration, int) { return 150 * time.Millisecond, 8 }

func (t tcp) DialLink(ctx context.Context, _ string, _ ports.Ask) (ports.Link, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the far machine does not answer")
	}
	link, err := brokeripc.Dial(ctx, plain{conn.(*net.TCPConn)}, software)
	if err != nil {
		return nil, err
	}
	return link, nil
}

// plain is a connection with what a pipe to ssh has: no buffer of the kernel's to set.
type plain struct{ conn *net.TCPConn }

var _ io.ReadWriteCloser = plain{}

func (p plain) Read(b []byte) (int, error)            { return p.conn.Read(b) }
func (p plain) Write(b []byte) (int, error)           { return p.conn.Write(b) }
func (p plain) Close() error                          { return p.conn.Close() }
func (p plain) SetReadDeadline(t time.Time) error     { return p.conn.SetReadDeadline(t) }
func (p plain) SyscallConn() (syscall.RawConn, error) { return p.conn.SyscallConn() }
