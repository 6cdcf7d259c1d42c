package streambus

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawMessage(t *rapid.T) Message {
	return Message{Frame{
		Topic:       rapid.StringMatching(`[a-z/é]{1,40}`).Draw(t, "topic"),
		Payload:     rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload"),
		Reliability: Reliability(rapid.IntRange(0, 1).Draw(t, "reliability")),
		Priority:    Priority(rapid.IntRange(0, 1).Draw(t, "priority")),
	}, rapid.Uint64Min(1).Draw(t, "sequence")}
}

func requireSame(t require.TestingT, want, got Message) {
	require.Equal(t, string(want.Payload), string(got.Payload))
	want.Payload, got.Payload = nil, nil
	require.Equal(t, want, got)
}

func TestADatagramComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawMessage(t)
		b, err := EncodeMessage(want)
		require.NoError(t, err)
		got, err := DecodeMessage(b)
		require.NoError(t, err)
		requireSame(t, want, got)
	})
}

func TestAStreamComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawMessage), 0, 10).Draw(t, "messages")
		var stream bytes.Buffer
		for _, m := range want {
			require.NoError(t, WriteMessage(&stream, m))
		}
		r, err := NewReader(iotest.OneByteReader(&stream), 300)
		require.NoError(t, err)
		for _, m := range want {
			got, err := r.Next()
			require.NoError(t, err)
			requireSame(t, m, got)
		}
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
	})
}

// The bytes of version 1, for ever.
func TestVersion1(t *testing.T) {
	for _, c := range []struct {
		m    Message
		wire string
	}{
		{Message{Frame{Topic: "a"}, 1}, "0100010161"},
		{Message{Frame{Topic: "a/b", Payload: []byte("hi")}, 300}, "0100ac0203612f626869"},
		{Message{Frame{Topic: "é", Payload: []byte{0}, Reliability: BestEffort}, 1}, "01010102c3a900"},
		{Message{Frame{Topic: "x", Priority: Bulk}, 1<<64 - 1}, "0102ffffffffffffffffff010178"},
		{Message{Frame{Topic: "x", Reliability: BestEffort, Priority: Bulk}, 127}, "01037f0178"},
	} {
		b, err := EncodeMessage(c.m)
		require.NoError(t, err)
		require.Equal(t, c.wire, hex.EncodeToString(b))
		var stream bytes.Buffer
		require.NoError(t, WriteMessage(&stream, c.m))
		require.Equal(t, append([]byte{byte(len(b))}, b...), stream.Bytes())
	}
}

func TestADecoderRefuses(t *testing.T) {
	for name, wire := range map[string]string{
		"nothing":                    "",
		"a version alone":            "01",
		"another version":            "0200010161",
		"an unknown flag":            "0104010161",
		"no sequence":                "0100",
		"a sequence of 0":            "0100000161",
		"a long sequence":            "010081000161",
		"a sequence without an end":  "0100ffffffffffffffffffff0161",
		"no topic":                   "010001",
		"an empty topic":             "01000100",
		"less topic than it says":    "010001026f",
		"a topic over the limit":     "0100018002" + strings.Repeat("61", 256),
		"a topic that is not UTF-8":  "01000101ff",
		"a topic with a control":     "010001010a",
		"a length longer than needs": "010001810061",
	} {
		b, err := hex.DecodeString(wire)
		require.NoError(t, err)
		m, err := DecodeMessage(b)
		require.Error(t, err, name)
		require.Zero(t, m, name)
		_, format := errors.AsType[*FormatError](err)
		_, topic := errors.AsType[*TopicError](err)
		require.True(t, format || topic, "%s: %v", name, err)
	}
}

func TestAnEncoderRefuses(t *testing.T) {
	for name, m := range map[string]Message{
		"a topic":       {Frame{}, 1},
		"a reliability": {Frame{Topic: "t", Reliability: 2}, 1},
		"a priority":    {Frame{Topic: "t", Priority: 2}, 1},
		"a sequence":    {Frame{Topic: "t"}, 0},
	} {
		_, err := EncodeMessage(m)
		require.Error(t, err, name)
		require.Error(t, WriteMessage(io.Discard, m), name)
	}
}

func streamOf(t *testing.T, m Message) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteMessage(&b, m))
	return b.Bytes()
}

func TestAReaderHoldsToItsLimit(t *testing.T) {
	b := streamOf(t, Message{Frame{Topic: "t", Payload: make([]byte, 1000)}, 1})
	for limit, ok := range map[int]bool{1000: true, 999: false, 0: false} {
		r, err := NewReader(bytes.NewReader(b), limit)
		require.NoError(t, err)
		_, err = r.Next()
		if ok {
			require.NoError(t, err)
			continue
		}
		_, is := errors.AsType[*PayloadError](err)
		require.True(t, is, "%v", err)
		_, again := r.Next()
		require.Equal(t, err, again)
	}
	// A size that nobody has memory for is refused by its number.
	r, err := NewReader(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}), 1<<20)
	require.NoError(t, err)
	_, err = r.Next()
	_, is := errors.AsType[*PayloadError](err)
	require.True(t, is, "%v", err)
	_, err = NewReader(bytes.NewReader(nil), -1)
	require.Error(t, err)
}

func TestAReaderKnowsAnEndFromACut(t *testing.T) {
	b := streamOf(t, Message{Frame{Topic: "t", Payload: make([]byte, 200)}, 1})
	for cut := range b {
		r, err := NewReader(bytes.NewReader(b[:cut]), 200)
		require.NoError(t, err)
		_, err = r.Next()
		if cut == 0 {
			require.Equal(t, io.EOF, err)
		} else {
			require.Equal(t, io.ErrUnexpectedEOF, err, "cut after %d", cut)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, s := range []string{"0100010161", "01037f0178ffff", "0100ac0203612f626869", "01000101ff"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			return
		}
		again, err := EncodeMessage(m)
		require.NoError(t, err)
		require.Equal(t, b, again, "a message has one encoding")
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 1, 'a', 6, 1, 3, 2, 1, 'a', 'x'})
	f.Add([]byte{0xff, 0xff, 3, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), 64)
		require.NoError(t, err)
		var again bytes.Buffer
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			require.LessOrEqual(t, len(m.Payload), 64)
			require.NoError(t, WriteMessage(&again, m))
		}
		require.True(t, bytes.HasPrefix(b, again.Bytes()))
	})
}
