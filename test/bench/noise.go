//go:build linux

package main

import (
	"fmt"
	"time"
)

const (
	stillWindow = 100 * time.Millisecond // looked at as a whole
	stillShare  = 0.15                   // of one CPU: more means that somebody else works
	stillWait   = 3 * time.Second        // longest wait for it, before each measurement
)

// noise watches for other work on the machine. Between measurements nothing of ours uses the CPU, so what is used then
// is somebody else's.
type noise struct {
	measured, disturbed int
}

// settle returns once the machine is still, or after stillWait.
func (b *bench) settle() {
	b.noise.measured++
	for end := time.Now().Add(stillWait); time.Now().Before(end) && b.ctx.Err() == nil; {
		before := busy()
		b.pause(stillWindow)
		if float64(busy()-before) <= stillShare*float64(stillWindow) {
			return
		}
	}
	b.noise.disturbed++
}

func (n noise) String() string {
	return fmt.Sprintf("%d of %d measurements began on a busy machine", n.disturbed, n.measured)
}
