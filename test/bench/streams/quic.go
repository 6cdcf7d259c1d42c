package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"math/big"
	"sync"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	loopback = "127.0.0.1"
	benchALP = "streams"
)

// listenQUIC is a bare server, as the library makes it.
func listenQUIC() (string, func() (session, error), error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return "", nil, err
	}
	l, err := quicgo.ListenAddr(loopback+":0", &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{benchALP},
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
	}, &quicgo.Config{MaxIncomingStreams: 2 * manyStreams})
	if err != nil {
		return "", nil, err
	}
	return l.Addr().String(), func() (session, error) {
		conn, err := l.Accept(context.Background())
		if err != nil {
			return session{}, err
		}
		return session{
			open:  func() (io.ReadWriteCloser, error) { return conn.AcceptStream(context.Background()) },
			close: func() error { return conn.CloseWithError(0, "") },
		}, nil
	}, nil
}

func dialQUIC(addr string) (session, error) {
	conn, err := quicgo.DialAddr(context.Background(), addr, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{benchALP}, InsecureSkipVerify: true, // both ends are ours
	}, nil)
	if err != nil {
		return session{}, err
	}
	return session{
		open:  func() (io.ReadWriteCloser, error) { return conn.OpenStream() },
		close: func() error { return conn.CloseWithError(0, "") },
	}, nil
}

// listenVevQUIC is vev's proxy. Where it listens is what it tells who comes through ssh.
func listenVevQUIC() (string, func() (session, error), error) {
	sessions := make(chan session)
	proxy, err := quic.Listen(quic.Options{
		Accept: func(ctx context.Context, c io.ReadWriteCloser) (ports.BrokerConn, error) {
			numbers := func() protocol.BrokerNumbers { return protocol.BrokerNumbers{} }
			s, err := brokeripc.Accept(ctx, c, brokeripc.Broker{Software: "bench", Epoch: 1, Numbers: numbers})
			if err != nil {
				return nil, err
			}
			return s, nil
		},
		Serve: func(ctx context.Context, conn ports.BrokerConn) error {
			ended := make(chan struct{})
			end := sync.OnceFunc(func() { close(ended) })
			sessions <- session{
				open: func() (io.ReadWriteCloser, error) {
					r, err := conn.Accept(ctx)
					if err != nil {
						end()
						return nil, err
					}
					return r.Open()
				},
				close: func() error { return conn.Close(protocol.Failure{Text: "done"}) },
			}
			<-ended
			return conn.Close(protocol.Failure{Text: "done"})
		},
		DaemonRuns: func() bool { return true },
		Log:        slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", nil, err
	}
	line, err := proxy.Invite()
	if err != nil {
		return "", nil, err
	}
	go func() { _ = proxy.Run(context.Background()) }()
	return string(line[:len(line)-1]), func() (session, error) { return <-sessions, nil }, nil
}

// invited is a Dialer's ssh: it leads to the proxy that has said a line. The first link of a proxy's takes it, later ones come
// back by their key.
type invited struct{ line string }

func (i invited) RunRole(context.Context, string, string, int, ports.Ask) ([]byte, error) {
	return []byte(i.line), nil
}

func (i invited) locate(context.Context, domain.Host) (ports.Location, error) {
	return ports.Location{Name: loopback}, nil
}

var dialers = map[string]*quic.Dialer{} // of each proxy

func dialVevQUIC(addr string) (session, error) {
	d := dialers[addr]
	if d == nil {
		ssh := invited{addr}
		d = &quic.Dialer{Roles: ssh, Locate: ssh.locate, Converse: converse}
		dialers[addr] = d
	}
	l, err := d.DialLink(context.Background(), "far", nil)
	if err != nil {
		return session{}, err
	}
	return linkSession(l), nil
}

func converse(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
	client, err := brokeripc.Dial(ctx, c, "bench")
	if err != nil {
		return nil, err
	}
	return client, nil
}

func linkSession(l ports.Link) session {
	return session{
		open: func() (io.ReadWriteCloser, error) {
			return l.OpenStream(context.Background(), protocol.LocalHost, protocol.StartIfNeeded, nil)
		},
		close: l.Close,
	}
}
