package brokeripc

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testBroker() Broker {
	return Broker{
		Software: "vev test-broker", Epoch: 77,
		Numbers: func() protocol.BrokerNumbers { return protocol.BrokerNumbers{Pid: 42, Version: "test", Streams: 3} },
	}
}

// connect sets both ends up on a carriage.
func connect(t testing.TB, a, b io.ReadWriteCloser) (*Client, *Server) {
	t.Helper()
	type accepted struct {
		s   *Server
		err error
	}
	ch := make(chan accepted, 1)
	go func() {
		s, err := Accept(context.Background(), b, testBroker())
		ch <- accepted{s, err}
	}()
	c, err := Dial(context.Background(), a, "vev test-client")
	require.NoError(t, err)
	got := <-ch
	require.NoError(t, got.err)
	return c, got.s
}

// open opens one stream and returns its two ends.
func open(t testing.TB, c *Client, s *Server) (client, server ports.Stream) {
	t.Helper()
	ch := make(chan ports.Stream, 1)
	go func() {
		r, err := s.Accept(context.Background())
		if err != nil {
			t.Error(err)
			close(ch)
			return
		}
		st, err := r.Open()
		if err != nil {
			t.Error(err)
		}
		ch <- st
	}()
	client, err := c.OpenStream(context.Background(), "host", protocol.ExistingOnly, nil)
	require.NoError(t, err)
	return client, <-ch
}

// part ends a connection from the client's side and waits for both ends.
func part(c *Client, s *Server) {
	c.Close()
	<-s.Done()
}

// scripted is the other end of a connection, spoken frame by frame: what a test sends, however
// wrong, and what it must get.
type scripted struct {
	t      testing.TB
	rw     io.ReadWriteCloser
	rd     *streamframe.Reader
	server bool // it plays the broker
	scope  protocol.Scope
	turn   chan struct{} // held while a frame is sent
}

// script accepts a conversation and returns the scripted client's end of it.
func script(t testing.TB, a, b io.ReadWriteCloser) (*scripted, *Server) {
	t.Helper()
	p := &scripted{t: t, rw: a, rd: streamframe.NewReader(a), turn: make(chan struct{}, 1)}
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		_, err := streamframe.ClientHandshake(p.rd, a, scriptHello(protocol.BrokerClient))
		if err != nil {
			t.Error(err)
			return
		}
		p.send(&protocol.Register{Client: "script"})
		if m, ok := p.receive().(*protocol.Registered); ok {
			p.scope = m.Scope
		}
	}()
	s, err := Accept(context.Background(), b, testBroker())
	require.NoError(t, err)
	<-ready
	return p, s
}

// scriptBroker dials and returns the scripted broker's end.
func scriptBroker(t testing.TB, a, b io.ReadWriteCloser) (*Client, *scripted) {
	t.Helper()
	p := &scripted{t: t, rw: b, rd: streamframe.NewReader(b), server: true, scope: protocol.Scope{BrokerEpoch: 9}, turn: make(chan struct{}, 1)}
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		_, err := streamframe.ServerHandshake(p.rd, b, scriptHello(protocol.BrokerServer))
		if err != nil {
			t.Error(err)
			return
		}
		p.receive()
		p.send(&protocol.Registered{Scope: p.scope})
	}()
	c, err := Dial(context.Background(), a, "vev test-client")
	require.NoError(t, err)
	<-ready
	return c, p
}

func scriptHello(role protocol.Role) protocol.Hello {
	h := protocol.NewHello(role, "script")
	h.Features = protocol.FeaturePings | protocol.FeatureReports
	return h
}

func (p *scripted) ref(id protocol.StreamID) protocol.StreamRef {
	return protocol.StreamRef{Scope: p.scope, ID: id}
}

func (p *scripted) send(m any) {
	p.t.Helper()
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	err := streamframe.NewWriter(p.rw).WriteWith(func(dst []byte) ([]byte, error) {
		if p.server {
			return brokerwire.AppendServer(dst, m.(protocol.BrokerServerMessage))
		}
		return brokerwire.AppendClient(dst, m.(protocol.BrokerClientMessage))
	})
	if err != nil {
		p.t.Errorf("sending %T: %v", m, err)
	}
}

