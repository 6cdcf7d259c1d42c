package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test is synctest.Test. Under the race detector the process has one processor while a bubble
// runs: of a bubble's timers two may be due at once on two processors, one as time moves on and
// one because its channel is looked at, and both would use the bubble's one context of the
// detector, which that destroys (golang.org/issue/78156: a crash in the detector itself).
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if raceDetector {
		processors.one()
		defer processors.all()
	}
	synctest.Test(t, f)
}

// processors counts the bubbles that run, of tests that run in parallel.
var processors oneWhileUsed

type oneWhileUsed struct {
	mu    sync.Mutex
	users int
	had   int
}

func (p *oneWhileUsed) one() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		p.had = runtime.GOMAXPROCS(1)
	}
	p.users++
}

func (p *oneWhileUsed) all() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 {
		runtime.GOMAXPROCS(p.had)
	}
}
