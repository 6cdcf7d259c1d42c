package quic

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go/quicvarint"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/testkit/doctable"
)

// The bytes of a repeat are those of the document, and of every release that knows them.
func TestTheBytesOfARepeat(t *testing.T) {
	for want, r := range map[string]repeat{
		"01 04 00 78":                   {4, 0, []byte("x")},
		"01 08 4400 6162":               {8, 1024, []byte("ab")},
		"01 4190 80004000 7879":         {400, 16384, []byte("xy")},
		"01 04 c000000100000000 ff":     {4, 1 << 32, []byte{0xff}},
		"01 04 fffffffffffffffe 00":     {4, quicvarint.Max - 1, []byte{0}},
		hexOf(docRepeat(t)):             {4, 300, []byte("x")},
		"01 00 00 " + hexOf(longest()):  {0, 0, longest()},
		"01 fffffffffffffffc 00 000000": {quicvarint.Max - 3, 0, []byte{0, 0, 0}},
	} {
		b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(want), []byte(" "), nil)))
		require.NoError(t, err)
		got, err := parseRepeat(b)
		require.NoError(t, err, want)
		require.Equal(t, &r, got)
		require.Equal(t, hexOf(b), hexOf(r.append(nil)))
	}
}

func docRepeat(t *testing.T) []byte { return doctable.Hex(t, protocolDoc, "repeat") }
func hexOf(b []byte) string         { return hex.EncodeToString(b) }
func longest() []byte               { return bytes.Repeat([]byte{7}, maxRepeatBytes) }

// What is no repeat says nothing; a repeat that nobody sends breaks the protocol.
func TestWhatIsNoRepeat(t *testing.T) {
	for _, b := range [][]byte{nil, {datagramNothing}, {datagramNothing, 1, 2}, {2}, {0xff, 0, 0, 0}} {
		r, err := parseRepeat(b)
		require.NoError(t, err)
		require.Nil(t, r)
	}
	for name, b := range map[string][]byte{
		"no stream":          {1},
		"half a stream":      {1, 0x41},
		"no offset":          {1, 4},
		"half an offset":     {1, 4, 0x80, 0},
		"no bytes":           {1, 4, 0},
		"too many bytes":     append([]byte{1, 4, 0}, append(longest(), 0)...),
		"the proxy's stream": {1, 5, 0, 'x'},
		"one direction":      {1, 6, 0, 'x'},
		"beyond the end":     append([]byte{1, 4}, append(bytes.Repeat([]byte{0xff}, 8), 'x')...),
	} {
		_, err := parseRepeat(b)
		require.Equal(t, fault.Violation, fault.KindOf(err), name)
	}
}

// Whatever comes again, however often and in whichever order: each byte leaves once, and all leave in order.
func TestEachByteLeavesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "said")
		size := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 1500))
		var a arrivals
		var got []byte
		came := 0 // of said, from QUIC
		read := func() int {
			p := make([]byte, size.Draw(t, "buffer"))
			n := a.take(p)
			if n == 0 {
				copied := copy(p, said[came:min(len(said), came+size.Draw(t, "frame"))])
				came += copied
				n = a.pass(p[:copied])
			}
			got = append(got, p[:n]...)
			return n
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(said) > 0 && rapid.Bool().Draw(t, "again") {
				from := rapid.IntRange(0, len(said)-1).Draw(t, "from")
				to := min(len(said), from+rapid.IntRange(1, maxRepeatBytes).Draw(t, "bytes"))
				now := a.offer(repeat{4, int64(from), said[from:to]})
				if now != (from <= len(got) && to > len(got)) {
					t.Fatalf("%d to %d at %d: %v", from, to, len(got), now)
				}
			} else {
				read()
			}
			if len(a.held) > maxHeld || a.came > a.next || a.next != int64(len(got)) || a.came != int64(came) {
				t.Fatalf("%+v after %d, %d from QUIC", a, len(got), came)
			}
			if !bytes.Equal(got, said[:len(got)]) {
				t.Fatal("what left is not what was said")
			}
		}
		for came < len(said) || len(got) < len(said) {
			read()
		}
		if !bytes.Equal(got, said) {
			t.Fatal("what left is not all that was said")
		}
	})
}

// Of repeats whose time has not come those are kept that are needed first.
func TestRepeatsThatComeEarlyAreBounded(t *testing.T) {
	var a arrivals
	for i := range int64(20) {
		require.False(t, a.offer(repeat{4, 1000 - i, []byte("xyz")}))
	}
	var kept []int64
	for _, r := range a.held {
		kept = append(kept, r.offset)
	}
	slices.Sort(kept)
	require.Equal(t, []int64{981, 982, 983, 984}, kept)
	require.False(t, a.offer(repeat{4, math.MaxInt32, []byte("far")}))
	require.Len(t, a.held, maxHeld)
	require.True(t, a.offer(repeat{4, 0, []byte("now")}), "one that can leave has room")
	require.Len(t, a.held, maxHeld)
	p := make([]byte, 8)
	require.Equal(t, "now", string(p[:a.take(p)]))
	require.Zero(t, a.take(p))
}

