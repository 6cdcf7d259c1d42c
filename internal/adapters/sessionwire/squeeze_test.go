package sessionwire

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/doctable"
)

// meetSqueezed is meetPacked with squeezed envelopes too.
func meetSqueezed(t testing.TB) (*ClientConn, *ServerConn, *counted) {
	a, b := net.Pipe()
	far := &counted{Conn: b}
	var (
		server *ServerConn
		serr   error
		wg     sync.WaitGroup
	)
	wg.Go(func() { server, serr = Server(far, "vev/test-server") })
	client, err := Client(t.Context(), a, "vev/test-client", protocol.FeaturePacked|protocol.FeatureSqueezed)
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, serr)
	t.Cleanup(func() { client.Close(); server.Close() })
	client.state, server.state = stateAttached, stateAttached
	return client, server, far
}

// next is an Output that follows the one before.
func next(state uint64, data string) *protocol.Output {
	return &protocol.Output{
		Epoch: 1, Base: state - 1, New: state, Echo: 3, InputAcked: 4,
		Panes: []protocol.PaneUpdate{{Pane: 1, Data: []byte(data), ScreenTop: 5, Size: goldenSize}},
	}
}

// What is squeezed comes out as it went in, at any size around the limit, between what is packed.
func TestSqueezedIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		client, server, _ := meetSqueezed(t)
		for i := range rapid.IntRange(1, 12).Draw(rt, "messages") {
			n := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(protocol.MaxSqueezedBytes-60, protocol.MaxSqueezedBytes)).Draw(rt, "bytes")
			down(t, client, server, next(uint64(1+i), strings.Repeat(rapid.StringMatching(`[a-z\x1b]{1,9}`).Draw(rt, "text"), n)[:n]))
			if rapid.Bool().Draw(rt, "acks") {
				down(t, client, server, &protocol.Output{Epoch: 1, Echo: 3, InputAcked: uint64(i)})
			}
		}
	})
}

func TestSqueezingGains(t *testing.T) {
	client, server, far := meetSqueezed(t)
	for i := range 60 {
		if i == 30 {
			far.n = 0
		}
		down(t, client, server, next(uint64(1+i), "\x1b[1;27H"+strings.Repeat("x", 1+i%3)+"\x1b[30C75\x1b[4C94\n\x1b[21G3"))
	}
	require.Less(t, far.n, 30*20, "a state takes less than 20 bytes of about 70, all frames' heads included")
}

// squeezed are the frames' bodies of envelopes on one connection.
func squeezed(envelopes ...[]byte) (out [][]byte) {
	var s squeezer
	for _, e := range envelopes {
		out = append(out, s.squeeze(bytes.Clone(e), 0))
	}
	return out
}

func TestSqueezedWhereItMayNotBe(t *testing.T) {
	refused, err := appendServer(nil, &protocol.Refused{Failure: protocol.Failure{Text: "x"}})
	require.NoError(t, err)
	good := squeezed(refused)[0]
	long := append([]byte{tagRefused<<3 | 2, 0xff, 0x07}, make([]byte, 1023)...)
	body, _, err := isOf(tagSqueezed, good)
	require.NoError(t, err)
	code, err := parseSqueezed(body)
	require.NoError(t, err)
	message := func(code []byte) []byte {
		return appendData(appendHead(nil, tagSqueezed, sizeData(1, code)), 1, code)
	}
	for name, tc := range map[string]struct {
		frame    []byte
		features uint64
		want     string
	}{
		"not agreed": {good, protocol.FeaturePacked, "nothing of the kind was agreed"},
		"twice":      {squeezed(good)[0], protocol.FeatureSqueezed, "message 15 is none of a session server"},
		"packed":     {squeezed(pieces(t, refused)[0])[0], protocol.FeatureSqueezed, "message 6 is none of a session server"},
		"long":       {squeezed(long)[0], protocol.FeatureSqueezed, "cannot be read"},
		"no head":    {squeezed([]byte{tagRefused << 3, 1})[0], protocol.FeatureSqueezed, "cannot be read"},
		"long head":  {squeezed([]byte{tagRefused<<3 | 2, 0x81, 0x80, 0x80, 0})[0], protocol.FeatureSqueezed, "cannot be read"},
		"left over":  {message(append(bytes.Clone(code), 1, 2, 3, 4, 5)), protocol.FeatureSqueezed, "cannot be read"},
		"cut":        {good[:len(good)-1], protocol.FeatureSqueezed, "message 15 is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server, _ := meetSqueezed(t)
			client.agreed.Features = tc.features
			client.state = stateAttaching
			go server.w.Write(tc.frame, nil)
			_, err := client.Receive()
			require.Equal(t, fault.Violation, fault.KindOf(err))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// A base that is there must be right, as everywhere.
func TestALeanOutputMayHaveItsBase(t *testing.T) {
	d := serverDecoder{lean: true}
	for base, ok := range map[uint64]bool{0: true, 6: true, 5: false, 7: false} {
		out := next(7, "x")
		out.Base = base
		m, err := d.decode(appendOutput(nil, out))
		require.Equal(t, ok, err == nil)
		if ok {
			require.Equal(t, uint64(6), m.(*protocol.Output).Base)
		}
	}
	full := next(1, "x")
	full.Full, full.Base = true, 0
	m, err := d.decode(appendOutput(nil, full))
	require.NoError(t, err)
	require.Zero(t, m.(*protocol.Output).Base)
	_, err = new(serverDecoder).decode(appendOutput(nil, &protocol.Output{Epoch: 1, New: 7}))
	require.Error(t, err, "where it was not agreed a state without base is none")
}

// FuzzSqueezed: whatever comes, nothing panics, and what comes out is an envelope's length.
func FuzzSqueezed(f *testing.F) {
	for _, p := range squeezed([]byte{18, 1, 8}, bytes.Repeat([]byte{18, 3, 1, 2, 3}, 100)) {
		f.Add(p, p)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var s squeezer
		for _, frame := range [][]byte{a, b} {
			body, ok, err := isOf(tagSqueezed, frame)
			if !ok || err != nil {
				return
			}
			out, err := s.expand(body)
			if err != nil {
				require.IsType(t, (*breach)(nil), err)
				return
			}
			require.LessOrEqual(t, len(out), protocol.MaxSqueezedBytes)
			_, _, err = open(out)
			require.NoError(t, err)
		}
	})
}

func TestTheDocumentsSqueezedEnvelopeIsWhatIsSent(t *testing.T) {
	plain, err := appendLean(nil, &protocol.Output{Epoch: 1, Echo: 20, InputAcked: 22})
	require.NoError(t, err)
	require.Equal(t, doctable.Hex(t, document, "squeezed plain"), plain)
	var sent bytes.Buffer
	require.NoError(t, streamframe.NewWriter(&sent).Write(squeezed(plain)[0], nil))
	require.Equal(t, doctable.Hex(t, document, "squeezed"), sent.Bytes())
}
