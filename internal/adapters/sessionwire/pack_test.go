package sessionwire

import (
	"bytes"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// meetPacked is meet with packed envelopes, and counts what the server writes.
func meetPacked(t testing.TB) (*ClientConn, *ServerConn, *counted) {
	a, b := net.Pipe()
	far := &counted{Conn: b}
	var (
		server *ServerConn
		serr   error
		wg     sync.WaitGroup
	)
	wg.Go(func() { server, serr = Server(far, "vev/test-server") })
	client, err := Client(t.Context(), a, "vev/test-client", protocol.FeaturePacked)
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, serr)
	t.Cleanup(func() { client.Close(); server.Close() })
	client.state, server.state = stateAttached, stateAttached
	return client, server, far
}

type counted struct {
	net.Conn
	n int
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.Conn.Write(p)
}

// What is packed comes out as it went in, in any order and size, with what is not packed between.
func TestPackedIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		client, server, _ := meetPacked(t)
		for range rapid.IntRange(1, 12).Draw(rt, "messages") {
			n := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 200<<10)).Draw(rt, "bytes")
			data := make([]byte, n)
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			random := rapid.Bool().Draw(rt, "random")
			for i := range data {
				data[i] = byte('a' + i%7)
				if random {
					data[i] = byte(rng.Uint32())
				}
			}
			m := &protocol.Output{
				Epoch: 1, New: 1, Full: true, Panes: []protocol.PaneUpdate{{Pane: 1, Data: data, Size: goldenSize}},
				Layout: &protocol.Layout{Size: goldenSize, Panes: []protocol.PanePlace{{Pane: 1, Size: goldenSize}}},
			}
			down(t, client, server, m)
		}
		require.LessOrEqual(rt, cap(client.packed.out), 2*unpackStep, "a large envelope is not kept")
		require.LessOrEqual(rt, len(client.packed.past), packWindow)
	})
}

func TestPackingGains(t *testing.T) {
	client, server, far := meetPacked(t)
	before := far.n
	line := strings.Repeat("the quick brown fox \x1b[31mjumps\x1b[m ", 100)
	for range 10 {
		down(t, client, server, &protocol.Output{
			Epoch: 1, New: 1, Full: true, Panes: []protocol.PaneUpdate{{Pane: 1, Data: []byte(line), Size: goldenSize}},
			Layout: &protocol.Layout{Size: goldenSize, Panes: []protocol.PanePlace{{Pane: 1, Size: goldenSize}}},
		})
	}
	require.Less(t, far.n-before, len(line)/5, "ten times the same takes less than a fifth of once")
}

// pieces packs envelopes as a server does.
func pieces(t testing.TB, envelopes ...[]byte) [][]byte {
	var p packer
	var out [][]byte
	for _, e := range envelopes {
		b, err := p.pack(bytes.Clone(e), 0)
		require.NoError(t, err)
		out = append(out, b)
	}
	return out
}

func TestPackedIsHeldToItsWord(t *testing.T) {
	ended, err := appendServer(nil, &protocol.Refused{Failure: protocol.Failure{Text: strings.Repeat("x", 500)}})
	require.NoError(t, err)
	good := pieces(t, ended)[0]
	body, ok, err := isOf(tagPacked, good)
	require.NoError(t, err)
	require.True(t, ok)
	size, piece, err := parsePacked(body)
	require.NoError(t, err)
	packed := func(size uint64, piece []byte) []byte {
		return appendData(appendUint(nil, 1, size), 2, piece)
	}
	final := func() []byte { // a stream that ends
		var b bytes.Buffer
		enc, err := flate.NewWriter(&b, packLevel)
		require.NoError(t, err)
		_, err = enc.Write(ended)
		require.NoError(t, err)
		require.NoError(t, enc.Close())
		return b.Bytes()
	}()
	for name, tc := range map[string]struct {
		body []byte
		want string
	}{
		"less than it says": {packed(size+1, piece), "cannot be read"},
		"no stream":         {packed(100, []byte("no stream")), "cannot be read"},
		"too long":          {packed(16<<20+1, piece), "over the limit of 16777216"},
		"longer than ever":  {packed(1<<63, piece), "over the limit of 16777216"},
		"cut":               {packed(size, piece[:len(piece)/2]), "cannot be read"},
		"more than it says": {packed(size-1, piece), "does not end with its piece"},
		"something behind":  {packed(size, append(bytes.Clone(piece), piece...)), "does not end with its piece"},
		"ends the stream":   {packed(size, final), "does not end with its piece"},
		"empty":             {nil, "packed holds nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			var u unpacker
			_, err := u.unpack(tc.body, protocol.MaxEnvelopeBytes)
			require.IsType(t, (*breach)(nil), err)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPackedWhereItMayNotBe(t *testing.T) {
	refused, err := appendServer(nil, &protocol.Refused{Failure: protocol.Failure{Text: strings.Repeat("x", 500)}})
	require.NoError(t, err)
	one := pieces(t, refused)[0]
	two := pieces(t, one)[0]
	long := pieces(t, append([]byte{tagRefused<<3 | 2}, make([]byte, protocol.MaxControlBytes)...))[0]
	for name, tc := range map[string]struct {
		frame    []byte
		features uint64
		want     string
	}{
		"not agreed": {one, protocol.FeatureNone, "nothing of the kind was agreed"},
		"twice":      {two, protocol.FeaturePacked, "message 6 is none of a session server"},
		"long":       {long, protocol.FeaturePacked, "over the limit of 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server, _ := meetPacked(t)
			client.agreed.Features = tc.features
			client.state = stateAttaching
			go server.w.Write(tc.frame, nil)
			_, err := client.Receive()
			require.Equal(t, fault.Violation, fault.KindOf(err))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// FuzzPacked: whatever comes, nothing panics and no more memory is taken than was unpacked.
func FuzzPacked(f *testing.F) {
	for _, p := range pieces(f, bytes.Repeat([]byte("abc"), 100), []byte("x"), make([]byte, 100<<10)) {
		f.Add(p, p)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var u unpacker
		for _, frame := range [][]byte{a, b} {
			body, ok, err := isOf(tagPacked, frame)
			if !ok || err != nil {
				return
			}
			out, err := u.unpack(body, 1<<20)
			if err != nil {
				require.IsType(t, (*breach)(nil), err)
				return
			}
			require.LessOrEqual(t, len(out), 1<<20)
		}
	})
}
