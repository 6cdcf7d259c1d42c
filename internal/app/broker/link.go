package broker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// link is one that was set up.
type link struct {
	ports.Link
	way       *way
	transport domain.Transport
	urged     atomic.Bool // the way was told that something was sent since the link was asked

	// Guarded by hosts.mu.
	streams map[*linked]struct{} // live ones, and those that are asked for
	answer  time.Duration        // how long the last stream's answer took; 0: none came yet
	idle    *time.Timer          // closes it, while it has no stream and is the way's
}

// linked is a stream that its link knows of.
type linked struct {
	ports.Stream
	link *link

	// Guarded by hosts.mu.
	report func(protocol.LinkReport) // tells the client; nil: it cannot be told yet
	told   protocol.LinkReport
}

// why is what a client is told of the stream's end, where that was this broker's doing; else nil.
func (s *linked) why() *protocol.Failure {
	if w := s.link.way; w.removed() {
		return protocol.FailureOf(context.Cause(w.life))
	}
	return nil
}

// Write implements ports.Stream. What is sent wants an answer: a link that gives none is noticed the sooner.
func (s *linked) Write(p []byte) (int, error) {
	if l := s.link; !l.urged.Swap(true) {
		l.way.hosts.urge(l, time.Now())
	}
	return s.Stream.Write(p)
}

func (h *hosts) urge(l *link, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := l.way; w.link == l {
		w.pulse.Urge()
		w.look(now)
	}
}

func (s *linked) Close() error {
	defer s.link.way.hosts.release(s)
	return s.Stream.Close()
}

func (s *linked) Abort(f protocol.Failure) error {
	defer s.link.way.hosts.release(s)
	return s.Stream.Abort(f)
}

// reporting has report tell the client how the link is, from now on.
func (s *linked) reporting(report func(protocol.LinkReport)) {
	h := s.link.way.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	s.report, s.told = report, protocol.LinkReport{State: domain.LinkConnected}
	s.link.way.tell(time.Now())
}

// hold counts a stream as one that its link is used for. It may be called again.
func (h *hosts) hold(s *linked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := s.link
	if _, held := l.streams[s]; held {
		return
	}
	if l.streams == nil {
		l.streams = map[*linked]struct{}{}
	}
	l.streams[s] = struct{}{}
	l.way.streams++
	if l.idle != nil {
		l.idle.Stop()
	}
	l.way.look(time.Now())
}

// release counts a stream no more. It ends a link with its last stream if it is not the way's, and has it end after linkIdle if it is. It may be called
// again.
func (h *hosts) release(s *linked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, w := s.link, s.link.way
	if _, held := l.streams[s]; !held {
		return
	}
	delete(l.streams, s)
	w.streams--
	switch {
	case w.link != l:
		if len(l.streams) == 0 {
			w.shut(l)
		}
	case l.Err() != nil:
		w.ended(l)
	case len(l.streams) == 0:
		w.keepWarm(l)
	}
	if w.streams == 0 && w.search == nil {
		w.pulse.Left()
	}
	w.look(time.Now())
}

// keepWarm has l end after linkIdle unless a stream comes, with mu held.
func (w *way) keepWarm(l *link) {
	if l.idle == nil {
		l.idle = time.AfterFunc(linkIdle, func() { w.hosts.expire(l) })
	} else {
		l.idle.Reset(linkIdle)
	}
}

func (h *hosts) expire(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := l.way; len(l.streams) == 0 && w.link == l {
		w.pulse.Dropped()
		w.drop(l)
		w.tell(time.Now())
	}
}
