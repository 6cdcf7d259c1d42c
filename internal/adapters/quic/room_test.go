package quic

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// Room is left for the small writes of others, for a time and no longer than they are there: not for one's own.
func TestWhoWantsRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := makeRoom(new(atomic.Uint64).Load, nil, new(taken))
		wanted := func() (from []int64) {
			for _, s := range []int64{4, 8, 12} {
				if r.wanted(s) {
					from = append(from, s)
				}
			}
			return from
		}
		require.Empty(t, wanted())
		r.want(4)
		require.Equal(t, []int64{8, 12}, wanted())
		time.Sleep(roomTime - time.Nanosecond)
		require.Equal(t, []int64{8, 12}, wanted())
		time.Sleep(time.Nanosecond)
		require.Empty(t, wanted())

		r.want(4)
		r.want(8)
		require.Equal(t, []int64{4, 8, 12}, wanted())
		time.Sleep(roomTime / 2)
		r.want(8)
		time.Sleep(roomTime / 2)
		require.Equal(t, []int64{4, 12}, wanted(), "the one that bulk alternates with has been quiet")

		r.want(4)
		r.leave(8)
		require.Equal(t, []int64{8, 12}, wanted())
		r.want(8)
		r.leave(8)
		require.Equal(t, []int64{8, 12}, wanted())
		r.leave(4)
		require.Empty(t, wanted())
	})
}

// A turn waits until the socket has taken all; or for the end of its stream, or of the connection.
func TestATurnWaitsForTheSocket(t *testing.T) {
	for name, end := range map[string]func(r *room, sent *atomic.Uint64, over *atomic.Bool, lost chan struct{}){
		"the socket takes it": func(r *room, _ *atomic.Uint64, _ *atomic.Bool, _ chan struct{}) { r.taken.take(1) },
		"the stream ends":     func(r *room, _ *atomic.Uint64, over *atomic.Bool, _ chan struct{}) { over.Store(true); r.leave(4) },
		"the connection ends": func(_ *room, _ *atomic.Uint64, _ *atomic.Bool, lost chan struct{}) { close(lost) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var sent atomic.Uint64
				var over, done atomic.Bool
				lost := make(chan struct{})
				r := makeRoom(sent.Load, lost, new(taken))
				r.wait(&over)
				sent.Store(2)
				go func() {
					r.wait(&over)
					done.Store(true)
				}()
				synctest.Wait()
				r.taken.take(1)
				synctest.Wait()
				require.False(t, done.Load(), "a byte waits")
				end(r, &sent, &over, lost)
				synctest.Wait()
				require.True(t, done.Load())
			})
		})
	}
}

// What waits is known where the socket has one connection; what it takes of others may hide some of it, and never adds any, so
// that no turn waits for ever.
func TestWhatWaitsIsNeverOverrated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, others := range []bool{false, true} {
		var sent, queue uint64 = 1000, 0
		k := new(taken)
		k.take(70)
		r := makeRoom(func() uint64 { return sent }, nil, k)
		for range 10_000 {
			n := rnd.Uint64N(1500)
			switch {
			case rnd.IntN(2) == 0:
				sent, queue = sent+n, queue+n
			default:
				n = min(n, queue)
				queue -= n
				k.take(int(n))
			}
			if others && rnd.IntN(10) == 0 {
				k.take(rnd.IntN(20_000))
			}
			waiting := r.waiting()
			require.LessOrEqual(t, waiting, queue)
			if !others {
				require.Equal(t, queue, waiting)
			}
		}
		k.take(int(queue))
		require.Zero(t, r.waiting())
		k.take(99) // of others, while nothing waits
		require.Zero(t, r.waiting())
		sent++
		require.EqualValues(t, 1, r.waiting())
	}
}

// Whoever looks after it has asked is told of what comes then, once for all who have asked.
func TestAWaitMissesNothing(t *testing.T) {
	k := new(taken)
	k.take(1)
	one, two := k.moved(), k.moved()
	require.Equal(t, one, two)
	k.take(1)
	<-one
	require.NotEqual(t, one, k.moved())
}

