package brokeripc

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// Streams that always have a frame waiting, each of its own size, share the bytes evenly; one
// that sends little goes before all of them.
func TestWriteTurnsAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(quantum/16, quantum), 2, 8).Draw(t, "sizes")
		var turns writeTurns
		streams := make([]*Stream, len(sizes))
		sent := make(map[*Stream]int64)
		for i, n := range sizes {
			streams[i] = &Stream{quantum: quantum}
			turns.wait(streams[i], n)
		}
		const rounds = 50
		total := int64(0)
		for total < int64(rounds*len(sizes)*quantum) {
			s := turns.next()
			sent[s] += s.frame
			total += s.frame
			turns.wait(s, int(s.frame))
		}
		for i, s := range streams {
			fair := total / int64(len(streams))
			if sent[s] < fair-2*quantum || sent[s] > fair+2*quantum {
				t.Fatalf("stream %d with frames of %d sent %d of a fair %d: %v", i, sizes[i], sent[s], fair, sizes)
			}
		}
		keys := &Stream{quantum: quantum}
		turns.wait(keys, 10)
		for passed := 0; ; passed++ {
			s := turns.next()
			if s == keys {
				break
			}
			if s.quantum < 0 || passed == len(streams) {
				t.Fatal("a small frame waits behind a round of floods")
			}
		}
	})
}

// A line is a queue from whose middle anybody may leave.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var want []*Stream
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				s := &Stream{}
				l.push(s)
				want = append(want, s)
			case 1:
				got := l.pop()
				if len(want) == 0 {
					if got != nil {
						t.Fatal("out of an empty line")
					}
					continue
				}
				if got != want[0] {
					t.Fatal("out of turn")
				}
				want = want[1:]
			case 2:
				if len(want) == 0 || l.remove(&Stream{}) {
					continue
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "who")
				if !l.remove(want[i]) {
					t.Fatal("not there")
				}
				want = append(want[:i:i], want[i+1:]...)
			}
		}
		for _, s := range want {
			if l.pop() != s {
				t.Fatal("out of turn at the end")
			}
		}
		if l.pop() != nil || l.tail != nil {
			t.Fatal("not empty at the end")
		}
	})
}

// Bytes go through the queue in order, frames earn their cost when their last byte is read.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, smallFrame), rapid.IntRange(smallFrame+1, 64<<10)), 1, 30).Draw(t, "frames")
		reads := rapid.SliceOfN(rapid.IntRange(1, 20000), 1, 40).Draw(t, "reads")
		var q recvQueue
		var want, got []byte
		var ends []int // offset behind each frame
		var cur *chunk
		var earned int64
		for i := 0; i < len(frames) || !q.empty() || cur != nil; i++ {
			if i < len(frames) {
				b := randomBytes(frames[i], uint64(i))
				want = append(want, b...)
				ends = append(ends, len(want))
				if len(b) <= smallFrame {
					q.add(b)
				} else {
					c := newChunk(len(b), true)
					c.w = copy(c.buf, b)
					q.push(c)
				}
			}
			if cur == nil {
				cur = q.pop()
			}
			p := make([]byte, reads[i%len(reads)])
			n, done := cur.read(p)
			if n == 0 {
				t.Fatal("nothing read")
			}
			got = append(got, p[:n]...)
			earned += done
			if cur.empty() {
				cur.free()
				cur = nil
			}
			var due int64
			for f, end := range ends {
				if end <= len(got) {
					due += cost(frames[f])
				}
			}
			if earned != due {
				t.Fatalf("%d earned after %d bytes of %v, due %d", earned, len(got), frames, due)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatal("other bytes came out")
		}
	})
}

func TestChunkSizes(t *testing.T) {
	for n, want := range map[int]int{1: 4 << 10, 4 << 10: 4 << 10, 4<<10 + 1: 8 << 10, 33 << 10: 64 << 10, 64 << 10: 64 << 10} {
		c := newChunk(n, true)
		require.Len(t, c.buf, want)
		c.free()
	}
}

// While one stream floods a slow carriage, a sibling's small frames wait for what is in the
// carriage and one frame, not for the flood's queue.
func TestSmallFramesOvertakeAFlood(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := pace(64<<10, time.Millisecond)
		defer time.Sleep(time.Second) // the carriage empties
		c, s := connect(t, a, b)
		defer part(c, s)
		var floods []ports.Stream
		for range 8 {
			cs, ss := open(t, c, s)
			floods = append(floods, cs)
			go io.Copy(io.Discard, cs)
			go func() {
				for {
					if _, err := ss.Write(make([]byte, 256<<10)); err != nil {
						return
					}
				}
			}()
		}
		echo, echoPeer := open(t, c, s)
		go io.Copy(echoPeer, echoPeer)
		time.Sleep(20 * time.Millisecond)
		p := make([]byte, 10)
		for range 50 {
			start := time.Now()
			_, err := echo.Write(p)
			require.NoError(t, err)
			_, err = io.ReadFull(echo, p)
			require.NoError(t, err)
			require.Less(t, time.Since(start), 5*time.Millisecond, "eight floods would take 8 ms a round")
		}
		for _, f := range floods {
			f.Close()
		}
		echo.Close()
	})
}

// Of two floods with frames of different size neither gets more.
func TestFloodsShareTheCarriage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := pace(64<<10, time.Millisecond)
		defer time.Sleep(time.Second) // the carriage empties
		c, s := connect(t, a, b)
		defer part(c, s)
		var got [2]atomic.Int64
		for i, size := range []int{8 << 10, 64 << 10} {
			cs, ss := open(t, c, s)
			defer cs.Close()
			go func() {
				for {
					if _, err := ss.Write(make([]byte, size)); err != nil {
						return
					}
				}
			}()
			go func() {
				p := make([]byte, 64<<10)
				for {
					n, err := cs.Read(p)
					if err != nil {
						return
					}
					got[i].Add(int64(n))
				}
			}()
		}
		time.Sleep(500 * time.Millisecond)
		first, second := got[0].Load(), got[1].Load()
		require.Greater(t, first+second, int64(20<<20))
		require.InDelta(t, (first+second)/2, first, float64(first+second)/10, "%d and %d", first, second)
	})
}
