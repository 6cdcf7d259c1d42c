package tty

import (
	"os"
	"os/signal"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

type meaning struct {
	signal unix.Signal
	event  ports.TerminalEvent
}

// meanings are what signals say about the terminal; SIGWINCH apart.
var meanings = [...]meaning{
	{unix.SIGTSTP, ports.TerminalSuspend},
	{unix.SIGCONT, ports.TerminalResumed},
	{unix.SIGHUP, ports.TerminalHungUp},
	{unix.SIGTERM, ports.TerminalTerminate},
	{unix.SIGINT, ports.TerminalTerminate},
	{unix.SIGQUIT, ports.TerminalTerminate},
}

// watch turns signals into events, each of which waits at most once.
type watch struct {
	events  chan ports.TerminalEvent // cap 0, closed by run
	sizes   chan os.Signal           // cap 1: SIGWINCH, of which a storm must not crowd out the others
	signals chan os.Signal           // one place for each of meanings
	done    chan struct{}
	running sync.WaitGroup
}

func meaningOf(s os.Signal) ports.TerminalEvent {
	i := slices.IndexFunc(meanings[:], func(m meaning) bool { return m.signal == s })
	return meanings[i].event // no other is asked for
}

func newWatch() *watch {
	w := &watch{
		events:  make(chan ports.TerminalEvent),
		sizes:   make(chan os.Signal, 1),
		signals: make(chan os.Signal, len(meanings)),
		done:    make(chan struct{}),
	}
	signal.Notify(w.sizes, unix.SIGWINCH)
	for _, m := range meanings {
		if !signal.Ignored(m.signal) {
			signal.Notify(w.signals, m.signal)
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
			waiting = once(waiting, meaningOf(s))
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
