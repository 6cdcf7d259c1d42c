package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	leaveGrace = 3 * time.Second        // for a terminal to take the last bytes
	byeGrace   = 500 * time.Millisecond // for a daemon to take or answer a detach
)

// Options say what to attach to what.
type Options struct {
	// Terminal is Run's from the call on: Run closes it, whatever happens.
	Terminal ports.Terminal
	Dialer   ports.SessionDialer
	// Far says that the session is on another machine, however quick the way there is.
	Far bool
	// Attach says which session; its Size is the terminal's.
	Attach protocol.Attach
	// Capabilities are the terminal's: what it cannot do is left out or replaced.
	Capabilities render.Capabilities
	// Leader is the control byte of the leader key, but not Escape; 0 is DefaultLeader.
	Leader byte
	// Predict says when keys are shown before their answer; in a read-only attachment never.
	Predict predict.Mode
	// Copier gets what the user copies, beside the terminal's own clipboard; may be nil.
	Copier ports.Copier
	// Prefetch is how many lines of history, at most protocol.MaxHistoryLines, are fetched when the session is quiet, so
	// that scroll mode finds them.
	Prefetch int
	// Mouse takes wheel and mouse for scroll mode where the program does not take them; not with Inline, where the
	// terminal has a history of its own.
	Mouse bool
	// Inline shows the session on the terminal's main screen, and adds the lines that leave it to the terminal's history: of
	// a session that was there before the last Above of those there are, of one that this attach makes all from its first.
	Inline bool
	Above  int
	// Watch makes it a live view, of a read-only attachment that is not inline: keys without the leader are the client's, q leaves.
	Watch bool
	// Asker is whom the Dialer asks while the terminal is attached; nil: nobody.
	Asker *Asker
}

// Result is how an attachment was over.
type Result struct {
	ID      domain.SessionID
	Name    string // the session's, as it was called last
	Created bool   // the attach made it
	Reason  protocol.EndReason
	Exit    domain.ExitStatus // when Reason is EndExited
}

// Run attaches the terminal and returns when the attachment is over: the user detached, the program ended, somebody else
// ended it. Before the daemon has agreed the terminal is not touched; after, it is as it was found when Run returns, on
// any path but a kill of this process.
//
// Errors are faults: of the daemon, when it refused; NotFound, when the daemon that had the session is gone; Canceled,
// when ctx ended, the terminal hung up or its Terminate event came; Unavailable, when the terminal failed; Internal with
// the stack as its cause, when this package panicked. The Result has what was known by then.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Leader == 0 {
		o.Leader = DefaultLeader
	}
	if o.Leader >= 0x20 || o.Leader == esc {
		o.Terminal.Close()
		return Result{}, fault.New(fault.Usage, "the leader key must be a control key other than Escape")
	}
	return newClient(o).run(ctx)
}

// outcome is why the client ends: the first one counts.
type outcome struct {
	reason protocol.EndReason
	exit   domain.ExitStatus
	err    error
	local  bool // decided here: the daemon does not know yet
}

// terminalError is a failure of the user's terminal, unlike one of the link.
type terminalError struct{ cause error }

func (e *terminalError) Error() string { return "the terminal is gone: " + e.cause.Error() }
func (e *terminalError) Unwrap() error { return e.cause }

// client is one attachment. Its goroutines: Run's own watches the terminal's events and ends all others; link receives
// and draws; pump reads the terminal and sends; sender sends what those two must not wait for; tend draws notices.
type client struct {
	o       Options
	out     *outbox
	screen  *screen
	notices *notices
	scroll  *scroller
	contact *contact
	guesser *guesser

	wg      sync.WaitGroup
	over    chan outcome  // cap 1: the first
	linked  chan struct{} // closed when the link has ended
	closing chan struct{} // closed when the sender may end

	// Each with room for one: told once until it was read.
	resized, suspend, resumed, redraw chan struct{}

	// Owned by the pump.
	typing typing
	help   bool // the keys are shown
	mouse  mouse
	paste  paste
	input  uint64 // bytes of input so far
	// strokes reads the keys of a live view.
	strokes strokes
	keyBuf  []byte

	// Set by the link before the other goroutines begin.
	id       domain.SessionID
	created  bool
	readOnly bool

	name atomic.Pointer[string]
	link link
}

