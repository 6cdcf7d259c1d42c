package broker

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// search is an effort to reach one host, shared by all who want to.
type search struct {
	ahead *protocol.Opening // the stream that may be asked for with the link; nil: none
	ready chan struct{}     // closed when link or err is set
	link  *link
	err   error

	// Guarded by hosts.mu.
	waiting int
	giveUp  context.CancelFunc
}

// seek waits for a link to a host other than old, which it takes the place of. Another's search that
// ended for want of an answer is no answer to who can be asked. ahead: the link may have asked for the stream already.
func (h *hosts) seek(ctx context.Context, w wish, old *link) (l *link, ahead bool, err error) {
	for {
		s, begun, l, err := h.join(w, old)
		if s == nil {
			return l, false, err
		}
		l, err = h.await(ctx, s, w.host)
		ahead = begun && s.ahead != nil
		if ahead && err != nil {
			h.spawn(s.forgo)
		}
		kind := fault.KindOf(err)
		if err == nil || begun || w.ask == nil || ctx.Err() != nil || kind != fault.Denied && kind != fault.Canceled {
			return l, ahead, err
		}
	}
}

// forgo waits for the end of the search and gives up the stream that was asked for with its link: who wanted it is gone.
func (s *search) forgo() {
	<-s.ready
	if s.link == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if stream, err := s.link.OpenStream(ctx, s.ahead.Host, s.ahead.Start, s.ahead.First); err == nil {
		_ = stream.Close() // it was there already
	}
}

func (h *hosts) await(ctx context.Context, s *search, name string) (*link, error) {
	defer h.part(s)
	select {
	case <-s.ready:
		return s.link, s.err
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Timeout, context.Cause(ctx), "host %s does not answer", fault.Clean(name))
	}
}

// join takes part in the search for a host, beginning it if there is none; or returns the link
// that somebody has found meanwhile.
func (h *hosts) join(wish wish, old *link) (s *search, begun bool, l *link, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, nil, errEnding()
	}
	w := h.way(wish.host)
	if w.link != nil && w.link != old {
		return nil, false, w.link, nil
	}
	s = w.search
	if begun = s == nil; begun {
		if h.count(w) == protocol.MaxHosts {
			return nil, false, nil, fault.New(fault.Limit, "links to %d hosts are open or being made", protocol.MaxHosts).
				WithHint("a link that carries nothing ends after %s", linkIdle)
		}
		ctx, cancel := context.WithCancel(h.end)
		s = &search{ready: make(chan struct{}), giveUp: cancel}
		w.search = s
		lanes := w.lanes(wish)
		for _, l := range lanes {
			if l.ahead != nil {
				s.ahead = l.ahead
			}
		}
		w.pulse.Want()
		w.tell(time.Now())
		h.all.Go(func() { h.search(ctx, w, s, lanes) })
	}
	s.waiting++
	return s, begun, nil, nil
}

// count is how many hosts other than w's there are links to, or searches for, with mu held.
func (h *hosts) count(w *way) (n int) {
	for _, other := range h.ways {
		if other != w && (other.link != nil || other.search != nil) {
			n++
		}
	}
	return n
}

// part leaves a search, which ends when nobody waits for it.
func (h *hosts) part(s *search) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.waiting--; s.waiting == 0 {
		s.giveUp()
	}
}

// attempt is how one attempt ended.
type attempt struct {
	link ports.Link
	err  error
}

// lane is one transport's part in a search.
type lane struct {
	dialer ports.LinkDialer
	ask    ports.Ask
	again  bool // what may help is tried until somebody gives up
	// ahead is a stream that is asked for with the link, which other users of both machines may see; nil for none: where there
	// are attempts beside each other each would ask.
	ahead *protocol.Opening
	// hold waits until the attempts may begin, as long as ctx, or until another lane has failed; nil: at once.
	hold func(ctx context.Context, failed <-chan struct{})
	// may reports whether another attempt makes sense; nil: always.
	may func() bool
}

