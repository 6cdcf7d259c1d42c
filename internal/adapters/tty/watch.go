package tty

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// stopTimeout bounds the wait for a stop that does not happen; while stopped no time passes
// for us.
const stopTimeout = time.Second

// meaning is what a signal says about the terminal.
var meaning = map[os.Signal]ports.TerminalEvent{
	unix.SIGWINCH: ports.TerminalResized,
	unix.SIGTSTP:  ports.TerminalSuspend,
	unix.SIGCONT:  ports.TerminalResumed,
	unix.SIGHUP:   ports.TerminalHungUp,
	unix.SIGTERM:  ports.TerminalTerminate,
	unix.SIGINT:   ports.TerminalTerminate,
	unix.SIGQUIT:  ports.TerminalTerminate,
}

// watch turns signals into events, each of which waits at most once.
type watch struct {
	events  chan ports.TerminalEvent // cap 0, closed by run
	signals chan os.Signal
	done    chan struct{}
	running sync.WaitGroup
}

func newWatch() *watch {
	w := &watch{
		events:  make(chan ports.TerminalEvent),
		signals: make(chan os.Signal, 16), // run takes them at once
		done:    make(chan struct{}),
	}
	for s := range meaning {
		signal.Notify(w.signals, s)
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
		case s := <-w.signals:
			waiting = once(waiting, meaning[s])
		}
	}
}

// once adds e unless it waits already.
func once(waiting []ports.TerminalEvent, e ports.TerminalEvent) []ports.TerminalEvent {
	for _, w := range waiting {
		if w == e {
			return waiting
		}
	}
	return append(waiting, e)
}

// stop stops our job, as the suspend key does, and returns when it runs again.
func (w *watch) stop() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, unix.SIGCONT)
	defer signal.Stop(resumed)
	signal.Reset(unix.SIGTSTP)
	defer signal.Notify(w.signals, unix.SIGTSTP)
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return err
	}
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-resumed:
	case <-timer.C:
	}
	return nil
}

func (w *watch) close() {
	signal.Stop(w.signals)
	close(w.done)
	w.running.Wait()
}