func newClient(o Options) *client {
	if o.Attach.ReadOnly {
		o.Predict = predict.Never
	}
	n, contact, g := newNotices(o.Leader), &contact{far: o.Far}, newGuesser(o.Predict)
	out := newOutbox(contact, n.wake)
	redraw := make(chan struct{}, 1)
	scroll := newScroller(out, func() { signal(redraw) })
	if !o.Inline {
		scroll.prefetch, scroll.mousing = min(o.Prefetch, protocol.MaxHistoryLines), o.Mouse
	}
	c := &client{
		o: o, out: out, notices: n, contact: contact, guesser: g, scroll: scroll,
		screen: newScreen(o.Terminal, o.Capabilities, n, g, scroll), typing: typing{leader: o.Leader}, redraw: redraw,
		over: make(chan outcome, 1), linked: make(chan struct{}), closing: make(chan struct{}),
		resized: make(chan struct{}, 1), suspend: make(chan struct{}, 1), resumed: make(chan struct{}, 1),
	}
	if o.Inline {
		c.screen.inline = &inline{asker: out, above: o.Above, cuts: o.Capabilities.CutsLines}
		c.screen.view.resizing = c.screen.inline.renumbered
	}
	c.screen.failed = c.failed
	c.link.client = c
	if o.Asker != nil {
		o.Asker.attach(n)
	}
	return c
}

// spawn runs f on a goroutine that run joins. A panic there ends the client in order.
func (c *client) spawn(f func()) {
	c.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.end(outcome{err: panicked(p), local: true})
			}
		}()
		f()
	})
}

func panicked(p any) error {
	return fault.Wrap(fault.Internal, fmt.Errorf("%v\n%s", p, debug.Stack()), "the client failed; this is a bug of vev")
}

// failed ends the client when its terminal has.
func (c *client) failed(err error) {
	if err != nil {
		c.end(outcome{err: err, local: true})
	}
}

// end tells run why to end, unless it was told before.
func (c *client) end(out outcome) {
	select {
	case c.over <- out:
	default:
	}
}

func (c *client) run(ctx context.Context) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.spawn(func() {
		defer close(c.linked)
		c.end(c.link.follow(ctx))
	})
	out := c.watch(ctx)
	if out.local && out.err == nil {
		c.screen.drain()
	}
	cancel()
	c.restore()
	if out.local {
		out = c.goodbye(out)
	} else {
		await(c.linked, byeGrace) // the link may still confirm the end
	}
	if out.reason == protocol.EndExited {
		c.screen.quote()
	}
	c.release()
	return c.result(out)
}

// enter takes the terminal and starts what works on it.
func (c *client) enter(ctx context.Context) error {
	ours, err := c.screen.enter(c.size())
	if err != nil {
		return err
	}
	if !ours {
		return context.Cause(ctx)
	}
	c.spawn(func() { c.out.send(c.closing) })
	c.spawn(func() { c.end(c.pump(ctx)) })
	c.spawn(func() {
		if err := c.tend(ctx); err != nil {
			c.end(outcome{err: err, local: true})
		}
	})
	return nil
}

// watch passes on what happens to the terminal until there is a reason to end.
func (c *client) watch(ctx context.Context) (out outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = outcome{err: panicked(p), local: true}
		}
	}()
	events := c.o.Terminal.Events()
	for {
		select {
		case out := <-c.over:
			return out
		case <-ctx.Done():
			return outcome{err: fault.Wrap(fault.Canceled, context.Cause(ctx), "the attachment was given up"), local: true}
		case e, ok := <-events:
			if !ok {
				events = nil
			}
			switch e {
			case ports.TerminalResized:
				signal(c.resized)
			case ports.TerminalSuspend:
				signal(c.suspend)
			case ports.TerminalResumed:
				signal(c.resumed)
			case ports.TerminalHungUp:
				return outcome{err: fault.New(fault.Canceled, "the terminal hung up"), local: true}
			case ports.TerminalTerminate:
				return outcome{err: fault.New(fault.Canceled, "asked to end"), local: true}
			}
		}
	}
}

// restore gives the terminal back. One that takes no bytes within leaveGrace gets its modes back and no more.
func (c *client) restore() {
	left := make(chan struct{})
	c.spawn(func() {
		defer close(left)
		c.screen.leave()
	})
	await(left, leaveGrace)
	c.o.Terminal.Restore()
}

// goodbye tells the daemon that the attachment is over and gives it a moment to answer: the program may just have ended.
func (c *client) goodbye(out outcome) outcome {
	if c.out.current() == nil {
		return out
	}
	c.out.goodbye()
	if await(c.linked, byeGrace) && c.link.ended != nil && out.err == nil && c.link.ended.Reason == protocol.EndExited {
		return ending(c.link.ended)
	}
	return out
}

func await(done <-chan struct{}, grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// release unblocks every goroutine and joins them.
func (c *client) release() {
	close(c.closing)
	c.out.close()
	c.o.Terminal.Close()
	c.wg.Wait()
}

func (c *client) result(out outcome) (Result, error) {
	r := Result{ID: c.id, Created: c.created, Reason: out.reason, Exit: out.exit}
	if name := c.name.Load(); name != nil {
		r.Name = *name
	}
	if t, ok := out.err.(*terminalError); ok {
		return r, fault.Wrap(fault.Unavailable, t.cause, "the terminal is gone")
	}
	return r, out.err
}
