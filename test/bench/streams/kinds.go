package main

import (
	"context"
	"io"

	"github.com/hashicorp/yamux"
	"github.com/xtaci/smux"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/protocol"
)

// session carries streams; its two ends are made from the two ends of a connection.
type session struct {
	open  func() (io.ReadWriteCloser, error)
	close func() error
}

// kind is one way to carry streams, over a Unix socket if nothing else is said.
type kind struct {
	name   string
	single bool // one stream a connection: no measurement with several
	client func(io.ReadWriteCloser) (session, error)
	server func(io.ReadWriteCloser) (session, error)

	listen func() (addr string, accept func() (session, error), err error) // in place of the socket and server; or nil
	dial   func(addr string) (session, error)                              // in place of client; or nil
	ssh    bool                                                            // over the standard input and output of an ssh
}

var kinds = []kind{
	bare("unix", func(c io.ReadWriteCloser) io.ReadWriteCloser { return c }),
	bare("by hand", func(c io.ReadWriteCloser) io.ReadWriteCloser { return newHand(c) }),
	sockets(),
	{name: "yamux", client: yamuxClient, server: yamuxServer},
	{name: "smux v1", client: smuxClient(1), server: smuxServer(1)},
	{name: "smux v2", client: smuxClient(2), server: smuxServer(2)},
	{name: "vev", client: vevClient, server: vevServer},
	{name: "quic-go", listen: listenQUIC, dial: dialQUIC},
	{name: "vev over QUIC", listen: listenVevQUIC, dial: dialVevQUIC},
	behindSSH(bare("ssh cat", func(c io.ReadWriteCloser) io.ReadWriteCloser { return c })),
	{name: "vev over ssh", client: vevClient, server: vevServer, ssh: true},
}

func behindSSH(k kind) kind {
	k.ssh = true
	return k
}

// overSocket reports whether it is carried by one Unix socket.
func (k kind) overSocket() bool { return k.client != nil && !k.ssh }

func kindOf(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// bare is a connection that is its one stream.
func bare(name string, wrap func(io.ReadWriteCloser) io.ReadWriteCloser) kind {
	end := func(c io.ReadWriteCloser) (session, error) {
		taken := false
		return session{
			open: func() (io.ReadWriteCloser, error) {
				if taken {
					return nil, io.EOF
				}
				taken = true
				return wrap(c), nil
			},
			close: c.Close,
		}, nil
	}
	return kind{name: name, single: true, client: end, server: end}
}

func yamuxConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	return c
}

func yamuxClient(c io.ReadWriteCloser) (session, error) {
	s, err := yamux.Client(c, yamuxConfig())
	if err != nil {
		return session{}, err
	}
	return session{func() (io.ReadWriteCloser, error) { return s.OpenStream() }, s.Close}, nil
}

func yamuxServer(c io.ReadWriteCloser) (session, error) {
	s, err := yamux.Server(c, yamuxConfig())
	if err != nil {
		return session{}, err
	}
	return session{func() (io.ReadWriteCloser, error) { return s.AcceptStream() }, s.Close}, nil
}

func smuxConfig(version int) *smux.Config {
	c := smux.DefaultConfig()
	c.Version = version
	return c
}

func smuxClient(version int) func(io.ReadWriteCloser) (session, error) {
	return func(c io.ReadWriteCloser) (session, error) {
		s, err := smux.Client(c, smuxConfig(version))
		if err != nil {
			return session{}, err
		}
		return session{func() (io.ReadWriteCloser, error) { return s.OpenStream() }, s.Close}, nil
	}
}

func smuxServer(version int) func(io.ReadWriteCloser) (session, error) {
	return func(c io.ReadWriteCloser) (session, error) {
		s, err := smux.Server(c, smuxConfig(version))
		if err != nil {
			return session{}, err
		}
		return session{func() (io.ReadWriteCloser, error) { return s.AcceptStream() }, s.Close}, nil
	}
}

func vevClient(c io.ReadWriteCloser) (session, error) {
	s, err := brokeripc.Dial(context.Background(), c, "bench")
	if err != nil {
		return session{}, err
	}
	open := func() (io.ReadWriteCloser, error) {
		return s.OpenStream(context.Background(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	}
	return session{open, s.Close}, nil
}

func vevServer(c io.ReadWriteCloser) (session, error) {
	numbers := func() protocol.BrokerNumbers { return protocol.BrokerNumbers{} }
	s, err := brokeripc.Accept(context.Background(), c, brokeripc.Broker{Software: "bench", Epoch: 1, Numbers: numbers})
	if err != nil {
		return session{}, err
	}
	open := func() (io.ReadWriteCloser, error) {
		r, err := s.Accept(context.Background())
		if err != nil {
			return nil, err
		}
		return r.Open()
	}
	return session{open, func() error { return s.Close(protocol.Failure{Text: "done"}) }}, nil
}
