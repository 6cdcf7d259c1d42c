package brokeripc

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// sockets is a connected pair of Unix sockets.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "pair")
		c, err := net.FileConn(f)
		require.NoError(t, err)
		f.Close()
		ends[i] = c.(*net.UnixConn)
	}
	t.Cleanup(func() { ends[0].Close(); ends[1].Close() })
	return ends[0], ends[1]
}

// talk is a client and a broker end on one carriage.
func talk(t *testing.T, client, broker io.ReadWriteCloser) (*Client, *Server) {
	t.Helper()
	got := make(chan *Server, 1)
	go func() {
		s, err := Accept(t.Context(), broker, Broker{Software: "broker", Epoch: 1})
		if err != nil {
			s = nil
		}
		got <- s
	}()
	c, err := Dial(t.Context(), client, "client")
	require.NoError(t, err)
	s := <-got
	require.NotNil(t, s)
	t.Cleanup(func() { _ = c.Close(); _ = s.Close(protocol.Failure{}) })
	return c, s
}

// hand opens a stream at c that s grants by giving conn away.
func hand(t *testing.T, c *Client, s *Server, conn io.ReadWriteCloser) (client, broker ports.Stream) {
	t.Helper()
	type answer struct {
		s   ports.Stream
		err error
	}
	granted := make(chan answer, 1)
	go func() {
		r, err := s.Accept(t.Context())
		if err != nil {
			granted <- answer{err: err}
			return
		}
		stream, ok, err := r.Hand(conn)
		if !ok {
			stream, err = r.Open()
		}
		granted <- answer{stream, err}
	}()
	client, err := c.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.NoError(t, err)
	a := <-granted
	require.NoError(t, a.err)
	return client, a.s
}

func TestAClientIsHandedTheDaemonsConnection(t *testing.T) {
	near, far := sockets(t)
	c, s := talk(t, near, far)
	ours, daemon := sockets(t)
	client, broker := hand(t, c, s, ours)
	require.IsType(t, &direct{}, client)
	require.NoError(t, ours.Close()) // the client's hold is its own

	_, err := client.Write([]byte("to the daemon"))
	require.NoError(t, err)
	buf := make([]byte, 64)
	n, err := daemon.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "to the daemon", string(buf[:n]))
	_, err = daemon.Write([]byte("and back"))
	require.NoError(t, err)
	n, err = client.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "and back", string(buf[:n]))
	require.Zero(t, s.Numbers().BytesIn, "not through the broker")
	require.Equal(t, 1, s.Numbers().Streams, "which counts it all the same")

	require.NoError(t, client.Close())
	_, err = broker.Read(buf)
	require.Equal(t, io.EOF, err, "the broker learns the end")
	_, err = daemon.Read(buf)
	require.Equal(t, io.EOF, err, "and so does the daemon")
}

func TestTheConnectionOutlivesTheBroker(t *testing.T) {
	near, far := sockets(t)
	c, s := talk(t, near, far)
	ours, daemon := sockets(t)
	client, _ := hand(t, c, s, ours)
	require.NoError(t, ours.Close())
	require.NoError(t, s.Close(protocol.Failure{Kind: fault.Unavailable, Text: "ending"}))
	<-c.Done()
	_, err := daemon.Write([]byte("still here"))
	require.NoError(t, err)
	buf := make([]byte, 64)
	n, err := client.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "still here", string(buf[:n]))
	require.NoError(t, client.Close())
}

func TestACarriageWithoutDescriptorsRelays(t *testing.T) {
	near, far := net.Pipe()
	c, s := talk(t, near, far)
	ours, _ := sockets(t)
	client, broker := hand(t, c, s, ours)
	require.IsType(t, &Stream{}, client)
	go func() { _, _ = broker.Write([]byte("relayed")) }()
	buf := make([]byte, 64)
	n, err := client.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "relayed", string(buf[:n]))
}

func TestDescriptorsThatNobodyClaimsAreClosed(t *testing.T) {
	near, far := sockets(t)
	rw, feature := receiving(near)
	require.Equal(t, protocol.FeatureDirect, feature)
	r := rw.(*receiver)
	r.opening.Add(1)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	for range maxReceived + 3 {
		_, _, err := far.WriteMsgUnix([]byte("x"), unix.UnixRights(int(write.Fd())), nil)
		require.NoError(t, err)
		_, err = r.Read(make([]byte, 8))
		require.NoError(t, err)
	}
	require.Len(t, r.got, maxReceived)
	require.NoError(t, write.Close())
	require.NoError(t, r.Close())
	require.NoError(t, read.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = read.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err, "no copy of the other end is left")
}

