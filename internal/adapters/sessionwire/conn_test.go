package sessionwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// meet makes both ends of a conversation over an unbuffered pipe.
func meet(t testing.TB) (*ClientConn, *ServerConn) {
	near, far := net.Pipe()
	return shake(t, near, far)
}

// shake makes both ends of a conversation over what joins near and far.
func shake(t testing.TB, near, far io.ReadWriteCloser) (*ClientConn, *ServerConn) {
	var (
		server *ServerConn
		serr   error
		wg     sync.WaitGroup
	)
	wg.Go(func() { server, serr = Server(far, "vev/test-server") })
	client, err := Client(context.Background(), near, "vev/test-client", protocol.FeatureNone)
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, serr)
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// pass sends m and receives it at the other end.
func pass[M any](t testing.TB, send func(M) error, receive func() (M, error), m M) M {
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = send(m) })
	got, rerr := receive()
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, rerr)
	return got
}

func up(t testing.TB, c *ClientConn, s *ServerConn, m protocol.SessionClientMessage) {
	t.Helper()
	require.Equal(t, m, pass(t, c.Send, s.Receive, m))
}

func down(t testing.TB, c *ClientConn, s *ServerConn, m protocol.SessionServerMessage) {
	t.Helper()
	got := withoutEmpty(pass(t, s.Send, c.Receive, m))
	if out, ok := m.(*protocol.Output); ok {
		require.Positive(t, out.Wire)
		out.Wire = 0 // it does not travel
	}
	require.Equal(t, m, got)
}

func attached() *protocol.Attached { return &protocol.Attached{Name: "w", Size: goldenSize} }

func TestAConversationFromAttachToItsEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		require.Equal(t, "vev/test-server", c.Agreed().Software)
		require.Equal(t, "vev/test-client", s.Agreed().Software)
		up(t, c, s, &protocol.Attach{Size: goldenSize})
		up(t, c, s, &protocol.Resize{Size: domain.DefaultSize}) // it need not wait for the answer
		down(t, c, s, attached())
		down(t, c, s, &protocol.Output{Epoch: 1, New: 1, Full: true})
		up(t, c, s, &protocol.Input{Seq: 1, Data: []byte("x")})
		up(t, c, s, &protocol.Ack{Epoch: 1, State: 1})
		up(t, c, s, &protocol.Request{ID: 1, Body: &protocol.List{}})
		down(t, c, s, &protocol.Result{ID: 1, Body: &protocol.Sessions{}})
		down(t, c, s, &protocol.Ended{Reason: protocol.EndExited, Exit: domain.ExitStatus{Code: 7}})

		require.Equal(t, fault.Canceled, fault.KindOf(s.Send(&protocol.Output{Epoch: 1})), "nothing follows the end")
		require.NoError(t, c.Send(&protocol.Input{Seq: 2, Data: []byte("y")}), "kept back")
		require.Equal(t, fault.Canceled, fault.KindOf(c.Send(&protocol.Request{ID: 2, Body: &protocol.List{}})))
		up(t, c, s, &protocol.Detach{})
		require.Equal(t, fault.Canceled, fault.KindOf(c.Send(&protocol.Ack{})))
		require.NoError(t, c.Close())
		_, err := s.Receive()
		require.Equal(t, io.EOF, err)
		_, err = s.Receive()
		require.Equal(t, io.EOF, err, "an error stays")
	})
}

// What crossed the end on the wire is dropped, and is nobody's fault.
func TestLateMessagesAreDropped(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		up(t, c, s, &protocol.Attach{Size: goldenSize})
		down(t, c, s, attached())
		var wg sync.WaitGroup
		wg.Go(func() { s.Send(&protocol.Ended{Reason: protocol.EndTaken}) })
		synctest.Wait() // it lies in the pipe, unread
		wg.Go(func() {
			c.Send(&protocol.Input{Seq: 1, Data: []byte("late")})
			c.Receive()
			c.Send(&protocol.Detach{})
		})
		m, err := s.Receive()
		require.NoError(t, err)
		require.IsType(t, &protocol.Detach{}, m, "the input was dropped, the confirmation not")
		wg.Wait()
	})
}

func TestOrderIsKeptAtBothEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		err := c.Send(&protocol.Input{Seq: 1, Data: []byte("x")})
		require.Equal(t, fault.Usage, fault.KindOf(err))
		require.Equal(t, "input was to be said in a conversation that is new", err.Error())
		require.Equal(t, fault.Internal, fault.KindOf(s.Send(attached())))
		up(t, c, s, &protocol.Request{ID: 1, Body: &protocol.List{}}) // nothing was sent before
		c.state = stateAttached                                       // a client that breaks the order
		go c.Send(&protocol.Detach{})
		_, err = s.Receive()
		require.Equal(t, fault.Violation, fault.KindOf(err))
		require.Equal(t, "detach came in a conversation that is requesting", err.Error())
		_, again := s.Receive()
		require.Equal(t, err, again)
	})
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		up(t, c, s, &protocol.Attach{Size: goldenSize})
		s.state = stateAttached // a server that does
		go s.Send(&protocol.Output{Epoch: 1})
		_, err := c.Receive()
		require.Equal(t, fault.Violation, fault.KindOf(err))
		require.Equal(t, "output came in a conversation that is attaching", err.Error())
	})
}

// carriage reads what it was given and keeps what was written.
type carriage struct {
	io.Reader
	written [][]byte
	fail    error
	closed  bool
}

func (c *carriage) Write(p []byte) (int, error) {
	if c.fail != nil {
		return len(p) / 2, c.fail
	}
	c.written = append(c.written, bytes.Clone(p))
	return len(p), nil
}

func (c *carriage) Close() error { c.closed = true; return nil }

// said is what one end of a conversation writes, frame by frame, the preamble first.
func said(t testing.TB, hello proto.Message, frames ...[]byte) (stream []byte, ends []int) {
	first, err := proto.Marshal(hello)
	require.NoError(t, err)
	var buf bytes.Buffer
	w := streamframe.NewWriter(&buf)
	for _, f := range append([][]byte{first}, frames...) {
		require.NoError(t, w.Write(f, nil))
		ends = append(ends, buf.Len())
	}
	return buf.Bytes(), ends
}

func clientHello() proto.Message {
	return wire.PreambleRequest_builder{
		Magic: protocol.Magic, Epoch: 1, MinVersion: 1, MaxVersion: 1, Role: 1,
		MaxEnvelopeBytes: 16 << 20, MaxChunkBytes: 64 << 10, Software: "vev/1",
	}.Build()
}

func serverHello() proto.Message {
	return wire.PreambleResponse_builder{Magic: protocol.Magic, Accepted: wire.PreambleAccepted_builder{
		Epoch: 1, Version: 1, Role: 2, MaxEnvelopeBytes: 16 << 20, MaxChunkBytes: 64 << 10, Software: "vev/1",
	}.Build()}.Build()
}

func framesOf[M any](t testing.TB, encode func([]byte, M) ([]byte, error), messages ...M) (out [][]byte) {
	for _, m := range messages {
		f, err := encode(nil, m)
		require.NoError(t, err)
		out = append(out, f)
	}
	return out
}

// cut checks one end against a peer whose bytes stop after k of them, for every k.
func cut(t *testing.T, stream []byte, ends []int, open func(io.ReadWriteCloser) (func() error, error)) {
	for k := range len(stream) + 1 {
		c := &carriage{Reader: bytes.NewReader(stream[:k])}
		receive, err := open(c)
		if k < ends[0] {
			require.Equal(t, fault.Unavailable, fault.KindOf(err), "cut after %d", k)
			require.True(t, c.closed, "cut after %d", k)
			continue
		}
		require.NoError(t, err, "cut after %d", k)
		whole := 0
		for _, end := range ends[1:] {
			if end <= k {
				require.NoError(t, receive(), "cut after %d, message %d", k, whole)
				whole++
			}
		}
		err = receive()
		if ends[whole] == k {
			require.Equal(t, io.EOF, err, "cut between two frames, after %d", k)
			continue
		}
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "cut after %d", k)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut after %d", k)
	}
}