// A connection repeats while it is new, or one of its last packets was lost; twice if two of fewer were.
func TestALossIsRemembered(t *testing.T) {
	var l losses
	see := func(sent, lost uint64) (recent, many bool) {
		l.see(sent, lost)
		return l.recent(), l.many()
	}
	for _, step := range []struct {
		sent, lost   uint64
		recent, many bool
	}{
		{newMemory, 0, true, false},
		{newMemory + 1, 0, false, false},
		{1000, 1, true, false},
		{1000 + lossMemory, 1, true, false},
		{1001 + lossMemory, 1, false, false},
		{2000, 2, true, false},
		{2100, 3, true, true},
		{2000 + manyMemory, 3, true, true},
		{2001 + manyMemory, 3, true, false},
		{2200, 2, true, false}, // one came late
		{2300, 2, true, false},
		{2400, 3, true, false},
		{9000, 3, false, false},
		{9001, 5, true, true},
		{9001 + manyMemory, 5, true, true},
		{9002 + manyMemory, 5, true, false},
	} {
		recent, many := see(step.sent, step.lost)
		require.Equal(t, step.recent, recent, step)
		require.Equal(t, step.many, many, step)
	}
	l.missed = 20_000
	for sent, recent := range map[uint64]bool{19_999: true, 20_000 + lossMemory: true, 20_001 + lossMemory: false} {
		got, many := see(sent, 5)
		require.Equal(t, recent, got, sent)
		require.False(t, many, "the other side's are not counted")
	}
}

func TestABucketRunsOut(t *testing.T) {
	const rate, size = 100, 1000
	start := time.Unix(1, 0)
	var b bucket
	require.True(t, b.has(size, rate, size, start))
	b.fill(900, rate, size, start)
	require.True(t, b.has(100, rate, size, start))
	require.False(t, b.has(101, rate, size, start))
	for i := range 100 { // each too short for a byte
		require.False(t, b.has(102, rate, size, start.Add(time.Duration(i)*100*time.Microsecond)))
	}
	require.True(t, b.has(101, rate, size, start.Add(10*time.Millisecond)))
	b.fill(size*10, rate, size, start.Add(time.Second))
	require.Equal(t, size, b.level)
	require.True(t, b.has(size, rate, size, start.Add(11*time.Second)))
}

// What is written soon after is repeated together; what is too much together leaves the older part out.
func TestWritesAreRepeatedTogether(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1, 0).Add(time.Duration(ms) * time.Millisecond) }
	var o outgoing
	o.add(100, []byte("ab"), at(0))
	require.Equal(t, at(8), o.due)
	o.add(102, []byte("cd"), at(5))
	require.Equal(t, at(13), o.due)
	o.add(104, []byte("ef"), at(12))
	require.Equal(t, at(16), o.due, "the first does not wait longer than twice the delay")
	require.Equal(t, "abcdef", string(o.data))
	require.EqualValues(t, 100, o.offset)
	o.add(106, longest()[:maxRepeatBytes-6], at(13))
	require.Len(t, o.data, maxRepeatBytes)
	require.EqualValues(t, 100, o.offset)
	o.add(100+maxRepeatBytes, []byte("x"), at(14))
	require.Equal(t, "x", string(o.data))
	require.EqualValues(t, 100+maxRepeatBytes, o.offset)
	require.Equal(t, at(22), o.due)
	o.add(5000, []byte("behind something large"), at(15))
	require.EqualValues(t, 5000, o.offset)
}

// Where losses are many, each byte is repeated twice and no more, together with what was written meanwhile.
func TestASecondRepeat(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1, 0).Add(time.Duration(ms) * time.Millisecond) }
	var o outgoing
	o.add(100, []byte("ab"), at(0))
	o.repeated(true, at(8))
	require.Equal(t, "ab", string(o.data))
	require.Equal(t, at(24), o.due)
	o.add(102, []byte("cd"), at(20))
	require.Equal(t, at(28), o.due)
	require.Equal(t, "abcd", string(o.data))
	o.repeated(true, at(28))
	require.Equal(t, "cd", string(o.data))
	require.EqualValues(t, 102, o.offset)
	o.repeated(true, at(44))
	require.Empty(t, o.data)
	o.add(104, []byte("ef"), at(50))
	require.Equal(t, "ef", string(o.data))
	o.repeated(false, at(58))
	require.Empty(t, o.data)
	require.EqualValues(t, 106, o.offset)
}
