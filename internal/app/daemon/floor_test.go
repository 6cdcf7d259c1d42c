package daemon

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// stoodBack is how long a flood of a session waits for the floor now.
func stoodBack(f *floor, id domain.SessionID) time.Duration {
	start := time.Now()
	f.standBack(id)
	return time.Since(start)
}

func TestFloodStandsBackForAnAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var f floor
		typed, flood := domain.SessionID{1}, domain.SessionID{2}
		require.Zero(t, stoodBack(&f, flood), "nobody typed")

		f.take(typed, time.Now())
		require.Zero(t, stoodBack(&f, typed), "its own output is the answer")
		go func() {
			time.Sleep(floorTime / 4)
			f.give(flood) // not its turn to end
			time.Sleep(floorTime / 4)
			f.give(typed)
		}()
		require.Equal(t, floorTime/2, stoodBack(&f, flood), "until the answer")
		require.Zero(t, stoodBack(&f, flood))
	})
}

func TestFloodDoesNotWaitForAnAnswerThatNeverComes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var f floor
		f.take(domain.SessionID{1}, time.Now())
		require.Equal(t, floorTime, stoodBack(&f, domain.SessionID{2}))
		require.Zero(t, stoodBack(&f, domain.SessionID{2}))
	})
}

// However much is typed into any number of sessions, a flood has two thirds of the time.
func TestTypingLeavesFloodsTheirTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var f floor
		flood := domain.SessionID{9}
		var waited time.Duration
		start := time.Now()
		for time.Since(start) < time.Second {
			for i := range 3 {
				f.take(domain.SessionID{byte(i + 1)}, time.Now())
			}
			waited += stoodBack(&f, flood)
			time.Sleep(50 * time.Microsecond)
		}
		require.Greater(t, waited, time.Second/4)
		require.LessOrEqual(t, waited, time.Second/3+floorTime)
	})
}

func TestFloorRestsAfterAnAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var f floor
		a, b, flood := domain.SessionID{1}, domain.SessionID{2}, domain.SessionID{3}
		f.take(a, time.Now())
		f.give(a)
		f.take(b, time.Now())
		require.Zero(t, stoodBack(&f, flood))
		time.Sleep(floorRest)
		f.take(b, time.Now())
		require.Equal(t, floorTime, stoodBack(&f, flood))
	})
}

// A flood of pieces as small as a terminal gives them has a ninth of the time of a machine with few processors while
// somebody types into another session, and all of it otherwise.
func TestFloodPausesBesideTyping(t *testing.T) {
	typed, own := domain.SessionID{1}, domain.SessionID{2}
	const piece, every = 1 << 10, 20 * time.Microsecond
	for _, c := range []struct {
		name    string
		crowded bool
		typist  domain.SessionID
		piece   int
		every   time.Duration // of the keys
		least   time.Duration // that the flood reads in a second
		most    time.Duration
	}{
		{"few processors", true, typed, piece, typingTime / 2, time.Second / 10, time.Second / 8},
		{"many processors", false, typed, piece, typingTime / 2, time.Second / 2, time.Second},
		{"keys of its own", true, own, piece, typingTime / 2, time.Second, time.Second},
		{"a trickle", true, typed, floodBytes*int(every)/int(floodWindow) - 1, typingTime / 2, time.Second, time.Second},
		{"a key now and then", true, typed, piece, 4 * typingTime, 7 * time.Second / 10, 4 * time.Second / 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := floor{crowded: c.crowded}
				var fl flood
				var reads time.Duration
				start := time.Now()
				next := start
				for time.Since(start) < time.Second {
					if !time.Now().Before(next) {
						f.take(c.typist, time.Now())
						f.give(c.typist)
						next = next.Add(c.every)
					}
					time.Sleep(every)
					reads += every
					fl.yield(&f, own, c.piece)
				}
				require.GreaterOrEqual(t, reads, c.least)
				require.LessOrEqual(t, reads, c.most+floodPause)
			})
		})
	}
}

// The way of a key through a daemon: the program that gets it has the floor until it answers.
func TestKeyTakesTheFloorAndItsAnswerGivesItBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.typeIn("x")
		synctest.Wait()
		require.True(t, w.d.floor.held.Load())
		p.print("x")
		synctest.Wait()
		require.False(t, w.d.floor.held.Load())
	})
}
