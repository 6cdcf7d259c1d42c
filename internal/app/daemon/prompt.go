package daemon

import (
	"context"
	"path"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/shell"
	"github.com/vev-term/vev/internal/ports"
)

const (
	// promptGrace is how long a command waits for the prompt of a shell that is about to show it: between two commands,
	// or when it has just been started.
	promptGrace = 5 * time.Second
	// breakSettles is how long after Ctrl-C a prompt is not believed in that no new mark has come for: what is
	// typed before the shell has seen the interrupt may be dropped.
	breakSettles = 300 * time.Millisecond
	// firstLook and lastLook are the pauses between two looks at a terminal whose use nobody announces, doubled each
	// time. Nobody looks unless somebody waits.
	firstLook = 4 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// told reports whether the shell itself says what the session does, so that nobody need look.
func (s *session) told() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished || s.course.Marked()
}

// look asks the system how the terminal is used and notes what that says. It is not called with mu held.
func (s *session) look() ports.TerminalUse {
	use := s.program.Use()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteUse(use, time.Now())
	return use
}

// noteUse makes facts of what the system told. The caller holds mu.
func (s *session) noteUse(use ports.TerminalUse, now time.Time) {
	if !use.Told || s.finished {
		return
	}
	s.noteForeground(use, now)
	kind := shell.Of(use.Argv)
	switch {
	case kind != shell.None && ready(kind, use):
		s.fact(domain.FactReady, kind.String()+" waits for a command", now)
	case use.Reads && use.Canonical && !use.Echo:
		s.fact(domain.FactReads, "reads without echo, as for a password", now)
	case use.Reads && use.Canonical:
		s.fact(domain.FactReads, "reads a line", now)
	case use.Reads:
		s.fact(domain.FactReads, "reads keys", now)
	default:
		s.fact(domain.FactBusy, "", now)
	}
}

// ready reports whether a shell that holds the terminal waits for a command, as far as that can be seen from outside: one
// that edits lines does so at its prompt alone.
func ready(kind shell.Kind, use ports.TerminalUse) bool {
	return use.Reads && (!kind.Edits() || !use.Canonical)
}

// fact takes a step of the session's course. The caller holds mu.
func (s *session) fact(f domain.Fact, words string, now time.Time) {
	if s.course.Step(f, clip(words, domain.MaxReasonBytes), now) {
		s.wakeWatchers()
		s.d.rows.note(s.id)
	}
}

// atPrompt says where a command can be typed now, or why none can. The caller holds mu and has just looked.
func (s *session) atPrompt(use ports.TerminalUse) (at shell.At, soon bool, err error) {
	if s.finished {
		return at, false, s.endedFault()
	}
	kind := shell.Of(use.Argv)
	marked := s.course.Marked()
	at = shell.At{Kind: kind, Canonical: use.Told && use.Canonical && !kind.Edits()}
	switch {
	case kind == shell.None && use.Told && !marked:
		name := "a program"
		if len(use.Argv) > 0 {
			name = path.Base(use.Argv[0])
		}
		return at, false, fault.New(fault.Conflict, "not at a prompt: %s runs", fault.Clean(name)).
			WithHint("wait for it with vev wait --prompt, or type with vev send")
	case time.Since(s.brokeAt) < breakSettles:
		return at, true, errBusyShell(kind)
	case kind == shell.None && marked:
		at.Marks = true // a shell that is elsewhere
	case marked && use.Told && kind.Edits() && use.Canonical:
		return at, true, errBusyShell(kind)
	case marked:
		at.Marks = s.marksCommands
	case !ready(kind, use):
		return at, true, errBusyShell(kind)
	}
	return at, false, nil
}

// lineEmpty refuses where something has been typed at the prompt. The caller holds mu and knows that there is one.
func (s *session) lineEmpty() error {
	if s.lineUsed || s.lineBroken && s.course.Marked() {
		s.d.mu.Lock()
		name := s.name
		s.d.mu.Unlock()
		return fault.New(fault.Conflict, "somebody has typed at the prompt already").
			WithHint("clear the line with vev key %s C-c", name)
	}
	return nil
}

func errBusyShell(kind shell.Kind) error {
	if kind == shell.None {
		return fault.New(fault.Conflict, "not at a prompt: it cannot be told what runs").WithHint("vev shell-init makes a shell tell")
	}
	return fault.New(fault.Conflict, "not at a prompt: %s is busy", kind).WithHint("wait for it with vev wait --prompt")
}

// awaitPrompt waits for a prompt that is about to come, and then calls do under the session's lock. What it returns
// false for is tried again.
func (s *session) awaitPrompt(ctx context.Context, grace time.Duration, do func(at shell.At) (done bool, err error)) error {
	changes, release := s.watch()
	defer release()
	late := time.NewTimer(grace)
	defer late.Stop()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		use := s.look()
		s.mu.Lock()
		at, soon, err := s.atPrompt(use)
		if err == nil {
			err = s.lineEmpty()
		}
		done := err != nil && !soon
		if err == nil {
			done, err = do(at)
		}
		s.mu.Unlock()
		if done {
			return err
		}
		again := time.NewTimer(pause)
		select {
		case <-changes:
		case <-again.C:
		case <-s.ended:
		case <-late.C:
			again.Stop()
			return err
		case <-ctx.Done():
			again.Stop()
			return waited(ctx)
		}
		again.Stop()
	}
}

// typed notes what was written to the program: whether the line at a prompt is empty still. The caller holds mu.
func (s *session) typed(data []byte) {
	const ctrlC, ctrlD = 0x03, 0x04
	for i := len(data) - 1; i >= 0; i-- {
		switch data[i] {
		case '\r', '\n', ctrlC, ctrlD:
			used := s.lineUsed || s.lineBroken
			s.emptied()
			if data[i] == ctrlC {
				s.lineBroken = used || i > 0
				s.broke(time.Now())
			}
			s.lineUsed = i < len(data)-1
			return
		}
	}
	s.lineUsed = s.lineUsed || len(data) > 0
}

// emptied notes that nothing is typed at the prompt any more. The caller holds mu.
func (s *session) emptied() { s.lineUsed, s.lineBroken = false, false }

// broke notes that Ctrl-C was typed. The caller holds mu.
func (s *session) broke(now time.Time) {
	s.brokeAt = now
	if s.run != nil {
		s.run.interrupted = true
	}
}
