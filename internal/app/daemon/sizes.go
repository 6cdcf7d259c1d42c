package daemon

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// dragInterval is the least time between two sizes while the window of a client is dragged:
	// each makes the program draw everything.
	dragInterval = 100 * time.Millisecond
	// turnInterval is the least time before clients that are used in turn change the size again:
	// two people who type must not make the program draw everything at each key.
	turnInterval = 500 * time.Millisecond
)

// used notes that the client is used, now: it attached, typed or got the focus. The caller
// holds s.mu.
func (a *attachment) used(now time.Time) {
	s := a.s
	s.uses++
	a.use, a.active = s.uses, now
	s.usedAt(now)
	if s.policy == domain.SizeLatest && a.size != s.size {
		s.settle(now, turnInterval)
	}
}

// usedAt notes when the session was used last. The caller holds mu.
func (s *session) usedAt(now time.Time) {
	if usedGrain(now) != usedGrain(s.lastUsed) {
		s.d.rows.note(s.id)
	}
	s.lastUsed = now
}

// resized handles the client's Resize, which is no use of the client.
func (a *attachment) resized(l *link, m *protocol.Resize) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.link == l && m.Terminal != "" {
		a.origin.Terminal = m.Terminal
	}
	if a.link == l && a.size != m.Size {
		a.size = m.Size
		s.settle(time.Now(), dragInterval)
	}
}

// settle gives the session the size that is right now, at once or when spacing has passed since
// the last change. The caller holds mu.
func (s *session) settle(now time.Time, spacing time.Duration) {
	want := s.policy.Decide(s.size, s.claims())
	if want == s.size || s.finished {
		return
	}
	if wait := s.sizedAt.Add(spacing).Sub(now); wait > 0 {
		s.settleLater(wait)
		return
	}
	s.resize(want, now)
}

// settleLater settles after wait, unless that is about to happen anyway. d.running joins the
// goroutine, which the session's others outlive. The caller holds mu; the session has not
// finished.
func (s *session) settleLater(wait time.Duration) {
	if s.settling {
		return
	}
	s.settling = true
	s.d.running.Go(func() {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ended:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settling = false
		s.settle(time.Now(), 0)
	})
}

// claims are those of the clients that may decide; valid until the next call. The caller holds
// mu.
func (s *session) claims() []domain.Claim {
	s.claimed = s.claimed[:0]
	for _, a := range s.attachments {
		if a.present() && !a.readOnly {
			s.claimed = append(s.claimed, domain.Claim{Size: a.size, Used: a.use})
		}
	}
	return s.claimed
}

// resize gives the session a new size. The caller holds mu. The terminal is told first, so
// that what the program draws for the new size finds the engine ready.
func (s *session) resize(size domain.Size, now time.Time) {
	s.size, s.sizedAt = size, now
	s.term.Resize(size.Cols, size.Rows)
	s.tell(domain.Event{Type: domain.EventResized, Size: size}, now)
	_ = s.program.Resize(size) // fails only when the terminal is gone
	s.changed()
	s.d.rows.note(s.id)
}

// setSize says how the size is decided from now on.
func (s *session) setSize(m *protocol.SetSize) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return s.endedFault()
	}
	now := time.Now()
	if s.policy != m.Policy {
		s.policy = m.Policy
		s.changed() // clients are told why the size is what it is
		s.d.rows.note(s.id)
	}
	if m.Policy == domain.SizeFixed && m.Size != (domain.Size{}) && m.Size != s.size {
		s.resize(m.Size, now)
	}
	s.settle(now, 0)
	return nil
}
