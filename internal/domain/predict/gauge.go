package predict

import (
	"slices"
	"time"
)

// When guesses are shown, and underlined. The lower number of a pair ends what the higher one begins, so that a link
// near either does not flicker.
const (
	showAbove      = 30 * time.Millisecond
	showBelow      = 20 * time.Millisecond
	underlineAbove = 80 * time.Millisecond
	underlineBelow = 50 * time.Millisecond
	// stallAfter without an answer to a key, and guesses are shown and underlined for the next stallKeys keys that are
	// answered in time, whatever the link's usual round trip.
	stallAfter = 250 * time.Millisecond
	stallKeys  = 10
)

// Mode says when guesses are shown.
type Mode uint8

// The modes.
const (
	Adaptive Mode = iota // on a link whose round trip is worth it
	Always
	Never
)

var modeNames = [...]string{Adaptive: "adaptive", Always: "always", Never: "never"}

// String returns the mode's name.
func (m Mode) String() string { return modeNames[m] }

// ParseMode returns the mode of that name.
func ParseMode(name string) (m Mode, ok bool) {
	i := slices.Index(modeNames[:], name)
	return Mode(max(i, 0)), i >= 0
}

// gauge judges the link.
type gauge struct {
	mode      Mode
	slow      bool // slow enough to show
	bad       bool // bad enough to underline
	stallKeys int  // answers in time that make up for a stall
}

func (g *gauge) measure(rtt time.Duration) {
	g.slow = rtt > showAbove || g.slow && rtt >= showBelow
	g.bad = rtt > underlineAbove || g.bad && rtt >= underlineBelow
}

// answered is told how long a key's answer took.
func (g *gauge) answered(d time.Duration) {
	if d < stallAfter && g.stallKeys > 0 {
		g.stallKeys--
	}
}

func (g *gauge) stalled() { g.stallKeys = stallKeys }

func (g *gauge) shows() bool {
	return g.mode == Always || g.mode == Adaptive && (g.slow || g.stallKeys > 0)
}

func (g *gauge) underlines() bool { return g.bad || g.stallKeys > 0 }
