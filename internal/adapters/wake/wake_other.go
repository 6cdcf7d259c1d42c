//go:build !linux

package wake

import (
	"time"

	"github.com/vev-term/vev/internal/ports"
)

// Watch tells of this machine's sleep. Any goroutine may call its methods.
type Watch struct{ begun time.Time }

var _ ports.Sleep = (*Watch)(nil)

// New begins to watch.
func New() *Watch { return &Watch{begun: time.Now()} }

// Woke implements ports.Sleep.
func (w *Watch) Woke() <-chan struct{} { return nil }

// Slept implements ports.Sleep.
func (w *Watch) Slept() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(w.begun.Round(0)) - now.Sub(w.begun)
}

// Close ends the watching.
func (w *Watch) Close() error { return nil }