func TestCutAfterEveryByte(t *testing.T) {
	t.Run("of a client", func(t *testing.T) {
		create := goldenCreate()
		stream, ends := said(t, clientHello(), framesOf[protocol.SessionClientMessage](t, appendClient,
			&protocol.Attach{Size: goldenSize, Create: &create},
			&protocol.Input{Seq: 1, Data: []byte("hello")}, &protocol.Ack{Epoch: 1, State: 1}, &protocol.Detach{})...)
		cut(t, stream, ends, func(c io.ReadWriteCloser) (func() error, error) {
			s, err := Server(c, "vev/1")
			if err != nil {
				return nil, err
			}
			return func() error { _, err := s.Receive(); return err }, nil
		})
	})
	t.Run("of a server", func(t *testing.T) {
		stream, ends := said(t, serverHello(), framesOf[protocol.SessionServerMessage](t, appendServer,
			attached(), goldenServer()["output_full"], goldenServer()["result_capture"],
			&protocol.Ended{Reason: protocol.EndDetached})...)
		cut(t, stream, ends, func(c io.ReadWriteCloser) (func() error, error) {
			s, err := Client(t.Context(), c, "vev/1", protocol.FeatureNone)
			if err != nil {
				return nil, err
			}
			s.state = stateAttaching
			return func() error { _, err := s.Receive(); return err }, nil
		})
	})
}

func TestPendingKnowsWholeMessages(t *testing.T) {
	messages := framesOf[protocol.SessionServerMessage](t, appendServer, attached(), hotOutput(10), hotOutput(100), hotOutput(8<<10))
	stream, _ := said(t, serverHello(), messages...)
	c, err := Client(t.Context(), &carriage{Reader: bytes.NewReader(stream)}, "vev/1", protocol.FeatureNone)
	require.NoError(t, err)
	c.state = stateAttaching
	require.True(t, c.Pending(), "what came with the preamble")
	for i, want := range []bool{true, true, false, false} { // the last is larger than what is read ahead
		_, err := c.Receive()
		require.NoError(t, err)
		require.Equal(t, want, c.Pending(), i)
	}
	_, err = c.Receive()
	require.Equal(t, io.EOF, err)
	require.False(t, c.Pending())
}

func TestOneMessageIsOneWrite(t *testing.T) {
	stream, _ := said(t, clientHello(), framesOf[protocol.SessionClientMessage](t, appendClient, &protocol.Attach{Size: goldenSize})...)
	c := &carriage{Reader: bytes.NewReader(stream)}
	s, err := Server(c, "vev/1")
	require.NoError(t, err)
	_, err = s.Receive()
	require.NoError(t, err)
	require.Len(t, c.written, 1, "the answer to the preamble")
	require.NoError(t, s.Send(attached()))
	require.NoError(t, s.Send(hotOutput(200<<10)))
	require.Len(t, c.written, 3)
	m, err := new(serverDecoder).decode(c.written[2][streamframe.HeaderBytes:])
	require.NoError(t, err)
	require.Equal(t, hotOutput(200<<10), withoutEmpty(m))
}