// Beside small writes of another stream bulk goes in turns of turnBytes, the next when the socket has taken the last; alone it
// goes at once. An end releases it.
func TestBulkIsWrittenInTurns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: time.Millisecond}, false)
		near, far := p.stream()
		var arrived atomic.Int64
		go func() {
			b := make([]byte, 64<<10)
			for {
				n, err := far.Read(b)
				arrived.Add(int64(n))
				if err != nil {
					return
				}
			}
		}()
		arrives := func() int64 {
			time.Sleep(100 * time.Millisecond)
			return arrived.Swap(0)
		}
		text := strings.Repeat("x", 3*turnBytes)
		stats := func() uint64 { return p.near.conn.ConnectionStats().BytesSent }
		begin := func() *room {
			near.room = makeRoom(stats, p.near.conn.Context().Done(), new(taken)) // which is told of nothing
			return near.room
		}
		begin()
		_, err := io.WriteString(near, text)
		require.NoError(t, err)
		require.EqualValues(t, len(text), arrives(), "nobody wants room")

		r := begin()
		r.want(near.number() + 4)
		_, err = io.WriteString(near, text[:turnBytes])
		require.NoError(t, err)
		require.EqualValues(t, turnBytes, arrives(), "a turn")

		r = begin()
		r.want(near.number() + 4)
		wrote := make(chan error, 1)
		go func() {
			_, err := io.WriteString(near, text)
			wrote <- err
		}()
		require.EqualValues(t, turnBytes, arrives())
		r.taken.take(int(r.waiting()) - 1)
		require.Zero(t, arrives())
		r.taken.take(1)
		require.EqualValues(t, turnBytes, arrives())
		require.Empty(t, wrote)
		require.NoError(t, near.Close())
		require.Equal(t, fault.Canceled, fault.KindOf(<-wrote))
		require.Zero(t, arrives())
		_ = far.Close()
	})
}

// A small write beyond what a stream begins with wants room from the others of its connection, at both ends. Both go on.
func TestSmallWritesWantRoomOnALink(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	bulk, keys := open(t, l), open(t, l)
	number := keys.(*stream).number()
	rooms := []*room{l.room, m.served.Load().room}
	for _, r := range rooms {
		require.NotEqual(t, number, r.last())
	}
	echoes(t, keys, "k")
	for _, r := range rooms {
		require.Equal(t, number, r.last())
	}
	var all sync.WaitGroup
	all.Go(func() {
		for range 200 {
			echoes(t, keys, "k")
		}
	})
	text := strings.Repeat("x", 4<<20)
	all.Go(func() { _, _ = io.WriteString(bulk, text) })
	got := make([]byte, len(text))
	_, err := io.ReadFull(bulk, got)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
	all.Wait()
	for _, r := range rooms {
		require.NotZero(t, r.taken.bytes.Load())
	}
	require.NoError(t, keys.Close())
	require.NotEqual(t, number, l.room.last())
}

// last is the stream that had the last small write.
func (r *room) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest.stream
}

// A socket has taken what it was given, be it lost or not.
func TestASocketCountsWhatItTakes(t *testing.T) {
	b := make([]byte, 5)
	air, _ := newAir(1, simnet.Conditions{})
	other := &otherSocket{PacketConn: air}
	n, err := other.WriteTo(b, nil)
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.EqualValues(t, 5, other.sends().bytes.Load())

	s, err := listen(Ports{})
	require.NoError(t, err)
	to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(portOf(s))}
	_, _, err = s.WriteMsgUDP(b, nil, to)
	require.NoError(t, err)
	require.EqualValues(t, 5, s.sends().bytes.Load())
	require.NoError(t, s.Close())
	_, _, err = s.WriteMsgUDP(b, nil, to)
	require.Error(t, err)
	require.EqualValues(t, 10, s.sends().bytes.Load())
}
