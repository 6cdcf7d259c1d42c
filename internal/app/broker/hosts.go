package broker

import (
	"context"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// linkIdle is how long a link that carries no stream is kept: setting one up takes many round trips.
const linkIdle = 10 * time.Minute

// maxReached bounds the names of hosts that are remembered.
const maxReached = 1024

// hosts are the links to other machines. A host has one that new streams go over; one that it
// took the place of lives as long as its last stream.
type hosts struct {
	dialer ports.LinkDialer // nil: no other machine is known
	all    sync.WaitGroup   // goroutines of attempts, and of links that are being closed
	end    context.Context  // of every attempt
	stop   context.CancelFunc

	// mu is a leaf: under it nothing waits.
	mu      sync.Mutex
	links   map[string]*link
	sought  map[string]*search
	reached map[string]bool // hosts that there was a link to, ever
	closed  bool
}

// link is one that was set up.
type link struct {
	ports.Link
	host    string
	streams int           // live ones. Guarded by hosts.mu, like the rest
	answer  time.Duration // how long the last stream's answer took; 0: none came yet
	idle    *time.Timer   // closes it, while streams is 0 and it is current
}

func newHosts(dialer ports.LinkDialer) *hosts {
	end, stop := context.WithCancel(context.Background())
	return &hosts{
		dialer: dialer, end: end, stop: stop,
		links: map[string]*link{}, sought: map[string]*search{}, reached: map[string]bool{},
	}
}

// wish is a stream that a client asks for.
type wish struct {
	host  string
	start protocol.StartPolicy
	ask   ports.Ask // nil: nobody can be asked
}

// open opens a stream to the daemon of a host. It goes over the link that is there; if that is
// slow to answer, or has ended, over a new one beside it: whichever answers first. A link that
// hears nothing may be good again later than a new one is: what carries it waits longer and
// longer between its attempts.
func (h *hosts) open(ctx context.Context, w wish) (ports.Stream, error) {
	if h.dialer == nil {
		return nil, noHost(w.host)
	}
	old := h.current(w.host)
	if old == nil {
		return h.openNew(ctx, w, nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan opened, 1)
	if !h.spawn(func() { first <- h.ask(ctx, old, w.start) }) {
		return nil, errEnding()
	}
	patience := time.NewTimer(old.patience(h))
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
	stream ports.Stream
	err    error
}

// settle waits for the loser, whose context has ended, and returns the winner's answer.
func settle(loser <-chan opened, winner opened) (ports.Stream, error) {
	if l := <-loser; l.stream != nil {
		if winner.err != nil {
			return l.stream, nil
		}
		_ = l.stream.Close() // nobody has seen it
	}
	return winner.stream, winner.err
}

// openNew opens a stream over a link that takes old's place.
func (h *hosts) openNew(ctx context.Context, w wish, old *link) (ports.Stream, error) {
	l, err := h.seek(ctx, w, old)
	if err != nil {
		return nil, err
	}
	o := h.ask(ctx, l, w.start)
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

func (l *link) patience(h *hosts) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.answer == 0 {
		return firstPatience
	}
	return max(leastPatience, 4*l.answer)
}

// ask opens a stream over a link and counts it there until it ends.
func (h *hosts) ask(ctx context.Context, l *link, start protocol.StartPolicy) opened {
	h.hold(l)
	asked := time.Now()
	s, err := l.OpenStream(ctx, protocol.LocalHost, start)
	if err != nil {
		h.release(l)
		return opened{nil, err}
	}
	h.mu.Lock()
	l.answer = time.Since(asked)
	h.mu.Unlock()
	return opened{&linked{Stream: s, done: sync.OnceFunc(func() { h.release(l) })}, nil}
}

// linked is a stream that its link knows of.
type linked struct {
	ports.Stream
	done func()
}

func (s *linked) Close() error {
	defer s.done()
	return s.Stream.Close()
}

func (s *linked) Abort(f protocol.Failure) error {
	defer s.done()
	return s.Stream.Abort(f)
}

// current is the link that new streams to a host go over, nil without one that lives.
func (h *hosts) current(name string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[name]
	if l == nil {
		return nil
	}
	if l.Err() != nil {
		h.drop(l)
		return nil
	}
	return l
}

func (h *hosts) hold(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.streams++
	if l.idle != nil {
		l.idle.Stop()
	}
}

// release ends a link with its last stream if it is not the current one, and has it end after
// linkIdle if it is.
func (h *hosts) release(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.streams--
	switch {
	case l.streams > 0:
	case h.links[l.host] != l:
		h.shut(l)
	default:
		h.keepWarm(l)
	}
}

// keepWarm has l end after linkIdle unless a stream comes, with mu held.
func (h *hosts) keepWarm(l *link) {
	if l.idle == nil {
		l.idle = time.AfterFunc(linkIdle, func() { h.expire(l) })
	} else {
		l.idle.Reset(linkIdle)
	}
}

func (h *hosts) expire(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.streams == 0 && h.links[l.host] == l {
		h.drop(l)
	}
}

// drop makes l a link that no new stream goes over, with mu held.
func (h *hosts) drop(l *link) {
	delete(h.links, l.host)
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.streams == 0 {
		h.shut(l)
	}
}

// shut closes l in the background, with mu held: a carriage that takes nothing is waited for.
func (h *hosts) shut(l *link) {
	if !h.closed {
		h.all.Go(func() { _ = l.Close() })
	}
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
	left := h.links
	h.links = map[string]*link{}
	h.mu.Unlock()
	h.stop()
	for _, l := range left {
		if l.idle != nil {
			l.idle.Stop()
		}
		_ = l.Close()
	}
	h.all.Wait()
}
