package daemon

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
)

// stirLook is how long after output somebody looks what holds the terminal now.
const stirLook = 200 * time.Millisecond

// stir notes output after silence; tend looks after it. The caller holds mu.
func (s *session) stir(now time.Time) {
	if s.stirring {
		return
	}
	s.stirring = true
	s.tell(domain.Event{Type: domain.EventActivity}, now)
	s.quiet.Reset(stirLook)
}

// tend looks after a session that prints: what holds its terminal, and when it has fallen silent. One that is silent
// already has no timer.
func (s *session) tend() {
	defer s.quiet.Stop()
	for {
		select {
		case <-s.quiet.C:
		case <-s.ended:
			return
		}
		s.mu.Lock()
		silent := time.Since(s.lastOutput)
		known := s.foreground
		s.mu.Unlock()
		if silent >= stirLook || s.program.ForegroundGroup() != known {
			s.look()
		}
		s.mu.Lock()
		switch silent = time.Since(s.lastOutput); {
		case silent >= domain.IdleAfter:
			s.stirring = false
			s.tell(domain.Event{Type: domain.EventIdle}, time.Now())
		case silent >= stirLook:
			s.quiet.Reset(domain.IdleAfter - silent)
		default:
			s.quiet.Reset(stirLook)
		}
		s.mu.Unlock()
	}
}
