package broker

import (
	"context"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// linkIdle is how long a link that carries no stream is kept: setting one up takes many round trips.
const linkIdle = 10 * time.Minute

// maxWays bounds the hosts of which something is remembered.
const maxWays = 1024

// hosts are the ways to other machines.
type hosts struct {
	o    Remote
	all  sync.WaitGroup  // goroutines of attempts and probes, and of links that are being closed
	end  context.Context // of every attempt
	stop context.CancelFunc

	// Under mu nothing waits; beside it only the locks of conversations are taken, which are leaves.
	mu     sync.Mutex
	ways   map[string]*way
	slept  time.Duration // this machine, as far as the links know
	closed bool
}

func newHosts(o Remote) *hosts {
	end, stop := context.WithCancel(context.Background())
	h := &hosts{o: o, end: end, stop: stop, ways: map[string]*way{}}
	if o.Sleep != nil {
		h.slept = o.Sleep.Slept()
	}
	return h
}

// wish is a stream that a client asks for.
type wish struct {
	host  string
	start protocol.StartPolicy
	first []byte    // of the stream; another link may have got them too, whose stream was left
	ask   ports.Ask // nil: nobody can be asked
	// public: other users of both machines may see what first says.
	public bool
}

// open opens a stream to the daemon of a host. It goes over the link that is there; if that is
// slow to answer, or has ended, over a new one beside it: whichever answers first. A link that
// hears nothing may be good again later than a new one is: what carries it waits longer and
// longer between its attempts.
func (h *hosts) open(ctx context.Context, w wish) (*linked, error) {
	if h.o.SSH == nil {
		return nil, noHost(w.host)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	life := h.life(w.host)
	defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
	s, err := h.race(ctx, w)
	if err == nil || life.Err() == nil {
		return s, err
	}
	return nil, context.Cause(life)
}

func (h *hosts) race(ctx context.Context, w wish) (*linked, error) {
	old := h.current(w.host)
	if old == nil {
		return h.openNew(ctx, w, nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan opened, 1)
	if !h.spawn(func() { first <- h.ask(ctx, old, w, false) }) {
		return nil, errEnding()
	}
	patience := time.NewTimer(h.patience(old))
	defer patience.Stop()
	select {
	case o := <-first:
		if o.err == nil || old.Err() == nil {
			return o.stream, o.err
		}
		return h.openNew(ctx, w, old)
	case <-patience.C:
	}
	second := make(chan opened, 1)
	if !h.spawn(func() {
		s, err := h.openNew(ctx, w, old)
		second <- opened{s, err}
	}) {
		cancel()
		return settle(first, opened{nil, errEnding()})
	}
	select {
	case o := <-first:
		if o.err == nil || old.Err() == nil {
			cancel()
			return settle(second, o)
		}
		o = <-second
		return o.stream, o.err
	case o := <-second:
		cancel()
		return settle(first, o)
	}
}

// opened is the answer to a stream that was asked for.
type opened struct {
	stream *linked
	err    error
}

// settle waits for the loser, whose context has ended, and returns the winner's answer.
func settle(loser <-chan opened, winner opened) (*linked, error) {
	if l := <-loser; l.stream != nil {
		if winner.err != nil {
			return l.stream, nil
		}
		_ = l.stream.Close() // nobody has seen it
	}
	return winner.stream, winner.err
}

// openNew opens a stream over a link that takes old's place.
func (h *hosts) openNew(ctx context.Context, w wish, old *link) (*linked, error) {
	l, ahead, err := h.seek(ctx, w, old)
	if err != nil {
		return nil, err
	}
	o := h.ask(ctx, l, w, ahead)
	return o.stream, o.err
}

func noHost(name string) error {
	return fault.New(fault.NotFound, "%s", fault.Clean("no host "+quote(name)+" is known")).
		WithHint("only this machine's own sessions can be reached; leave the host out")
}

func errEnding() error { return farewell.Fault() }

// patience bounds how long a link may take to answer before another is made beside it, from
// what it took last.
const (
	leastPatience = 300 * time.Millisecond
	firstPatience = time.Second // nothing is known yet
)

func (h *hosts) patience(l *link) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.answer == 0 {
		return firstPatience
	}
	return max(leastPatience, 4*l.answer)
}

// ask opens a stream over a link and counts it there until it ends. ahead: it may be asked for already, and how long the
// answer takes says nothing.
func (h *hosts) ask(ctx context.Context, l *link, w wish, ahead bool) opened {
	s := &linked{link: l}
	h.hold(s)
	asked := time.Now()
	stream, err := l.OpenStream(ctx, protocol.LocalHost, w.start, w.first)
	if err != nil {
		h.release(s)
		return opened{nil, err}
	}
	s.Stream = stream
	if !ahead {
		h.mu.Lock()
		l.answer = time.Since(asked)
		h.mu.Unlock()
	}
	return opened{s, nil}
}

// current is the link that new streams to a host go over, nil without one that lives and that the host's policy allows.
func (h *hosts) current(name string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.ways[name]
	if w == nil || w.link == nil {
		return nil
	}
	switch l := w.link; {
	case l.Err() != nil:
		w.ended(l)
	case !allows(h.policy(name), l.transport):
		w.pulse.Dropped()
		w.drop(l)
	}
	return w.link
}

// spawn runs f on a goroutine that close joins; false: the broker is ending, f does not run.
func (h *hosts) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.all.Go(f)
	}
	return !h.closed
}

// close ends every link and attempt and returns when nothing of them runs any more.
func (h *hosts) close() {
	h.mu.Lock()
	h.closed = true
	var left []*link
	for _, w := range h.ways {
		if w.timer != nil {
			w.timer.Stop()
		}
		if l := w.link; l != nil {
			w.link, left = nil, append(left, l)
			l.idle.Stop()
		}
		for l := range w.left { // their streams end later than this
			left = append(left, l)
		}
	}
	h.mu.Unlock()
	h.stop()
	for _, l := range left {
		_ = l.Close()
	}
	h.all.Wait()
}

// linked are the hosts that a link leads to now.
func (h *hosts) linked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for name, w := range h.ways {
		if w.link != nil && w.link.Err() == nil {
			names = append(names, name)
		}
	}
	return names
}

// link is the state of the way to a host, in facts.
func (h *hosts) link(name string) domain.HostLink {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.ways[name]; w != nil {
		return w.facts()
	}
	return domain.HostLink{}
}
