package simnet

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/bubble"
)

// onLink runs f with a connection over a link in virtual time.
func onLink(t *testing.T, up, down Conditions, f func(l *Link, near, far *End)) {
	t.Helper()
	bubble.Test(t, func(*testing.T) {
		l := NewLink(1, up, down)
		near, far := l.Connect()
		f(l, near, far)
		near.Close()
		far.Close()
	})
}

// pattern is n bytes, each of which tells its place.
func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i) ^ byte(i>>8)
	}
	return p
}

// flood writes a pattern and closes.
func flood(e *End, n int) {
	_, _ = e.Write(pattern(n))
	e.Close()
}

// takes reads what flood wrote and says how long that took.
func takes(t *testing.T, e *End, n int) time.Duration {
	t.Helper()
	start := time.Now()
	got, err := io.ReadAll(e)
	require.NoError(t, err)
	require.Len(t, got, n)
	require.True(t, bytes.Equal(pattern(n), got))
	return time.Since(start)
}

func TestDelayOfEachDirection(t *testing.T) {
	onLink(t, Conditions{Delay: 20 * time.Millisecond}, Conditions{Delay: 5 * time.Millisecond}, func(_ *Link, near, far *End) {
		start := time.Now()
		for range 3 {
			_, err := near.Write([]byte("x"))
			require.NoError(t, err)
			_, err = io.ReadFull(far, make([]byte, 1))
			require.NoError(t, err)
			_, err = far.Write([]byte("y"))
			require.NoError(t, err)
			_, err = io.ReadFull(near, make([]byte, 1))
			require.NoError(t, err)
		}
		require.Equal(t, 75*time.Millisecond, time.Since(start))
	})
}

func TestRateAndItsHeads(t *testing.T) {
	onLink(t, Conditions{Rate: 1_000_000, Queue: 64 << 10}, Conditions{}, func(l *Link, near, far *End) {
		go flood(near, 1_000_000)
		took := takes(t, far, 1_000_000)
		sent, _ := l.Bytes()
		require.InDelta(t, 1_000_000*(segment+packetHead)/segment, sent, 100)
		require.InDelta(t, float64(sent)*8/1e6, took.Seconds(), 0.01)
	})
}

// What waits in the queue is no more than it holds: bytes that are written behind a flood are
// late by that, and by the sender's own buffer.
func TestQueueIsBounded(t *testing.T) {
	onLink(t, Conditions{Rate: 8_000_000, Queue: 50_000}, Conditions{}, func(l *Link, near, far *End) {
		go io.Copy(io.Discard, far)
		go func() {
			for {
				if _, err := near.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		}()
		time.Sleep(time.Second)
		other, otherFar := l.Connect()
		start := time.Now()
		_, err := other.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(otherFar, make([]byte, 1))
		require.NoError(t, err)
		require.InDelta(t, 50*time.Millisecond, time.Since(start), float64(3*time.Millisecond))
		other.Close()
		otherFar.Close()
	})
}

// Nothing is lost or out of order; it takes longer.
func TestLossAndJitter(t *testing.T) {
	for _, c := range []Conditions{
		{Delay: 10 * time.Millisecond, Loss: 0.1},
		{Delay: 10 * time.Millisecond, Jitter: 30 * time.Millisecond},
		{Delay: 10 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.3, Rate: 10_000_000, Queue: 20_000},
	} {
		onLink(t, c, Conditions{}, func(_ *Link, near, far *End) {
			go flood(near, 300_000)
			require.Greater(t, takes(t, far, 300_000), 20*time.Millisecond)
		})
	}
}

// One packet that is lost comes a round trip later, and so does what is behind it.
func TestOneIsLost(t *testing.T) {
	c := Conditions{Delay: 10 * time.Millisecond}
	onLink(t, c, c, func(l *Link, near, far *End) {
		for _, want := range []time.Duration{10 * time.Millisecond, 30 * time.Millisecond, 10 * time.Millisecond} {
			if want > c.Delay {
				l.LoseOne()
			}
			start := time.Now()
			for range 2 {
				_, err := far.Write([]byte("x"))
				require.NoError(t, err)
			}
			_, err := io.ReadFull(near, make([]byte, 2))
			require.NoError(t, err)
			require.Equal(t, want, time.Since(start))
		}
	})
}

// A blackhole makes the attempts rare: what is written in it comes some time after its end.
func TestBlackhole(t *testing.T) {
	onLink(t, Conditions{Delay: 25 * time.Millisecond}, Conditions{}, func(l *Link, near, far *End) {
		_, err := near.Write([]byte("on its way"))
		require.NoError(t, err)
		l.Set(Conditions{Delay: 25 * time.Millisecond, Down: true}, Conditions{})
		_, err = near.Write([]byte("late"))
		require.NoError(t, err)
		_, err = io.ReadFull(far, make([]byte, len("on its way")))
		require.NoError(t, err)
		time.AfterFunc(30*time.Second, func() { l.Set(Conditions{Delay: 25 * time.Millisecond}, Conditions{}) })
		start := time.Now()
		_, err = io.ReadFull(far, make([]byte, len("late")))
		require.NoError(t, err)
		require.Greater(t, time.Since(start), 30*time.Second)
		require.Less(t, time.Since(start), 62*time.Second)

		fresh, freshFar := l.Connect()
		start = time.Now()
		_, err = fresh.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(freshFar, make([]byte, 1))
		require.NoError(t, err)
		require.Equal(t, 25*time.Millisecond, time.Since(start), "a new connection has no past")
		fresh.Close()
		freshFar.Close()
	})
}

// One end that goes is news to the other only later, behind all that was under way.
func TestTheEndTravels(t *testing.T) {
	onLink(t, Conditions{Delay: 25 * time.Millisecond}, Conditions{}, func(_ *Link, near, far *End) {
		_, err := near.Write([]byte("last"))
		require.NoError(t, err)
		near.Close()
		_, err = near.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		start := time.Now()
		got, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Equal(t, "last", string(got))
		require.Equal(t, 25*time.Millisecond, time.Since(start))
	})
}

// A reader that does not read holds the sender up: a socket's buffers are all there is.
func TestAReaderHoldsTheSenderUp(t *testing.T) {
	onLink(t, Conditions{Delay: time.Millisecond}, Conditions{}, func(_ *Link, near, far *End) {
		written := 0
		go func() {
			for {
				n, err := near.Write(bytes.Repeat([]byte("x"), 1000))
				written += n
				if err != nil {
					return
				}
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.InDelta(t, 2*socketBytes, written, 2*segment)
		_, err := io.CopyN(io.Discard, far, 1<<20)
		require.NoError(t, err)
	})
}

// Minutes of a busy link pass in a moment, and the same seed gives the same minutes.
func TestSeedsRepeat(t *testing.T) {
	run := func() (took time.Duration) {
		c := Conditions{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.02, Rate: 200_000, Queue: 30_000}
		onLink(t, c, c, func(_ *Link, near, far *End) {
			go flood(near, 3_000_000)
			took = takes(t, far, 3_000_000)
		})
		return took
	}
	first := run()
	require.Greater(t, first, 2*time.Minute)
	require.Equal(t, first, run())
}