func TestCeilings(t *testing.T) {
	big := func(n int) []byte { // a frame's head only
		return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	}
	client := func(t *testing.T, tail []byte) error {
		stream, _ := said(t, serverHello(), framesOf[protocol.SessionServerMessage](t, appendServer, attached())...)
		c, err := Client(t.Context(), &carriage{Reader: io.MultiReader(bytes.NewReader(stream), bytes.NewReader(tail))}, "vev/1", protocol.FeatureNone)
		require.NoError(t, err)
		c.state = stateAttaching
		_, err = c.Receive()
		require.NoError(t, err)
		_, err = c.Receive()
		return err
	}
	for what, c := range map[string]struct {
		tail []byte
		says string
		kind fault.Kind
	}{
		"a large control envelope": {
			append(big(1<<20+1), tagEnded<<3|2), "a control envelope of 1048577 bytes is 1 over the limit of 1048576", fault.Violation,
		},
		"an empty frame":                {big(0), "a frame of length 0", fault.Violation},
		"a frame over the ceiling":      {big(16<<20 + 1), "a frame of 16777217 bytes is 1 over the limit of 16777216", fault.Violation},
		"a large output, then the end":  {append(big(16<<20), tagOutput<<3|2), "the connection to the session server was lost: unexpected EOF", fault.Unavailable},
		"a large result, then the end":  {append(big(16<<20), tagResult<<3|2), "the connection to the session server was lost: unexpected EOF", fault.Unavailable},
		"a control envelope of a legal": {append(big(1<<20), tagEnded<<3|2), "the connection to the session server was lost: unexpected EOF", fault.Unavailable},
	} {
		t.Run(what, func(t *testing.T) {
			err := client(t, c.tail)
			require.Equal(t, c.says, err.Error())
			require.Equal(t, c.kind, fault.KindOf(err))
		})
	}
	t.Run("of a client", func(t *testing.T) {
		stream, _ := said(t, clientHello())
		s, err := Server(&carriage{Reader: io.MultiReader(bytes.NewReader(stream), bytes.NewReader(big(1<<20+1)))}, "vev/1")
		require.NoError(t, err)
		_, err = s.Receive()
		require.Equal(t, "a frame of 1048577 bytes is 1 over the limit of 1048576", err.Error())
	})
	t.Run("on sending", func(t *testing.T) {
		stream, _ := said(t, serverHello())
		car := &carriage{Reader: bytes.NewReader(stream)}
		c, err := Client(t.Context(), car, "vev/1", protocol.FeatureNone)
		require.NoError(t, err)
		env := many(64, "A="+long(16<<10))
		attach := &protocol.Attach{Size: goldenSize, Create: &protocol.Create{Command: domain.Command{Env: env}}}
		err = c.Send(attach)
		require.Equal(t, fault.Limit, fault.KindOf(err))
		require.Regexp(t, `^attach of \d+ bytes is \d+ over the limit of 1048576$`, err.Error())
		require.Len(t, car.written, 1, "nothing but the preamble went out")
		attach.Create = nil
		require.NoError(t, c.Send(attach), "the conversation goes on")
	})
}

func TestLargeResultsPass(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		up(t, c, s, &protocol.Request{ID: 1, Body: &protocol.List{}})
		lines := &protocol.Lines{List: many(1000, protocol.Line{Text: long(4000)})}
		down(t, c, s, &protocol.Result{ID: 1, Body: lines})
	})
}

func TestManySendersWriteWholeFrames(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const senders, each = 8, 50
		c, s := meet(t)
		up(t, c, s, &protocol.Attach{Size: goldenSize})
		var wg sync.WaitGroup
		for i := range senders {
			wg.Go(func() {
				for j := range each {
					m := protocol.SessionClientMessage(&protocol.Ack{Epoch: uint64(i), State: uint64(j)})
					if j%2 == 1 {
						m = &protocol.Input{Seq: uint64(j), Data: bytes.Repeat([]byte{byte(i)}, 100*j)}
					}
					if err := c.Send(m); err != nil {
						t.Error(err)
					}
				}
			})
		}
		last := map[byte]uint64{}
		for range senders * each {
			m, err := s.Receive()
			require.NoError(t, err)
			if in, ok := m.(*protocol.Input); ok {
				require.Greater(t, in.Seq, last[in.Data[0]], "one sender's messages keep their order")
				last[in.Data[0]] = in.Seq
			}
		}
		wg.Wait()
	})
}

func TestCloseReleasesEverybody(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := meet(t)
		up(t, c, s, &protocol.Attach{Size: goldenSize})
		errs := make(chan error, 3)
		for range 2 { // one blocks in the carriage, one waits for its turn
			go func() { errs <- c.Send(&protocol.Detach{}) }()
		}
		go func() { _, err := c.Receive(); errs <- err }()
		synctest.Wait()
		require.NoError(t, c.Close())
		require.NoError(t, c.Close(), "twice")
		for range cap(errs) {
			require.Equal(t, fault.Canceled, fault.KindOf(<-errs))
		}
		require.Equal(t, fault.Canceled, fault.KindOf(c.Send(&protocol.Detach{})))
	})
}

