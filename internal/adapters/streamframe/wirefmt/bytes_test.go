package wirefmt

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// sign tells lengths from errors, whose numbers are each package's own.
func sign(n int) int { return max(n, -1) }

// agree compares every function that reads with protobuf's own.
func agree(t require.TestingT, b []byte) {
	v, n := ConsumeVarint(b)
	wantV, want := protowire.ConsumeVarint(b)
	require.Equal(t, sign(want), sign(n), "varint %x", b)
	require.Equal(t, wantV, v)

	data, n := ConsumeBytes(b)
	wantData, want := protowire.ConsumeBytes(b)
	require.Equal(t, sign(want), sign(n), "bytes %x", b)
	require.True(t, bytes.Equal(wantData, data))

	num, typ, n := ConsumeTag(b)
	wantNum, wantTyp, want := protowire.ConsumeTag(b)
	if wantNum > protowire.MaxValidNumber {
		require.Negative(t, n, "a number that no field can have: %x", b)
		return
	}
	require.Equal(t, sign(want), sign(n), "tag %x", b)
	if n < 0 {
		require.NotEqual(t, "parse error", Reason(n))
		return
	}
	require.EqualValues(t, wantNum, num)
	require.EqualValues(t, wantTyp, typ)
	got := ConsumeValue(num, typ, b[n:])
	require.Equal(t, sign(protowire.ConsumeFieldValue(wantNum, wantTyp, b[n:])), sign(got), "value %x", b)
	if got < 0 {
		require.NotEqual(t, "parse error", Reason(got))
	}
}

func TestReadsAsProtobufDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agree(t, rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 1, 2, 8, 0x0b, 0x0c, 0x7f, 0x80, 0xff})), 0, 24).Draw(t, "bytes"))
	})
	for _, b := range [][]byte{
		{},
		{0x80},
		bytes.Repeat([]byte{0xff}, 10), append(bytes.Repeat([]byte{0xff}, 9), 1), append(bytes.Repeat([]byte{0xff}, 9), 2),
		{0x0b, 0x0c},
		{0x0b, 0x14},
		{0x0b, 0x0b, 0x0c, 0x0c},
		{0x0c},
		{0x0e},
		{0x09, 1, 2, 3, 4, 5, 6, 7},
		{0x0d, 1, 2, 3},
		{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f},
		bytes.Repeat([]byte{0x0b}, 10001), append(bytes.Repeat([]byte{0x0b}, 10001), bytes.Repeat([]byte{0x0c}, 10001)...),
		append(bytes.Repeat([]byte{0x0b}, 10002), bytes.Repeat([]byte{0x0c}, 10002)...),
	} {
		agree(t, b)
	}
}

func TestWritesAsProtobufDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "value") >> rapid.IntRange(0, 63).Draw(t, "shift")
		num := rapid.Int32Range(1, int32(protowire.MaxValidNumber)).Draw(t, "number")
		require.Equal(t, protowire.AppendVarint(nil, v), AppendVarint(nil, v))
		require.Equal(t, protowire.SizeVarint(v), SizeVarint(v))
		require.Equal(t, protowire.AppendTag(nil, protowire.Number(num), protowire.BytesType), AppendTag(nil, Number(num), Bytes))
		require.Equal(t, protowire.SizeTag(protowire.Number(num)), SizeTag(Number(num)))
		n := int(v >> 40)
		require.Equal(t, protowire.SizeBytes(n), SizeBytes(n))
	})
}
