package daemon

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/shell"
	"github.com/vev-term/vev/internal/protocol"
)

// guard is what must hold while input of a request is given to the program.
type guard struct {
	generation uint64 // 0: any
	atPrompt   bool
}

// allowed says whether a request may type now. The caller holds mu, and has looked if a generation is asked for.
func (s *session) allowed(generation uint64) error {
	switch {
	case s.finished:
		return s.endedFault()
	case s.locked:
		return fault.New(fault.Denied, "the session is locked: only attached people may type").
			WithHint("vev lock --unlock NAME lets programs type again")
	case generation != 0 && generation != s.generation:
		return fault.New(fault.Conflict, "another program or command has the terminal: generation %d was expected, it is %d", generation, s.generation).
			WithHint("vev ls --json shows the generation; look at the screen before typing")
	}
	return nil
}

// checkLock refuses early what will be refused in any case.
func (s *session) checkLock(generation uint64) error {
	if generation != 0 {
		s.look()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.allowed(generation)
}

// give queues input of a request and waits until the terminal has it. All of it is given while the guard holds, or none.
func (s *session) give(ctx context.Context, data []byte, g guard) error {
	if len(data) == 0 {
		return nil
	}
	data = append([]byte(nil), data...)
	done := make(chan bool, 1)
	push := func(shell.At) (bool, error) { return s.push(data, g, done) }
	if g.atPrompt {
		if err := s.checkLock(g.generation); err != nil {
			return err
		}
		if err := s.awaitPrompt(ctx, promptGrace, push); err != nil {
			return err
		}
		return s.written(ctx, done)
	}
	for {
		s.look() // what held the terminal before does not get this
		s.mu.Lock()
		pushed, err := s.push(data, g, done)
		s.mu.Unlock()
		if pushed {
			if err != nil {
				return err
			}
			return s.written(ctx, done)
		}
		select {
		case <-s.input.room:
		case <-ctx.Done():
			return err
		}
	}
}

// push queues input, once and for all unless it returns false: then there is no room yet. The caller holds mu.
func (s *session) push(data []byte, g guard, done chan bool) (bool, error) {
	if err := s.allowed(g.generation); err != nil {
		return true, err
	}
	full, ok := s.input.pushRequest(data, done)
	switch {
	case !ok:
		return true, s.endedFault()
	case full:
		return false, errInputWaits(s.input.size())
	}
	s.typed(data)
	now := time.Now()
	s.fact(domain.FactTyped, "", now)
	s.usedAt(now)
	return true, nil
}

func errInputWaits(bytes int) error {
	return fault.New(fault.Timeout, "the program does not read its input; nothing was typed").
		WithHint("%d bytes of earlier input wait already", bytes)
}

// written waits until the terminal has what was queued.
func (s *session) written(ctx context.Context, done <-chan bool) error {
	select {
	case written := <-done:
		if !written {
			return s.endedFault()
		}
		return nil
	case <-ctx.Done():
		return fault.New(fault.Unknown, "the program has not read its input yet; it is queued").
			WithHint("it is given to the program when it reads, unless the session ends")
	}
}

func (s *session) endedFault() error {
	return fault.New(fault.Conflict, "the session's program has ended").WithHint("vev capture shows its last screen")
}

// lock lets only attached clients type, or everybody again.
func (s *session) lock(m *protocol.Lock) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return s.endedFault()
	}
	if s.locked != m.Locked {
		s.locked = m.Locked
		s.d.rows.note(s.id)
		s.tell(domain.Event{Type: domain.EventLocked, Text: lockWord(m.Locked), Title: m.Author}, time.Now())
	}
	return nil
}

func lockWord(locked bool) string {
	if locked {
		return "locked"
	}
	return "unlocked"
}
