package daemon

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// awaiting is a wait for the first of several conditions.
type awaiting struct {
	s       *session
	b       *protocol.Await
	re      *regexp.Regexp
	next    uint64 // line that is searched next
	outputs uint64 // of the session, when the wait began
	looks   bool   // somebody must look how the terminal is used
}

// awaitAny waits until one of the conditions holds.
func (s *session) awaitAny(ctx context.Context, b *protocol.Await) (*protocol.Awaited, error) {
	a := &awaiting{s: s, b: b, looks: b.Prompt || b.States != 0}
	if b.Text != "" {
		var err error
		if a.re, err = regexp.Compile(b.Text); err != nil {
			return nil, fault.New(fault.Usage, "bad pattern: %s", err.Error()).WithHint("the syntax is RE2, as in Go and grep -E")
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	events, joined, err := s.awaitEvents(ctx, b)
	defer joined()
	defer cancel()
	if err != nil {
		return nil, err
	}
	changes, release := s.watch()
	defer release()
	s.mu.Lock()
	a.next, a.outputs = s.term.ScreenTop(), s.outputs
	s.mu.Unlock()
	pause := firstLook
	for {
		met, idleIn, err := a.look()
		if met != nil || err != nil {
			return met, err
		}
		again := a.again(pause, idleIn)
		select {
		case e := <-events:
			return a.met("event", func(r *protocol.Awaited) { r.Event = &e }), nil
		case <-changes:
			pause = firstLook
			if !sleepUntil(ctx, s.ended, scanInterval) { // a flood is not looked at each time
				return nil, waited(ctx)
			}
		case <-again:
			pause = min(2*pause, lastLook)
		case <-s.ended:
			select {
			case e := <-events:
				return a.met("event", func(r *protocol.Awaited) { r.Event = &e }), nil
			default:
			}
		case <-ctx.Done():
			return nil, waited(ctx)
		}
	}
}

// again fires when to look next although nothing is known to have changed; nil: then only.
func (a *awaiting) again(pause, idleIn time.Duration) <-chan time.Time {
	switch {
	case a.looks && (a.b.Idle == 0 || pause < idleIn):
		return time.After(pause)
	case a.b.Idle > 0:
		return time.After(idleIn)
	}
	return nil
}

func sleepUntil(ctx context.Context, ended <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	case <-ctx.Done():
		return false
	}
	return true
}

// look says whether a condition holds now.
func (a *awaiting) look() (met *protocol.Awaited, idleIn time.Duration, err error) {
	var use ports.TerminalUse
	if a.looks {
		use = a.s.look()
	}
	a.s.mu.Lock()
	word, match := a.holds(use)
	idleIn = time.Until(a.s.lastOutput.Add(a.b.Idle))
	finished := a.s.finished
	a.s.mu.Unlock()
	switch {
	case word != "":
		return a.met(word, func(r *protocol.Awaited) { r.Match = match }), 0, nil
	case finished:
		return nil, 0, fault.New(fault.Conflict, "the program ended, and what was waited for did not come").
			WithHint("vev capture shows its last screen")
	}
	return nil, max(idleIn, time.Millisecond), nil
}

// holds names the first condition that holds. The caller holds the session's mu.
func (a *awaiting) holds(use ports.TerminalUse) (word, match string) {
	s, b := a.s, a.b
	if a.re != nil {
		match, found := s.search(a.re, a.next)
		a.next = max(a.next, s.term.ScreenTop())
		if found {
			return "text", match
		}
	}
	switch {
	case b.Exit && s.finished:
		return "exit", ""
	case s.course.Is(b.States):
		return "state", ""
	case b.Prompt && s.prompts(use):
		return "prompt", ""
	case b.Changed && s.outputs != a.outputs:
		return "changed", ""
	case b.Idle > 0 && (s.finished || time.Since(s.lastOutput) >= b.Idle):
		return "idle", ""
	}
	return "", ""
}

// met is the answer, with what holds of the session now.
func (a *awaiting) met(word string, more func(*protocol.Awaited)) *protocol.Awaited {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &protocol.Awaited{Met: word, Exit: s.exit, Condition: s.course.Condition(), Generation: s.generation, Last: s.d.lastEvent()}
	more(r)
	return r
}

// prompts reports whether the session's shell waits for a command, whatever has been typed there. The caller holds mu.
func (s *session) prompts(use ports.TerminalUse) bool {
	_, _, err := s.atPrompt(use)
	return err == nil
}

// awaitEvents gives the first event that is waited for; nil: none is.
func (s *session) awaitEvents(ctx context.Context, b *protocol.Await) (events <-chan domain.Event, joined func(), err error) {
	if b.Events == 0 {
		return nil, func() {}, nil
	}
	w := s.d.watchEvents(&protocol.WatchEvents{Session: s.id.String(), Since: b.Since, Live: b.Since == 0, Types: b.Events})
	if err := w.open(); err != nil {
		return nil, func() {}, err
	}
	found := make(chan domain.Event, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer w.close()
		for {
			out, err := w.next(ctx)
			if err != nil {
				return
			}
			if len(out.Events) > 0 {
				found <- out.Events[0]
				return
			}
		}
	})
	return found, wg.Wait, nil
}
