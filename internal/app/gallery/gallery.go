package gallery

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/ports"
)

// leaveGrace is for a terminal to take the last bytes.
const leaveGrace = 3 * time.Second

// Options say what is shown where.
type Options struct {
	// Terminal is Run's from the call on: Run closes it, whatever happens.
	Terminal     ports.Terminal
	Capabilities render.Capabilities // the terminal's
	Sessions     ports.Sessions
	Pictures     ports.Pictures
}

// Run shows the sessions until one is chosen, which it returns with ok, or the user leaves. The terminal is as it was found
// when it returns, on any path but a kill of this process.
//
// Errors are faults: those of Sessions; Canceled, when ctx ended, the terminal hung up or its Terminate event came; Unavailable,
// when the terminal failed; Internal with the stack as its cause, when this package panicked.
func Run(ctx context.Context, o Options) (chosen ports.Session, ok bool, err error) {
	g := &gallery{
		o: o, over: make(chan outcome, 1), wishes: make(chan wish), lists: make(chan []ports.Session), pictures: make(chan picture),
		resized: make(chan struct{}, 1), suspend: make(chan struct{}, 1), resumed: make(chan struct{}, 1),
		screen: screen{tty: o.Terminal, turn: make(chan struct{}, 1), painter: render.NewPainter(render.UserTerminal, o.Capabilities)},
	}
	return g.run(ctx)
}

// outcome is why the gallery ends: the first one counts.
type outcome struct {
	chosen ports.Session
	ok     bool
	err    error
}

// terminalError is a failure of the user's terminal.
type terminalError struct{ cause error }

func (e *terminalError) Error() string { return "the terminal is gone: " + e.cause.Error() }
func (e *terminalError) Unwrap() error { return e.cause }

// picture is what a tile's reader has got.
type picture struct {
	of      *tile
	content []byte
	err     error
}

type gallery struct {
	o  Options
	wg sync.WaitGroup

	over     chan outcome // cap 1: the first
	wishes   chan wish    // all three of no room: what is handed over is being handled
	lists    chan []ports.Session
	pictures chan picture

	// Each with room for one: told once until it was read.
	resized, suspend, resumed chan struct{}

	screen screen

	// Owned by the loop.
	wall wall
}

// spawn runs f on a goroutine that run joins. Its error ends the gallery, and so does a panic.
func (g *gallery) spawn(f func() error) {
	g.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.end(outcome{err: fault.Wrap(fault.Internal, fmt.Errorf("%v\n%s", p, debug.Stack()), "the preview failed; this is a bug of vev")})
			}
		}()
		if err := f(); err != nil {
			g.end(outcome{err: err})
		}
	})
}

// end tells run why to end, unless it was told before.
func (g *gallery) end(out outcome) {
	select {
	case g.over <- out:
	default:
	}
}

func (g *gallery) run(ctx context.Context) (ports.Session, bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	g.spawn(func() error { return g.loop(ctx) })
	g.spawn(func() error { return g.list(ctx) })
	out := g.watch(ctx)
	cancel()
	g.restore()
	g.o.Terminal.Close() // unblocks the pump, and a write that waits
	g.wg.Wait()
	if e, ok := out.err.(*terminalError); ok {
		out.err = fault.Wrap(fault.Unavailable, e.cause, "the terminal is gone")
	}
	return out.chosen, out.ok, out.err
}

// watch passes on what happens to the terminal until there is a reason to end.
func (g *gallery) watch(ctx context.Context) outcome {
	events := g.o.Terminal.Events()
	for {
		select {
		case out := <-g.over:
			return out
		case <-ctx.Done():
			return outcome{err: fault.Wrap(fault.Canceled, context.Cause(ctx), "the preview was given up")}
		case e, ok := <-events:
			if !ok {
				events = nil
			}
			switch e {
			case ports.TerminalResized:
				signal(g.resized)
			case ports.TerminalSuspend:
				signal(g.suspend)
			case ports.TerminalResumed:
				signal(g.resumed)
			case ports.TerminalHungUp:
				return outcome{err: fault.New(fault.Canceled, "the terminal hung up")}
			case ports.TerminalTerminate:
				return outcome{err: fault.New(fault.Canceled, "asked to end")}
			}
		}
	}
}

// restore gives the terminal back. One that takes no bytes within leaveGrace gets its modes back and no more.
func (g *gallery) restore() {
	left := make(chan struct{})
	g.spawn(func() error {
		defer close(left)
		g.screen.leave()
		return nil
	})
	timer := time.NewTimer(leaveGrace)
	defer timer.Stop()
	select {
	case <-left:
	case <-timer.C:
	}
	_ = g.o.Terminal.Restore()
}

// list hands the sessions to the loop.
func (g *gallery) list(ctx context.Context) error {
	for {
		list, err := g.o.Sessions.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case g.lists <- list:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read hands the pictures of a session to the loop for its tile, the last thing why there are no more.
func (g *gallery) read(ctx context.Context, t *tile, host domain.Host, id domain.SessionID) {
	hand := func(p picture) bool {
		select {
		case g.pictures <- p:
			return true
		case <-ctx.Done():
			return false
		}
	}
	stream, err := g.o.Pictures.Look(ctx, host, id, t.size)
	if err != nil {
		hand(picture{of: t, err: err})
		return
	}
	defer stream.Close()
	for {
		content, err := stream.Next(ctx)
		if !hand(picture{t, content, err}) || err != nil {
			return
		}
	}
}

// signal leaves a note in c, unless one is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
