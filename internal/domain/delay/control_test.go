package delay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// link is a simulated way: a rate, a queue without end, and the time that a byte and its
// acknowledgement are under way.
type link struct {
	rate float64 // bytes a second
	rtt  time.Duration
	busy time.Time // the last byte given leaves the queue
}

func (l *link) send(now time.Time, bytes int) (acked time.Time) {
	if l.busy.Before(now) {
		l.busy = now
	}
	l.busy = l.busy.Add(time.Duration(float64(bytes) / l.rate * float64(time.Second)))
	return l.busy.Add(l.rtt)
}

// sender always has a newer frame to send, as a flood does.
type sender struct {
	c      Control
	l      *link
	now    time.Time
	frames int // in flight, at the most
	flight []flying
}

type flying struct {
	m     Mark
	acked time.Time
}

// run sends frames of a size until the time has passed and returns the largest age that an
// arriving frame had in the last half of it, and the bytes that arrived in that half.
func (s *sender) run(d time.Duration, frame int) (age time.Duration, arrived int) {
	const tick = time.Millisecond
	start := s.now
	for ; s.now.Before(start.Add(d)); s.now = s.now.Add(tick) {
		for len(s.flight) > 0 && !s.flight[0].acked.After(s.now) {
			f := s.flight[0]
			s.flight = s.flight[1:]
			s.c.Acked(f.acked, f.m)
			if s.now.Sub(start) > d/2 {
				age = max(age, f.acked.Sub(f.m.at))
				arrived += f.m.bytes
			}
		}
		for len(s.flight) < s.frames && s.room() {
			s.flight = append(s.flight, flying{s.c.Sent(s.now, frame), s.l.send(s.now, frame)})
		}
	}
	return age, arrived
}

func (s *sender) room() bool {
	_, ok := s.c.Room(s.now, s.oldest(), false)
	return ok
}

func (s *sender) oldest() *Mark {
	if len(s.flight) == 0 {
		return nil
	}
	return &s.flight[0].m
}

func newSender(l *link, frames int) *sender {
	return &sender{l: l, now: time.Unix(1000, 0), frames: frames}
}

func own(l *link, frame int) time.Duration {
	return time.Duration(float64(frame) / l.rate * float64(time.Second))
}

// On any link the newest frame is little more than a queue older than the way takes, and the
// link is kept busy.
func TestAFloodIsCurrentAndFillsTheLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &link{
			rate: float64(rapid.IntRange(20<<10, 4<<20).Draw(t, "rate")),
			rtt:  time.Duration(rapid.IntRange(1, 200).Draw(t, "rtt")) * time.Millisecond,
		}
		frame := rapid.IntRange(300, 10000).Draw(t, "frame")
		age, arrived := newSender(l, 8).run(12*time.Second, frame)
		if limit := l.rtt + 5*Queue + 4*own(l, frame); age > limit {
			t.Fatalf("a frame was %v old, at most %v is right", age, limit)
		}
		if could := min(l.rate, 8*float64(frame)/(l.rtt+own(l, frame)+time.Millisecond).Seconds()) * 6; float64(arrived) < 0.7*could {
			t.Fatalf("%d bytes arrived, the link carries %.0f", arrived, could)
		}
	})
}

// A link that becomes 500 times slower shows the past for a moment only, and is used again when
// it is fast again.
func TestALinkThatChanges(t *testing.T) {
	l := &link{rate: 12.5e6, rtt: 50 * time.Millisecond}
	s := newSender(l, 8)
	s.run(2*time.Second, 2000)
	l.rate = 25e3
	age, _ := s.run(2*time.Second, 2000) // its last half
	require.Less(t, age, l.rtt+2*Queue+3*own(l, 2000))
	l.rate = 12.5e6
	s.run(time.Second, 2000)
	_, arrived := s.run(time.Second, 2000)
	require.Greater(t, arrived, 8*2000*8, "eight frames with each round trip again")
}

// What is small says nothing of the rate of a link, however late it is acknowledged where packets are lost; and an answer
// waits for nothing while little is in flight.
func TestAnEchoWaitsForNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type echo struct {
			pause, late int // milliseconds
			bytes       int
		}
		echoes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) echo {
			e := echo{pause: rapid.IntRange(10, 120).Draw(t, "pause"), bytes: rapid.IntRange(40, (leastBudget-1)/8).Draw(t, "bytes")}
			if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				e.late = rapid.IntRange(10, 300).Draw(t, "late")
			}
			return e
		}), 50, 200).Draw(t, "echoes")
		s := newSender(nil, 8)
		var last time.Time
		for _, e := range echoes {
			s.now = s.now.Add(time.Duration(e.pause) * time.Millisecond)
			for len(s.flight) > 0 && !s.flight[0].acked.After(s.now) {
				s.c.Acked(s.flight[0].acked, s.flight[0].m)
				s.flight = s.flight[1:]
			}
			if len(s.flight) == s.frames {
				continue
			}
			if wait, ok := s.c.Room(s.now, s.oldest(), true); !ok {
				t.Fatalf("an echo waits for %v, of %d bytes in flight", wait, s.c.flight)
			}
			acked := s.now.Add(50*time.Millisecond + time.Duration(e.late)*time.Millisecond)
			if acked.Before(last) {
				acked = last // acknowledgements do not overtake
			}
			last = acked
			s.flight = append(s.flight, flying{s.c.Sent(s.now, e.bytes), acked})
		}
		if s.c.congested {
			t.Fatalf("the link is taken for one of %.0f bytes a second", s.c.rate)
		}
	})
}

// A way that has become longer is not taken for a queue for ever.
func TestALongerWay(t *testing.T) {
	l := &link{rate: 1e6, rtt: 2 * time.Millisecond}
	s := newSender(l, 1<<20)
	s.run(2*time.Second, 1000)
	l.rtt = 150 * time.Millisecond
	s.run(forget+2*time.Second, 1000)
	require.GreaterOrEqual(t, s.c.RTT(), 150*time.Millisecond)
	_, arrived := s.run(2*time.Second, 1000)
	require.Greater(t, arrived, 600_000)
}

func TestBeforeAnythingIsKnown(t *testing.T) {
	var c Control
	now := time.Unix(1, 0)
	m := c.Sent(now, startBudget-1)
	_, ok := c.Room(now.Add(time.Hour), &m, false)
	require.True(t, ok, "nothing says that it is late")
	c.Sent(now, 1)
	wait, ok := c.Room(now, &m, false)
	require.False(t, ok)
	require.Zero(t, wait, "only an acknowledgement changes that")
	c.Acked(now, m) // in no time
	require.Positive(t, c.RTT())
}

// However slow the link, a packet may go; and with nothing in flight, anything.
func TestTheLeastBudget(t *testing.T) {
	var c Control
	now := time.Unix(1, 0)
	c.Acked(now.Add(time.Millisecond), c.Sent(now, 100))
	a := c.Sent(now.Add(time.Second), leastBudget/2)
	b := c.Sent(now.Add(time.Second+10*time.Millisecond), leastBudget/2)
	c.Acked(now.Add(time.Hour), a)
	c.Acked(now.Add(time.Hour), b)
	require.Equal(t, leastBudget, c.budget())
	_, ok := c.Room(now, nil, false)
	require.True(t, ok)
}
