package simnet

import (
	"math/rand/v2"
	"time"
)

// Conditions are those of one direction of a link. The zero value is a perfect one.
type Conditions struct {
	Delay  time.Duration // one way
	Jitter time.Duration // up to so much more, uniform; the order stays
	Loss   float64       // share of the packets that are lost, 0 to 1
	Rate   int64         // bits a second; 0: no limit
	Queue  int           // bytes that may wait for the rate, beyond them packets are dropped; 0: no limit
	Down   bool          // a blackhole
}

// Fate is what becomes of a packet.
type Fate uint8

const (
	Arrives Fate = iota
	Lost
	Full // the queue had no room
)

// Shaper decides the fate of each packet that enters one direction of a link. It belongs to one
// goroutine at a time.
type Shaper struct {
	rng  *rand.Rand
	free time.Time // the rate's: when the last packet will have left
	last time.Time // when it will have arrived
}

// NewShaper returns a shaper whose chances are those of the seed.
func NewShaper(seed uint64) *Shaper { return &Shaper{rng: rand.New(rand.NewPCG(seed, 1))} }

// Admit takes a packet of n bytes and says when it arrives, if it does: never before one that
// was admitted earlier.
func (s *Shaper) Admit(c Conditions, now time.Time, n int) (due time.Time, fate Fate) {
	if s.free.Before(now) {
		s.free = now
	}
	if c.Rate > 0 && c.Queue > 0 && s.waiting(c, now)+n > c.Queue {
		return time.Time{}, Full
	}
	if c.Rate > 0 {
		s.free = s.free.Add(time.Duration(n) * 8 * time.Second / time.Duration(c.Rate))
	}
	due, fate = s.leave(c, s.free)
	if fate == Arrives {
		due = later(due, s.last)
		s.last = due
	}
	return due, fate
}

// leave is the fate of a packet that leaves at a time, whatever else does.
func (s *Shaper) leave(c Conditions, leaves time.Time) (due time.Time, fate Fate) {
	if c.Down || c.Loss > 0 && s.rng.Float64() < c.Loss {
		return time.Time{}, Lost
	}
	due = leaves.Add(c.Delay)
	if c.Jitter > 0 {
		due = due.Add(time.Duration(s.rng.Int64N(int64(c.Jitter))))
	}
	return due, Arrives
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// waiting is how many bytes have not left yet.
func (s *Shaper) waiting(c Conditions, now time.Time) int {
	return int(s.free.Sub(now).Seconds() * float64(c.Rate) / 8)
}

// room is when the queue will have room for n bytes.
func (s *Shaper) room(c Conditions, n int) time.Time {
	over := max(c.Queue-n, 0)
	return s.free.Add(-time.Duration(over) * 8 * time.Second / time.Duration(c.Rate))
}
