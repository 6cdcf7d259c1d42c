package streamframe

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func frame(n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	for i := range n {
		b = append(b, byte(i*7+n))
	}
	return b
}

func TestFramesComeBackUnderAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(firstRead-8, firstRead+8), rapid.IntRange(readAhead-8, readAhead+8), rapid.IntRange(1, 3*keptBytes)), 1, 6).Draw(t, "sizes")
		seed := rapid.Uint64().Draw(t, "seed")
		var sent bytes.Buffer
		w := NewWriter(&sent)
		for _, n := range sizes {
			b := frame(n)[HeaderBytes:]
			cut := int(seed % uint64(n+1))
			if err := w.Write(b[:cut], b[cut:]); err != nil {
				t.Fatal(err)
			}
		}
		r := NewReader(&chopped{src: &sent, rng: rand.New(rand.NewPCG(seed, 1))})
		for _, n := range sizes {
			got, err := r.ReadFrame(protocol.MaxEnvelopeBytes)
			if err != nil || !bytes.Equal(got, frame(n)[HeaderBytes:]) {
				t.Fatalf("frame of %d: %v", n, err)
			}
		}
		if _, err := r.ReadFrame(1); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
	})
}

// chopped gives a stream in pieces of any size.
type chopped struct {
	src io.Reader
	rng *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	return c.src.Read(p[:1+c.rng.IntN(len(p))])
}

func TestLengthIsRefusedBeforeAllocation(t *testing.T) {
	for _, tc := range []struct {
		n       uint32
		ceiling int
		want    string
	}{
		{0, 100, "a frame of length 0"},
		{101, 100, "a frame of 101 bytes is 1 over the limit of 100"},
		{protocol.MaxEnvelopeBytes + 1, 1 << 30, "a frame of 16777217 bytes is 1 over the limit of 16777216"},
		{1<<32 - 1, protocol.MaxControlBytes, "a frame of 4294967295 bytes is 4293918719 over the limit of 1048576"},
	} {
		r := NewReader(bytes.NewReader(binary.BigEndian.AppendUint32(nil, tc.n)))
		_, err := r.ReadFrame(tc.ceiling)
		require.EqualError(t, err, tc.want)
		require.Equal(t, fault.Violation, fault.KindOf(err))
		require.Nil(t, r.body)
	}
}

func TestAClaimedLengthCostsOnlyWhatCame(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, protocol.MaxEnvelopeBytes)
	r := NewReader(bytes.NewReader(append(head, make([]byte, 10)...)))
	_, err := r.ReadFrame(protocol.MaxEnvelopeBytes)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.LessOrEqual(t, cap(r.body), keptBytes)
}

func TestALargeBodyIsNotKept(t *testing.T) {
	r := NewReader(bytes.NewReader(append(frame(1<<20), frame(keptBytes)...)))
	got, err := r.ReadFrame(1 << 20)
	require.NoError(t, err)
	require.Len(t, got, 1<<20)
	require.Nil(t, r.body)
	_, err = r.ReadFrame(1 << 20)
	require.NoError(t, err)
	require.NotNil(t, r.body)
}

func TestAQuietReaderIsSmall(t *testing.T) {
	var sent bytes.Buffer
	r := NewReader(&sent)
	for _, n := range []int{20, 100, firstRead - HeaderBytes - 1} {
		sent.Write(frame(n))
		_, err := r.ReadFrame(protocol.MaxControlBytes)
		require.NoError(t, err)
		require.Len(t, r.buf, firstRead)
	}
	for range 3 { // the second finds that the first read left something
		sent.Write(frame(firstRead))
	}
	for range 3 {
		_, err := r.ReadFrame(protocol.MaxControlBytes)
		require.NoError(t, err)
	}
	require.Len(t, r.buf, readAhead)
}

func TestPeekReadAndNext(t *testing.T) {
	all := append(frame(3000), frame(9000)...)
	r := NewReader(iotest.OneByteReader(bytes.NewReader(append(all, frame(5)...))))
	n, err := r.Next(1 << 20)
	require.NoError(t, err)
	require.Equal(t, 3000, n)
	head, err := r.Peek(16)
	require.NoError(t, err)
	require.Equal(t, all[4:20], head)
	r.Skip(16)
	p := make([]byte, 100)
	require.NoError(t, r.Fill(p))
	require.Equal(t, all[20:120], p)

	n, err = r.Next(1 << 20) // drops what is left of the first
	require.NoError(t, err)
	require.Equal(t, 9000, n)
	p = make([]byte, 9000)
	require.NoError(t, r.Fill(p))
	require.Equal(t, frame(9000)[4:], p)
	_, err = r.Read(p)
	require.Equal(t, io.EOF, err, "the frame's end")
	got, err := r.ReadFrame(5)
	require.NoError(t, err)
	require.Equal(t, frame(5)[4:], got)
}

func TestAnEndWithinAFrameIsUnexpected(t *testing.T) {
	whole := frame(readAhead + 100)
	for cut := range whole {
		r := NewReader(bytes.NewReader(whole[:cut]))
		_, err := r.ReadFrame(1 << 20)
		if cut == 0 {
			require.Equal(t, io.EOF, err)
			continue
		}
		require.Equal(t, io.ErrUnexpectedEOF, err, "cut at %d", cut)
	}
}

func TestWriterUsesOneWrite(t *testing.T) {
	var c counting
	w := NewWriter(&c)
	require.NoError(t, w.Write([]byte{1, 2}, nil))
	require.NoError(t, w.Write([]byte{1, 2}, make([]byte, copyBelow-2)))
	require.NoError(t, w.WriteWith(func(dst []byte) ([]byte, error) { return append(dst, make([]byte, 1<<20)...), nil }))
	require.Equal(t, 3, c.writes)
	require.Nil(t, w.buf, "a large buffer is given back")
	require.Equal(t, fault.Internal, fault.KindOf(w.Write(nil, nil)))
	require.Equal(t, fault.Internal, fault.KindOf(w.Write(make([]byte, 1), make([]byte, protocol.MaxEnvelopeBytes))))
	require.Equal(t, 3, c.writes)
}

type counting struct{ writes int }

func (c *counting) Write(p []byte) (int, error) { c.writes++; return len(p), nil }
