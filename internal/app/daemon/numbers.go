package daemon

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/protocol"
)

// counters only grow.
type counters struct {
	outputBytes, statesSent, stateBytes, windowWaits atomic.Uint64
	inputBytes, inputWaits                           atomic.Uint64
}

// stats is what vev stats shows.
func (d *Daemon) stats() protocol.DaemonNumbers {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	up := time.Since(d.started)
	n := protocol.DaemonNumbers{
		Pid: os.Getpid(), Version: d.o.Version, Uptime: up, UptimeMS: up.Milliseconds(),
		OutputBytes: d.numbers.outputBytes.Load(), StatesSent: d.numbers.statesSent.Load(),
		StateBytes: d.numbers.stateBytes.Load(), WindowWaits: d.numbers.windowWaits.Load(),
		InputBytes: d.numbers.inputBytes.Load(), InputWaits: d.numbers.inputWaits.Load(),
		HeapBytes: mem.HeapAlloc, Goroutines: runtime.NumGoroutine(),
	}
	if d.o.Refused != nil {
		n.ForeignRefused = d.o.Refused()
	}
	d.mu.Lock()
	n.Conversations = d.conversations
	d.mu.Unlock()
	for _, s := range d.all() {
		s.mu.Lock()
		n.Sessions++
		n.HistoryBytes += uint64(s.term.HistoryBytesUsed())
		for _, a := range s.attachments {
			if a.live() {
				n.Attachments++
			} else {
				n.Resumable++
			}
			n.UnackedBytes += uint64(a.view.flightBytes)
		}
		s.mu.Unlock()
		n.InputQueued += uint64(s.input.size())
	}
	return n
}