// receive returns the next message, nil at the end.
func (p *scripted) receive() any {
	p.t.Helper()
	body, err := p.rd.ReadFrame(protocol.MaxControlBytes)
	if err != nil {
		return nil
	}
	var m any
	if p.server {
		m, err = brokerwire.DecodeClient(body)
	} else {
		m, err = brokerwire.DecodeServer(body)
	}
	if err != nil {
		p.t.Errorf("receiving: %v", err)
	}
	return m
}

// wants receives a message of type M, or fails saying why it should have come.
func wants[M any](p *scripted, reason string) M {
	p.t.Helper()
	got := p.receive()
	m, ok := got.(M)
	if !ok {
		p.t.Errorf("%s: got %T %+v", reason, got, got)
	}
	return m
}

func (p *scripted) wantEnd(reason string) {
	p.t.Helper()
	if m := p.receive(); m != nil {
		p.t.Errorf("%s: got %T %+v", reason, m, m)
	}
}

// accept grants the next stream.
func accept(t testing.TB, s *Server) ports.Stream {
	t.Helper()
	r, err := s.Accept(context.Background())
	require.NoError(t, err)
	st, err := r.Open()
	require.NoError(t, err)
	return st
}

// On a pipe that holds buffer bytes each way.

func connectOn(t testing.TB, buffer int) (*Client, *Server) {
	a, b := simnet.Pipe(buffer)
	return connect(t, a, b)
}

func scriptOn(t testing.TB, buffer int) (*scripted, *Server) {
	a, b := simnet.Pipe(buffer)
	return script(t, a, b)
}

func scriptBrokerOn(t testing.TB, buffer int) (*Client, *scripted) {
	a, b := simnet.Pipe(buffer)
	return scriptBroker(t, a, b)
}

// sendUnusual sends stream data with an unknown field in front, as a newer peer may.
func (p *scripted) sendUnusual(id protocol.StreamID, data []byte) {
	b, err := brokerwire.AppendClient(nil, &protocol.StreamData{Ref: p.ref(id), Data: data})
	if err != nil {
		p.t.Error(err)
	}
	tag, n := binary.Uvarint(b)
	_, m := binary.Uvarint(b[n:])
	body := append([]byte{15 << 3, 1}, b[n+m:]...)
	b = binary.AppendUvarint(binary.AppendUvarint(nil, tag), uint64(len(body)))
	if err := streamframe.NewWriter(p.rw).Write(b, body); err != nil {
		p.t.Error(err)
	}
}

// preamble sends another one.
func (p *scripted) preamble() {
	h := &half{Writer: p.rw}
	_, err := streamframe.ClientHandshake(streamframe.NewReader(h), h, protocol.NewHello(protocol.BrokerClient, "script"))
	if !errors.Is(err, io.EOF) {
		p.t.Error(err)
	}
}

// half is a carriage that has nothing to read.
type half struct{ io.Writer }

func (*half) Read([]byte) (int, error) { return 0, io.EOF }

// pace connects two ends with a carriage of a rate: bytes each tick, from b to a.
func pace(bytes int, tick time.Duration) (a, b *simnet.End) {
	a, near := simnet.Pipe(bytes)
	far, b := simnet.Pipe(bytes)
	go func() {
		p := make([]byte, bytes)
		for {
			n, err := far.Read(p)
			if err != nil {
				near.Close()
				return
			}
			time.Sleep(tick * time.Duration(n) / time.Duration(bytes))
			if _, err := near.Write(p[:n]); err != nil {
				far.Close()
				return
			}
		}
	}()
	go func() {
		io.Copy(far, near)
		far.Close()
	}()
	return a, b
}

// dialOpening is Dial that asks for a stream as it begins, unless o is nil.
func dialOpening(ctx context.Context, rw io.ReadWriteCloser, person bool, o *protocol.Opening) (*Client, error) {
	return dial(ctx, rw, "vev", answering(person), o, false)
}