// Only a read that may bring a descriptor looks for one; all others allocate nothing.
func TestDescriptorsAreLookedForWhileAStreamOpens(t *testing.T) {
	near, far := sockets(t)
	c, s := talk(t, near, far)
	looking := func() int { return int(c.conn.rw.(*receiver).opening.Load()) }
	require.Equal(t, 1, looking(), "for the first one, from the start")
	for range 20 { // each time the keeper, or a Read, is reading already
		ours, daemon := sockets(t)
		client, _ := hand(t, c, s, ours)
		require.IsType(t, &direct{}, client)
		require.Zero(t, looking())
		require.NoError(t, client.Close())
		require.NoError(t, daemon.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error)
	go func() {
		_, err := c.OpenStream(ctx, protocol.LocalHost, protocol.StartIfNeeded, nil)
		asked <- err
	}()
	r, err := s.Accept(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, looking())
	require.NoError(t, r.Refuse(protocol.Failure{Kind: fault.NotFound}))
	require.Error(t, <-asked)
	require.Zero(t, looking(), "a refusal is an answer")

	go func() {
		_, err := c.OpenStream(ctx, protocol.LocalHost, protocol.StartIfNeeded, nil)
		asked <- err
	}()
	r, err = s.Accept(t.Context())
	require.NoError(t, err)
	ours, _ := sockets(t)
	cancel()
	require.Equal(t, fault.Canceled, fault.KindOf(<-asked))
	_, _, err = r.Hand(ours)
	if err == nil { // the answer crossed the end: its descriptor comes and is closed
		require.Eventually(t, func() bool { return looking() == 0 }, time.Minute, time.Millisecond)
	}
	client, _ := hand(t, c, s, ours)
	require.IsType(t, &direct{}, client, "the connection goes on")
	require.NoError(t, client.Close())
}

func TestTheSocketsBufferFollowsTheTraffic(t *testing.T) {
	near, far := sockets(t)
	c, s := talk(t, near, far)
	asked := make(chan ports.Stream, 1)
	go func() {
		r, err := s.Accept(t.Context())
		if err != nil {
			close(asked)
			return
		}
		stream, _ := r.Open()
		asked <- stream
	}()
	client, err := c.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, client) }()
	broker := <-asked
	bulk, small := make([]byte, 64<<10), make([]byte, 64)
	for range mixedFrames {
		_, err := broker.Write(bulk)
		require.NoError(t, err)
	}
	require.False(t, s.conn.out.mixed)
	_, err = broker.Write(small)
	require.NoError(t, err)
	for range mixedFrames - 1 {
		_, err := broker.Write(bulk)
		require.NoError(t, err)
		require.True(t, s.conn.out.mixed, "small frames go between")
	}
	_, err = broker.Write(bulk)
	require.NoError(t, err)
	require.False(t, s.conn.out.mixed, "none has for a while")
}

// The socket is kept short where small frames go between and who reads is slow: half a millisecond for what bulkBuffer lets wait.
func TestBuffer(t *testing.T) {
	const fullForBulk, fullForMixed = 571 * time.Microsecond, 212 * time.Microsecond
	for _, c := range []struct {
		mixed  bool
		buffer int
		waited time.Duration
		wants  int
	}{
		{true, bulkBuffer, fullForBulk, bulkBuffer},
		{true, bulkBuffer, fullForBulk + time.Microsecond, mixedBuffer},
		{false, bulkBuffer, time.Second, bulkBuffer},
		{true, mixedBuffer, fullForMixed, bulkBuffer},
		{true, mixedBuffer, fullForMixed + time.Microsecond, mixedBuffer},
	} {
		o := sender{mixed: c.mixed, buffer: c.buffer}
		o.waited(c.waited)
		require.Equal(t, c.wants, o.wants(), "%+v", c)
	}
}

// How long what is written waited for the socket says how fast that is read.
func TestASlowReaderIsSeen(t *testing.T) {
	a, b := sockets(t)
	c := newConn(a, nil, protocol.Scope{}, nil, limits{})
	o := &c.out
	try := func() (done bool) {
		require.NoError(t, o.raw.Control(func(fd uintptr) { done = c.try(fd) }))
		require.NoError(t, o.err)
		return done
	}
	o.head, o.payload = begun, make([]byte, 64<<10)
	for _, since := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
		sent := 0
		for o.sent = 0; try(); o.sent = 0 {
			require.True(t, o.full.IsZero())
			sent += len(o.payload)
		}
		require.False(t, o.full.IsZero())
		o.full = since
		_, err := io.CopyN(io.Discard, b, int64(sent+o.sent))
		require.NoError(t, err)
		rest := len(o.payload) - o.sent
		require.True(t, try())
		require.True(t, o.full.IsZero(), "a wait counts once")
		require.Equal(t, since.Before(time.Now()), o.slow)
		_, err = io.CopyN(io.Discard, b, int64(rest))
		require.NoError(t, err)
	}
}
