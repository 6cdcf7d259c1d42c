package streamframe

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// shake runs both sides over a pipe.
func shake(client, server protocol.Hello) (c, s *protocol.Agreed, cerr, serr error) {
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, serr = ServerHandshake(NewReader(b), b, server)
		b.Close()
	}()
	c, cerr = ClientHandshake(NewReader(a), a, client)
	a.Close()
	<-done
	return c, s, cerr, serr
}

func hello(role protocol.Role, change func(*protocol.Hello)) protocol.Hello {
	h := protocol.NewHello(role, "vev 1.2.3")
	if change != nil {
		change(&h)
	}
	return h
}

func TestHandshakeAgrees(t *testing.T) {
	c, s, cerr, serr := shake(
		hello(protocol.SessionClient, func(h *protocol.Hello) {
			h.MaxVersion, h.MaxEnvelope, h.Features, h.Software = 7, 2<<20, 1<<40|3, "new"
		}),
		hello(protocol.SessionServer, func(h *protocol.Hello) { h.MaxChunk, h.Features = 2<<10, 2 }))
	require.NoError(t, cerr)
	require.NoError(t, serr)
	want := protocol.Agreed{Version: 1, MaxEnvelope: 2 << 20, MaxChunk: 2 << 10, Features: 2, Software: "vev 1.2.3"}
	require.Equal(t, want, *c)
	want.Software = "new"
	require.Equal(t, want, *s)
}

func TestHandshakeRejects(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*protocol.Hello)
		kind   fault.Kind // at the client
		text   string
	}{
		"magic":    {func(h *protocol.Hello) { h.Magic = 1 }, fault.Violation, "magic"}, // the client holds the server to its own
		"epoch":    {func(h *protocol.Hello) { h.Epoch = 2 }, fault.Incompatible, "epoch is 2, must be 1"},
		"versions": {func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 8, 9 }, fault.Incompatible, "versions 8 to 9 and 1 to 1 do not meet"},
		"range":    {func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 2, 1 }, fault.Violation, "version range 2 to 1 is empty"},
		"role":     {func(h *protocol.Hello) { h.Role = protocol.BrokerClient }, fault.Violation, "broker client called a session server"},
		"envelope": {func(h *protocol.Hello) { h.MaxEnvelope = 5 }, fault.Violation, "envelope ceiling is 5"},
		"chunk":    {func(h *protocol.Hello) { h.MaxChunk = 1 << 20 }, fault.Violation, "chunk ceiling is 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, cerr, serr := shake(hello(protocol.SessionClient, tc.change), hello(protocol.SessionServer, nil))
			require.ErrorContains(t, cerr, tc.text)
			require.Equal(t, tc.kind, fault.KindOf(cerr))
			require.Error(t, serr)
		})
	}
	_, _, cerr, _ := shake(hello(protocol.SessionClient, func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 8, 9 }), hello(protocol.SessionServer, nil))
	f, ok := cerr.(*fault.Error)
	require.True(t, ok)
	require.True(t, f.Peer)
	require.Contains(t, f.Msg, "vev 1.2.3 speaks versions 1 to 1")
	require.NotEmpty(t, f.Hint)
}

// conn answers reads from in and keeps what is written.
type conn struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.Write(p) }

func TestServerAnswersWhatIsNoPreamble(t *testing.T) {
	for name, tc := range map[string]struct {
		in   []byte
		code protocol.RejectCode
	}{
		"another protocol": {[]byte("GET / HTTP/1.1\r\n\r\n"), protocol.RejectLimit},
		"empty frame":      {make([]byte, 8), protocol.RejectLimit},
		"over the limit":   {frame(protocol.MaxPreambleBytes + 1), protocol.RejectLimit},
		"no protobuf":      {[]byte{0, 0, 0, 2, 0xff, 0xff}, protocol.RejectMagic},
		"an envelope":      {[]byte{0, 0, 0, 3, 0xaa, 0x06, 0}, protocol.RejectOutOfOrder}, // tag 101, empty
	} {
		t.Run(name, func(t *testing.T) {
			c := &conn{in: bytes.NewReader(tc.in)}
			_, err := ServerHandshake(NewReader(c), c, hello(protocol.BrokerServer, nil))
			require.Equal(t, fault.Violation, fault.KindOf(err))
			body, err := NewReader(&c.out).ReadFrame(protocol.MaxPreambleBytes)
			require.NoError(t, err)
			_, rejection, err := decodeAnswer(body, hello(protocol.BrokerClient, nil))
			require.NoError(t, err)
			require.Equal(t, tc.code, rejection.Code)
			require.NotEmpty(t, rejection.Text)
		})
	}
}

// What goes behind the offer takes no round trip, not even where nothing is buffered on the way.
func TestEnvelopesBehindThePreamble(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	done := make(chan string)
	go func() {
		rd := NewReader(b)
		_, err := ServerHandshake(rd, b, hello(protocol.BrokerServer, nil))
		if err != nil {
			t.Error(err)
		}
		next, err := rd.ReadFrame(protocol.MaxControlBytes)
		if err != nil {
			t.Error(err)
		}
		b.Close()
		done <- string(next)
	}()
	rd := NewReader(a)
	agreed, err := ClientHandshake(rd, a, hello(protocol.BrokerClient, nil),
		func(dst []byte) ([]byte, error) { return append(dst, "next"...), nil })
	require.NoError(t, err)
	require.EqualValues(t, 1, agreed.Version)
	require.Equal(t, "next", <-done)
	_, err = rd.ReadFrame(1)
	require.Equal(t, io.EOF, err)
}

