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
	stillBudget = 45 * time.Second       // and in all: on a machine that is never still the run ends all the same
)

// noise watches for other work on the machine. Between measurements nothing of ours uses the CPU, so what is used then
// is somebody else's.
type noise struct {
	measured, disturbed int
	waited              time.Duration
}

// settle returns once the machine is still, or after stillWait, or when the budget is spent.
func (b *bench) settle() {
	b.noise.measured++
	start := time.Now()
	defer func() { b.noise.waited += time.Since(start) - stillWindow }()
	budget := stillBudget
	if b.quick {
		budget /= 10
	}
	for end := start.Add(min(stillWait, budget-b.noise.waited)); ; {
		before := busy()
		b.pause(stillWindow)
		switch {
		case float64(busy()-before) <= stillShare*float64(stillWindow):
			return
		case time.Now().After(end) || b.ctx.Err() != nil:
			b.noise.disturbed++
			return
		}
	}
}

func (n noise) String() string {
	return fmt.Sprintf("%d of %d measurements began on a busy machine", n.disturbed, n.measured)
}
