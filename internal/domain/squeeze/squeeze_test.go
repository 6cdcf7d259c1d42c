package squeeze

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// known returns what Expand asks when the length is known otherwise.
func known(n int) func([]byte) int { return func([]byte) int { return n } }

// Whatever is squeezed, one after the other, comes out the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		there, back := New(), New()
		for range rapid.IntRange(1, 20).Draw(rt, "messages") {
			p := rapid.OneOf(
				rapid.SliceOfN(rapid.Byte(), 1, 60),
				rapid.SliceOfN(rapid.SampledFrom([]byte("\x1b[;0H1")), 1, 300),
				rapid.Map(rapid.IntRange(1, 200), func(n int) []byte { return make([]byte, n) }),
				rapid.Map(rapid.IntRange(1, 200), func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }),
			).Draw(rt, "message")
			code := there.Append([]byte("head"), p)
			require.Equal(rt, "head", string(code[:4]))
			got, ok := back.Expand([]byte("head"), code[4:], known(len(p)))
			require.True(rt, ok)
			require.Equal(rt, p, got[4:])
			if n := len(code); n > 4 {
				require.NotZero(rt, code[n-1], "zeros at the end go without saying")
			}
		}
	})
}

// The code is that of docs/protocol.md: another one would be another protocol.
func TestTheCodeIsFrozen(t *testing.T) {
	m := New()
	var code []byte
	for i := range 40 {
		code = m.Append(code, fmt.Appendf(nil, "\x12\x20\x18%c\x1b[%d;%dHcpu %d.%d\x1b[K", i, 1+i%7, i, i*i%100, i%10))
	}
	require.Equal(t, frozen, hex.EncodeToString(code))
}

const frozen = "edc23e264a4748cb185cf0a23b86ce20b88b0937a0a6077b4c57434a430d495b948e1c8ae1e6ffcdb44e8a77904542740b854fb3657e812155da9651" +
	"23516fc0890e96f737309d5c76530e55dd78306567fb02282e1d075dfd732a7a115eb37a4f781dd6d8a1047eae3af6ef851c253cf4a3251f613c17fc" +
	"5d271e546fce68286b4cb929272fc54f361909acacad25fa0a20a05930d0ca2c5f1e59ae782b70f8a1d4285f0dd0ed0f9edd65f314473f54ee1d9099" +
	"f51d63eec5752133d3764d62094c742c360905e66b2106f86ab7c80c6cca860b08e14fdd53049fb1f73c02a787bf05ae0c0c1148e91b0f7454eb1c0c" +
	"ec6873055b7d89ad08919ea6070e9e0fdd0774cb57"

func TestWhatComesAgainTakesLittle(t *testing.T) {
	m := New()
	total := 0
	for i := range 100 {
		n := len(m.Append(nil, fmt.Appendf(nil, "\x1b[1;27H%d\x1b[30Cstopped, sleeping, running", i)))
		if i >= 10 {
			total += n
		}
	}
	require.Less(t, total, 90*4)
}

func TestHostileCode(t *testing.T) {
	code := New().Append(nil, []byte("abcdefgh"))
	_, ok := New().Expand(nil, append(bytes.Clone(code), 1, 2, 3, 4, 5), known(8))
	require.False(t, ok, "more than it takes")
	_, ok = New().Expand(nil, code, func(head []byte) int {
		require.LessOrEqual(t, len(head), 3)
		return len(head) / 3 * -1 // 0, 0, -1
	})
	require.False(t, ok)
	got, ok := New().Expand(nil, nil, known(5))
	require.True(t, ok)
	require.Len(t, got, 5)
}

func FuzzExpand(f *testing.F) {
	f.Add(New().Append(nil, []byte("abc")), 3)
	f.Fuzz(func(t *testing.T, code []byte, n int) {
		n = 1 + (n&0xff)%100
		there, back := New(), New()
		p, ok := back.Expand(nil, code, known(n))
		require.Len(t, p, n)
		if ok {
			again, ok := New().Expand(nil, there.Append(nil, p), known(n))
			require.True(t, ok)
			require.Equal(t, p, again)
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	m, p, code := New(), bytes.Repeat([]byte("abc"), 100), make([]byte, 0, 4096)
	require.Zero(t, testing.AllocsPerRun(10, func() { code = m.Append(code[:0], p) }))
	out := make([]byte, 0, 4096)
	back := New()
	first := New().Append(nil, p)
	require.Zero(t, testing.AllocsPerRun(1, func() { out, _ = back.Expand(out[:0], first, known(len(p))) }))
}

func BenchmarkAppend(b *testing.B) {
	m, p, code := New(), bytes.Repeat([]byte("\x1b[1;27H2\x1b[30C75"), 60), make([]byte, 0, 4096)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		code = m.Append(code[:0], p)
	}
}