func TestClientRefusesAnswersBeyondItsOffer(t *testing.T) {
	ours := hello(protocol.BrokerClient, nil)
	server := hello(protocol.BrokerServer, nil)
	good := protocol.Agreed{Version: 1, MaxEnvelope: 1 << 20, MaxChunk: 1 << 10}
	for name, tc := range map[string]struct {
		change func(*protocol.Hello, *protocol.Agreed)
		text   string
	}{
		"magic":    {func(h *protocol.Hello, _ *protocol.Agreed) { h.Magic = 3 }, "the answer's magic is 0x3"},
		"epoch":    {func(h *protocol.Hello, _ *protocol.Agreed) { h.Epoch = 3 }, "the answer's epoch is 3"},
		"role":     {func(h *protocol.Hello, _ *protocol.Agreed) { h.Role = protocol.SessionServer }, "session server"},
		"version":  {func(_ *protocol.Hello, a *protocol.Agreed) { a.Version = 2 }, "the answer's version is 2, must be 1 to 1"},
		"envelope": {func(_ *protocol.Hello, a *protocol.Agreed) { a.MaxEnvelope = 16<<20 + 1 }, "envelope ceiling is 16777217"},
		"chunk":    {func(_ *protocol.Hello, a *protocol.Agreed) { a.MaxChunk = 0 }, "chunk ceiling is 0"},
		"features": {func(_ *protocol.Hello, a *protocol.Agreed) { a.Features = 4 }, "features 0x4"},
	} {
		t.Run(name, func(t *testing.T) {
			h, a := server, good
			tc.change(&h, &a)
			var in bytes.Buffer
			require.NoError(t, NewWriter(&in).WriteWith(encodeAgreed(h, &a)))
			c := &conn{in: bytes.NewReader(in.Bytes())}
			_, err := ClientHandshake(NewReader(c), c, ours)
			require.ErrorContains(t, err, tc.text)
			require.Equal(t, fault.Violation, fault.KindOf(err))
		})
	}
}

func TestDuplicateIsToldApart(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, NewWriter(&b).WriteWith(encodeHello(hello(protocol.BrokerClient, nil))))
	require.True(t, IsPreamble(b.Bytes()[HeaderBytes:]))
	require.False(t, IsPreamble([]byte{0xaa, 0x06, 0, 0, 0, 0}))
	b.Reset()
	RejectDuplicate(&b, hello(protocol.BrokerServer, nil))
	_, rejection, err := decodeAnswer(b.Bytes()[HeaderBytes:], hello(protocol.BrokerClient, nil))
	require.NoError(t, err)
	require.Equal(t, protocol.RejectDuplicate, rejection.Code)
}

func TestDeadline(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		start := time.Now()
		_, err := Within(a, start.Add(protocol.HandshakeTimeout), func() (*protocol.Agreed, error) {
			return ServerHandshake(NewReader(a), a, hello(protocol.BrokerServer, nil))
		})
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))
	})
	bubble.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		go ClientHandshake(NewReader(b), b, hello(protocol.BrokerClient, nil))
		_, err := Within(a, time.Now().Add(time.Second), func() (*protocol.Agreed, error) {
			return ServerHandshake(NewReader(a), a, hello(protocol.BrokerServer, nil))
		})
		require.NoError(t, err)
		time.Sleep(time.Minute) // the deadline is cleared: a write after it still works
		go io.Copy(io.Discard, b)
		_, err = a.Write([]byte("x"))
		require.NoError(t, err)
	})
}

func FuzzPreamble(f *testing.F) {
	var b bytes.Buffer
	_ = NewWriter(&b).WriteWith(encodeHello(hello(protocol.BrokerClient, nil)))
	f.Add(b.Bytes())
	b = bytes.Buffer{}
	_ = NewWriter(&b).WriteWith(encodeRejection(reject(hello(protocol.BrokerServer, nil), protocol.RejectRole, "no")))
	f.Add(b.Bytes())
	b = bytes.Buffer{}
	_ = NewWriter(&b).WriteWith(encodeAgreed(hello(protocol.BrokerServer, nil), &protocol.Agreed{Version: 1, MaxEnvelope: 1 << 20, MaxChunk: 1 << 10}))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		c := &conn{in: bytes.NewReader(in)}
		if a, err := ServerHandshake(NewReader(c), c, hello(protocol.BrokerServer, nil)); (a == nil) == (err == nil) {
			t.Fatal("neither or both of an agreement and an error")
		}
		c = &conn{in: bytes.NewReader(in)}
		if a, err := ClientHandshake(NewReader(c), c, hello(protocol.BrokerClient, nil)); (a == nil) == (err == nil) {
			t.Fatal("neither or both of an agreement and an error")
		} else if a != nil && (a.Version != 1 || a.MaxChunk > protocol.MaxChunkBytes) {
			t.Fatalf("agreed to %+v", a)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add(append(frame(3), frame(5000)...))
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in))
		var out bytes.Buffer
		w := NewWriter(&out)
		for {
			body, err := r.ReadFrame(protocol.MaxControlBytes)
			if err != nil {
				break
			}
			if err := w.Write(nil, body); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(in, out.Bytes()) {
			t.Fatal("frames read are not the bytes sent")
		}
	})
}
