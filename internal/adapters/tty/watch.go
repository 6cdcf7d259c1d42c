package tty

import (
	"os"
	"os/signal"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// meaning is what a signal says about the terminal; SIGWINCH apart.
var meaning = map[os.Signal]ports.TerminalEvent{
	unix.SIGTSTP: ports.TerminalSuspend,
	unix.SIGCONT: ports.TerminalResumed,
	unix.SIGHUP:  ports.TerminalHungUp,
	unix.SIGTERM: ports.TerminalTerminate,
	unix.SIGINT:  ports.TerminalTerminate,
	unix.SIGQUIT: ports.TerminalTerminate,
}

// watch turns signals into events, each of which waits at most once.
type watch struct {
	events  chan ports.TerminalEvent // cap 0, closed by run
	sizes   chan os.Signal           // cap 1: SIGWINCH, of which a storm must not crowd out the others
	signals chan os.Signal           // one place for each of meaning
	done    chan struct{}
	running sync.WaitGroup
}

func newWatch() *watch {
	w := &watch{
		events:  make(chan ports.TerminalEvent),
		sizes:   make(chan os.Signal, 1),
		signals: make(chan os.Signal, len(meaning)),
		done:    make(chan struct{}),
	}
	signal.Notify(w.sizes, unix.SIGWINCH)
	for s := range meaning {
		if !signal.Ignored(s) {
			signal.Notify(w.signals, s)
		}
	}
	w.running.Go(w.run)
	return w
}

// run keeps what has not been read in the order it came first.
func (w *watch) run() {
	defer close(w.events)
	var waiting []ports.TerminalEvent
	for {
		var out chan<- ports.TerminalEvent
		var next ports.TerminalEvent
		if len(waiting) > 0 {
			out, next = w.events, waiting[0]
		}
		select {
		case <-w.done:
			return
		case out <- next:
			waiting = waiting[1:]
		case <-w.sizes:
			waiting = once(waiting, ports.TerminalResized)
		case s := <-w.signals:
			waiting = once(waiting, meaning[s])
		}
	}
}

// once adds e unless it waits already.
func once(waiting []ports.TerminalEvent, e ports.TerminalEvent) []ports.TerminalEvent {
	if slices.Contains(waiting, e) {
		return waiting
	}
	return append(waiting, e)
}

func (w *watch) close() {
	signal.Stop(w.sizes)
	signal.Stop(w.signals)
	close(w.done)
	w.running.Wait()
}
