package broker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// search is an effort to reach one host, shared by all who want to.
type search struct {
	ready chan struct{} // closed when link or err is set
	link  *link
	err   error

	// Guarded by hosts.mu.
	waiting int
	giveUp  context.CancelFunc
}

// seek waits for a link to a host other than old, which it takes the place of. Another's search that
// ended for want of an answer is no answer to who can be asked.
func (h *hosts) seek(ctx context.Context, w wish, old *link) (*link, error) {
	for {
		s, begun, l, err := h.join(w, old)
		if s == nil {
			return l, err
		}
		l, err = h.await(ctx, s, w.host)
		kind := fault.KindOf(err)
		if err == nil || begun || w.ask == nil || ctx.Err() != nil || kind != fault.Denied && kind != fault.Canceled {
			return l, err
		}
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
func (h *hosts) join(w wish, old *link) (s *search, begun bool, l *link, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, nil, errEnding()
	}
	if l := h.links[w.host]; l != nil && l != old {
		return nil, false, l, nil
	}
	s = h.sought[w.host]
	if begun = s == nil; begun {
		if h.count(w.host) == protocol.MaxHosts {
			return nil, false, nil, fault.New(fault.Limit, "links to %d hosts are open or being made", protocol.MaxHosts).
				WithHint("a link that carries nothing ends after %s", linkIdle)
		}
		ctx, cancel := context.WithCancel(h.end)
		s = &search{ready: make(chan struct{}), giveUp: cancel}
		h.sought[w.host] = s
		again := w.ask == nil && h.reached[w.host]
		h.all.Go(func() { h.search(ctx, s, w, again) })
	}
	s.waiting++
	return s, begun, nil, nil
}

// count is how many hosts other than name there are links to, or searches for, with mu held.
func (h *hosts) count(name string) int {
	n := len(h.links)
	for sought := range h.sought {
		if h.links[sought] == nil {
			n++
		}
	}
	if h.links[name] != nil {
		n--
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

// search dials until there is a link, an error that another attempt cannot mend, or nobody who
// waits. A host that was reached before is tried again and again, as often as the dialer says, with
// several attempts at once: a first packet that is lost costs one a second and more. A host that
// was not is tried once, and so is any for who can be asked.
func (h *hosts) search(ctx context.Context, s *search, w wish, again bool) {
	results := make(chan attempt)
	running := 0
	dial := func() {
		running++
		h.all.Go(func() {
			l, err := h.dialer.DialLink(ctx, w.host, w.ask)
			results <- attempt{l, err}
		})
	}
	every, most := h.dialer.Attempts()
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
			dial()
			pace.Reset(every/2 + rand.N(every))
			if !again {
				pace.Stop()
			}
		case found = <-results:
			running--
			done = found.err == nil || !again || final(found.err)
		case <-ctx.Done():
			found.err, done = fault.Wrap(fault.Canceled, context.Cause(ctx), "reaching the host was given up"), true
		}
	}
	h.found(s, w.host, found)
	s.giveUp()
	for range running {
		if late := <-results; late.link != nil {
			_ = late.link.Close()
		}
	}
}

// final reports whether another attempt cannot help.
func final(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Timeout, fault.Violation, fault.Limit:
		return false
	}
	return true
}

// found ends a search with what it found.
func (h *hosts) found(s *search, name string, a attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sought, name)
	defer close(s.ready)
	switch {
	case h.closed:
		s.err = errEnding()
		if a.link != nil {
			h.all.Go(func() { _ = a.link.Close() })
		}
		return
	case a.err != nil:
		s.err = a.err
		return
	}
	if old := h.links[name]; old != nil {
		h.drop(old)
	}
	s.link = &link{Link: a.link, host: name}
	if len(h.reached) == maxReached && !h.reached[name] {
		clear(h.reached) // they are reached for the first time again
	}
	h.links[name], h.reached[name] = s.link, true
	h.keepWarm(s.link)
}
