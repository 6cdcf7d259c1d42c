package client

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/domain/vt"
)

// positions are bytes of all input: echo have had their effect, acked were given to the program.
type positions struct{ echo, acked uint64 }

// guesser carries what is typed from the pump to the predictor, which belongs to whoever has the screen's turn. The
// pump never waits for that: it leaves the bytes, and the tender draws.
type guesser struct {
	wake   chan struct{} // cap 1: there is something to guess from
	active atomic.Bool   // guesses are of use: the pump leaves its bytes

	mu      sync.Mutex // a leaf
	left    [4 * predict.MaxChunk]byte
	n       int    // bytes left
	end     uint64 // their position in the input
	long    bool   // more were left than there is room for: end counts, the bytes do not
	at      positions
	rtt     time.Duration // new since the last turn, or 0
	stalled bool          // since the last turn

	// Of whoever has the screen's turn.
	predictor *predict.Predictor
	taken     [4 * predict.MaxChunk]byte
}

func newGuesser(mode predict.Mode) *guesser {
	g := &guesser{wake: make(chan struct{}, 1), predictor: predict.New(mode)}
	g.active.Store(g.predictor.Active())
	return g
}

// typed leaves input whose last byte is at position end.
func (g *guesser) typed(p []byte, end uint64) {
	g.mu.Lock()
	if g.long = g.long || g.n+len(p) > len(g.left); !g.long {
		g.n += copy(g.left[g.n:], p)
	}
	g.end = end
	g.mu.Unlock()
}

// pasted tells of input that is not left, as nothing is guessed from it, whose last byte is at position end.
func (g *guesser) pasted(end uint64) {
	g.mu.Lock()
	g.long, g.end = true, end
	g.mu.Unlock()
}

// settled tells how far the input has had its effect in the state that is there.
func (g *guesser) settled(at positions) {
	g.mu.Lock()
	g.at = at
	g.mu.Unlock()
}

// measured tells the link's round trip, stall that an answer is overdue.
func (g *guesser) measured(rtt time.Duration) {
	g.mu.Lock()
	g.rtt = rtt
	g.mu.Unlock()
}

func (g *guesser) stall() {
	g.mu.Lock()
	g.stalled = true
	g.mu.Unlock()
	signal(g.wake)
}

// update brings the guesses up to date with t, which may be nil, and what was told. The caller has the screen's turn.
func (g *guesser) update(t *vt.Terminal, now time.Time) {
	g.mu.Lock()
	n, end, long, at, rtt, stalled := copy(g.taken[:], g.left[:g.n]), g.end, g.long, g.at, g.rtt, g.stalled
	g.n, g.long, g.rtt, g.stalled = 0, false, 0, false
	g.mu.Unlock()
	p := g.predictor
	if rtt > 0 {
		p.Measured(rtt)
	}
	if stalled {
		p.Stalled()
	}
	if t != nil && p.Active() {
		p.Shown(t, at.echo, at.acked, now)
		if n > 0 && !long {
			p.Typed(t, g.taken[:n], end, now)
		}
	}
	if active := p.Active(); active != g.active.Load() {
		g.active.Store(active)
	}
}