// meetOver makes both ends of a conversation over a Unix socket, attached.
func meetOver(t testing.TB) (*ClientConn, *ServerConn) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	end := func(fd int) io.ReadWriteCloser {
		f := os.NewFile(uintptr(fd), "")
		conn, err := net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		return conn
	}
	client, server := shake(t, end(fds[0]), end(fds[1]))
	up(t, client, server, &protocol.Attach{Size: goldenSize})
	down(t, client, server, attached())
	return client, server
}

// chained is the nth state of a chain, with bytes of data.
func chained(n uint64, bytes int) *protocol.Output {
	return &protocol.Output{
		Epoch: 1, New: n, Base: n - 1, Full: n == 1,
		Panes: []protocol.PaneUpdate{{Pane: 1, Data: make([]byte, bytes), Size: goldenSize}},
	}
}

// SendNow never waits: not for a peer that reads nothing, nor for another sender. What was taken arrives in order.
func TestSendNowDoesNotWait(t *testing.T) {
	c, s := meetOver(t)
	const size = 16 << 10
	last := uint64(0)
	next := func() protocol.SessionServerMessage { last++; return chained(last, size) }
	for { // until the socket is full and a goroutine writes the rest
		sent, err := s.SendNow(next)
		require.NoError(t, err)
		if !sent {
			break
		}
		require.Less(t, last, uint64(1000))
	}
	require.Positive(t, last)
	var wg sync.WaitGroup
	waits := next()
	wg.Go(func() { assert.NoError(t, s.Send(waits)) })
	for n := uint64(1); n <= last; n++ {
		m, err := c.Receive()
		require.NoError(t, err)
		require.Equal(t, n, m.(*protocol.Output).New)
	}
	wg.Wait()
	sent, err := s.SendNow(func() protocol.SessionServerMessage { return nil })
	require.NoError(t, err)
	require.True(t, sent, "there was nothing to send")
	sent, err = s.SendNow(next)
	require.NoError(t, err)
	require.True(t, sent)
	m, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, last, m.(*protocol.Output).New)
}

func TestCloseReleasesWhatSendNowLeft(t *testing.T) {
	_, s := meetOver(t)
	n := uint64(0)
	for sent := true; sent; {
		var err error
		sent, err = s.SendNow(func() protocol.SessionServerMessage { n++; return chained(n, 16<<10) })
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	s.slot <- struct{}{} // its goroutine has given it back
	<-s.slot
	sent, err := s.SendNow(func() protocol.SessionServerMessage { return chained(n+1, 1) })
	require.True(t, sent)
	require.Equal(t, fault.Canceled, fault.KindOf(err))
}

func TestSendNowNeedsACarriageThatCanBeWrittenSo(t *testing.T) {
	_, s := meet(t)
	sent, err := s.SendNow(func() protocol.SessionServerMessage { t.Error("was called"); return nil })
	require.NoError(t, err)
	require.False(t, sent)
}

func TestAFailedWriteIsTheLast(t *testing.T) {
	stream, _ := said(t, serverHello())
	car := &carriage{Reader: bytes.NewReader(stream)}
	c, err := Client(t.Context(), car, "vev/1", protocol.FeatureNone)
	require.NoError(t, err)
	car.fail = errors.New("broken pipe")
	err = c.Send(&protocol.Attach{Size: goldenSize})
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorIs(t, err, car.fail)
	car.fail = nil
	require.Equal(t, err, c.Send(&protocol.Detach{}), "half a frame may be out: nothing can follow")
}

// A logical stream ends with a reason of its hops; the conversation on it is lost all the same.
func TestAReasonOfTheCarriageIsALoss(t *testing.T) {
	stream, _ := said(t, serverHello())
	reason := fault.New(fault.Canceled, "the broker is ending").WithHint("try again")
	c, err := Client(t.Context(), &carriage{Reader: io.MultiReader(bytes.NewReader(stream), failing{reason})}, "vev/1", protocol.FeatureNone)
	require.NoError(t, err)
	_, err = c.Receive()
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorIs(t, err, reason)
	require.Equal(t, "the connection to the session server was lost: the broker is ending", err.Error())
	lost, _ := errors.AsType[*fault.Error](err)
	require.Equal(t, "try again", lost.Hint)
}

// What the other side ended the stream for, and another one would be ended for too, is told as it is.
func TestAConflictOfTheCarriageStays(t *testing.T) {
	stream, _ := said(t, serverHello())
	reason := &fault.Error{Kind: fault.Conflict, Msg: "host desk was removed", Peer: true}
	c, err := Client(t.Context(), &carriage{Reader: io.MultiReader(bytes.NewReader(stream), failing{reason})}, "vev/1", protocol.FeatureNone)
	require.NoError(t, err)
	_, err = c.Receive()
	require.Equal(t, error(reason), err)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAPeerThatSaysNothingIsGivenUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go io.Copy(io.Discard, b)
		start := time.Now()
		_, err := Client(t.Context(), a, "vev/1", protocol.FeatureNone)
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))
		b.Close()

		a, b = net.Pipe()
		start = time.Now()
		_, err = Server(a, "vev/1")
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))
		_, err = b.Read(make([]byte, 1))
		require.Equal(t, io.EOF, err, "the carriage was closed")

		a, b = net.Pipe()
		start = time.Now()
		_, err = Server(noDeadline{a}, "vev/1")
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))
		b.Close()
	})
}