func (l lane) dial(ctx context.Context, name string) (ports.Link, error) {
	if d, ok := l.dialer.(ports.OpeningDialer); ok && l.ahead != nil {
		return d.DialOpening(ctx, name, l.ask, l.ahead)
	}
	return l.dialer.DialLink(ctx, name, l.ask)
}

// search goes all its lanes at once: the first link counts, or the failure of the last lane, which says most.
func (h *hosts) search(ctx context.Context, w *way, s *search, lanes []lane) {
	type end struct {
		lane int
		attempt
	}
	ends, failed := make(chan end, len(lanes)), make(chan struct{})
	for i, lane := range lanes {
		h.all.Go(func() {
			if lane.hold != nil {
				lane.hold(ctx, failed)
			}
			ends <- end{i, h.try(ctx, w.name, lane)}
		})
	}
	found, left := end{lane: -1}, len(lanes)
	for left > 0 && found.link == nil {
		e := <-ends
		left--
		if e.link != nil {
			s.giveUp() // before anybody can learn of the link: a lane that holds must not begin for its sake
		} else if left == len(lanes)-1 {
			close(failed)
		}
		if e.link != nil || e.lane > found.lane {
			found = e
		}
	}
	h.found(w, s, found.attempt, ctx.Err() != nil)
	s.giveUp()
	for range left {
		if late := <-ends; late.link != nil {
			_ = late.link.Close()
		}
	}
}

// try dials until there is a link, an error that another attempt cannot mend, or nobody who
// waits. A host that was reached before is tried again and again, as often as the dialer says, with
// several attempts at once: a first packet that is lost costs one a second and more. A host that
// was not is tried once, and so is any for who can be asked.
func (h *hosts) try(ctx context.Context, name string, l lane) attempt {
	if ctx.Err() != nil {
		return attempt{err: givenUp(ctx)}
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan attempt)
	running := 0
	dial := func() {
		running++
		h.all.Go(func() {
			l, err := l.dial(ctx, name)
			results <- attempt{l, err}
		})
	}
	every, most := l.dialer.Attempts()
	pace := time.NewTimer(0)
	defer pace.Stop()
	var found attempt
	for done := false; !done; {
		var next <-chan time.Time
		if running < most {
			next = pace.C
		}
		select {
		case <-next:
			if l.may != nil && !l.may() {
				found.err, done = errGone, true
				break
			}
			dial()
			pace.Reset(every/2 + rand.N(every))
			if !l.again {
				pace.Stop()
			}
		case found = <-results:
			running--
			done = found.err == nil || !l.again || final(found.err)
		case <-ctx.Done():
			found.err, done = givenUp(ctx), true
		}
	}
	cancel()
	late := running
	h.all.Go(func() {
		for range late {
			if late := <-results; late.link != nil {
				_ = late.link.Close()
			}
		}
	})
	return found
}

var errGone = &fault.Error{Kind: fault.Unavailable, Msg: "what answered there before does not know this program any more"}

func givenUp(ctx context.Context) error {
	return fault.Wrap(fault.Canceled, context.Cause(ctx), "reaching the host was given up")
}

// final reports whether another attempt cannot help.
func final(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Timeout, fault.Violation, fault.Limit:
		return false
	}
	return true
}

// found ends a search with what it found; left: nobody waited for that any more.
func (h *hosts) found(w *way, s *search, a attempt, left bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.search = nil
	defer close(s.ready)
	switch now := time.Now(); {
	case h.closed:
		s.err = errEnding()
		if a.link != nil {
			h.all.Go(func() { _ = a.link.Close() })
		}
	case a.err == nil:
		s.link = w.up(a.link)
	default:
		s.err = a.err
		if left {
			w.pulse.Left()
		} else {
			w.failure, _ = errors.AsType[*fault.Error](a.err)
			w.pulse.Failed(now, rand.Float64())
		}
		w.look(now)
	}
}

// allows reports whether a policy has room for a transport.
func allows(policy, transport domain.Transport) bool {
	return policy == domain.TransportAuto || policy == transport
}