// noDeadline hides the deadlines of a carriage, like a pipe to a child process.
type noDeadline struct{ io.ReadWriteCloser }

func TestContextEndsThePreamble(t *testing.T) {
	for what, c := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		kind fault.Kind
	}{
		"canceled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, fault.Canceled},
		"timed out": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, fault.Timeout},
	} {
		t.Run(what, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				for _, wrap := range []func(net.Conn) io.ReadWriteCloser{
					func(c net.Conn) io.ReadWriteCloser { return c },
					func(c net.Conn) io.ReadWriteCloser { return noDeadline{c} },
				} {
					a, b := net.Pipe()
					go io.Copy(io.Discard, b)
					ctx, cancel := c.end(t.Context())
					start := time.Now()
					_, err := Client(ctx, wrap(a), "vev/1", protocol.FeatureNone)
					require.Equal(t, c.kind, fault.KindOf(err))
					require.Equal(t, time.Second, time.Since(start))
					cancel()
				}
			})
		})
	}
}

func TestPreamblesThatAreNotOurs(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go func() {
			defer a.Close()
			streamframe.ClientHandshake(streamframe.NewReader(a), a, protocol.NewHello(protocol.BrokerClient, "vev/1"))
		}()
		_, err := Server(b, "vev/1")
		require.Equal(t, fault.Violation, fault.KindOf(err))
		require.Contains(t, err.Error(), "broker client called a session server")
	})
	t.Run("a second one", func(t *testing.T) {
		again, err := proto.Marshal(clientHello())
		require.NoError(t, err)
		stream, _ := said(t, clientHello(), again)
		s, err := Server(&carriage{Reader: bytes.NewReader(stream)}, "vev/1")
		require.NoError(t, err)
		_, err = s.Receive()
		require.Equal(t, fault.Violation, fault.KindOf(err))
		require.Equal(t, "a second preamble came", err.Error())
	})
}

func TestSendAllocatesNothing(t *testing.T) {
	stream, _ := said(t, clientHello(), framesOf[protocol.SessionClientMessage](t, appendClient, &protocol.Attach{Size: goldenSize})...)
	s, err := Server(&sink{Reader: bytes.NewReader(stream)}, "vev/1")
	require.NoError(t, err)
	_, err = s.Receive()
	require.NoError(t, err)
	require.NoError(t, s.Send(attached()))
	m := hotOutput(300)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s.Send(m) != nil {
			t.Fail()
		}
	}))
}

type sink struct{ io.Reader }

func (sink) Write(p []byte) (int, error) { return len(p), nil }
func (sink) Close() error                { return nil }
