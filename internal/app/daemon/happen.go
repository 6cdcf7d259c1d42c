package daemon

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/streambus"
)

const (
	// eventsOfSession bounds the events that are kept of one session, with eventBytesOfSession.
	eventsOfSession     = 256
	eventBytesOfSession = 64 << 10
	// eventTopics bounds the sessions, of those that were, of which events are kept: then those of the one that was
	// quiet the longest are forgotten.
	eventTopics = 1536

	// eventBuffer bounds the events that wait for one client: then they are read again from what is kept, and what
	// that does not have is a gap.
	eventBuffer = 1024

	topicSessions = "session/"
)

func newBus() *streambus.Bus {
	bus, err := streambus.NewInMemory(streambus.Config{
		ReplayCapacity: eventsOfSession, ReplayBytes: eventBytesOfSession, ReplayTopics: eventTopics,
		DefaultBuffer: eventBuffer, MaxBuffer: eventBuffer, MaxPayloadBytes: eventBytesOfSession,
	})
	if err != nil {
		panic(err) // the numbers above
	}
	return bus
}

// tell publishes an event of the session. It never waits: nobody subscribes with streambus.Block. The caller holds mu.
func (s *session) tell(e domain.Event, now time.Time) {
	s.d.mu.Lock()
	e.Name = s.name
	s.d.mu.Unlock()
	e.Session, e.At = s.id, now
	e.Title, e.Text = clip(e.Title, domain.MaxEventText), clip(e.Text, domain.MaxEventText)
	payload, err := json.Marshal(e)
	if err == nil {
		_, err = s.d.bus.Publish(context.Background(), streambus.Frame{Topic: topicSessions + s.id.String(), Payload: payload})
	}
	if err != nil {
		s.d.o.Log.Error("an event was not told", "type", e.Type.String(), "err", err)
	}
	s.wakeWatchers()
}

// came tells that a client is there, or is back; a person who looks is called no longer. The caller holds mu.
func (s *session) came(a *attachment) {
	now := time.Now()
	a.here = true
	s.tell(domain.Event{Type: domain.EventAttached, Client: a.id}, now)
	if !a.readOnly {
		s.fact(domain.FactSeen, "", now)
	}
}

// went tells that a client is there no longer, once. The caller holds mu.
func (s *session) went(a *attachment) {
	if a.here {
		a.here = false
		s.tell(domain.Event{Type: domain.EventDetached, Client: a.id}, time.Now())
	}
}

// noteEvent tells what the program said, and makes facts of it. The caller holds mu.
func (s *session) noteEvent(e *vt.Event, now time.Time) {
	switch e.Kind {
	case vt.EventBell:
		s.tell(domain.Event{Type: domain.EventBell, Count: e.Count}, now)
		s.fact(domain.FactCall, "bell", now)
	case vt.EventTitle:
		s.tell(domain.Event{Type: domain.EventTitle, Text: e.Text}, now)
	case vt.EventCwd:
		s.tell(domain.Event{Type: domain.EventCwd, Text: e.Text}, now)
	case vt.EventClipboard:
		s.tell(domain.Event{Type: domain.EventClipboard, Text: e.Text, Count: len(e.Data)}, now)
	case vt.EventNotification:
		s.tell(domain.Event{Type: domain.EventNotification, Title: e.Title, Text: e.Text}, now)
		words := e.Text
		if words == "" {
			words = e.Title
		}
		s.fact(domain.FactCall, "notification: "+words, now)
	case vt.EventProgress:
		count := e.Progress.Percent
		if e.Progress.State == vt.ProgressNone {
			count = -1
		}
		s.tell(domain.Event{Type: domain.EventProgress, Count: count}, now)
	case vt.EventStatus:
		s.noteStatus(now)
	case vt.EventPromptMark:
		s.noteMark(e.Mark, now)
	case vt.EventDropped:
		s.tell(domain.Event{Type: domain.EventLost, Count: e.Count}, now)
	case vt.EventStringDropped:
	}
}

// noteStatus tells the newest word of a program about itself, and looks whether one waits for a person. The caller
// holds mu.
func (s *session) noteStatus(now time.Time) {
	list := s.term.Statuses()
	if n := len(list); n > 0 && list[n-1].Updated > s.statusSeen {
		p := &list[n-1]
		s.statusSeen = p.Updated
		s.tell(domain.Event{Type: domain.EventStatus, Title: p.App, Text: statusText(p)}, now)
	} else {
		s.tell(domain.Event{Type: domain.EventStatus, Text: "cleared"}, now)
	}
	for _, p := range list {
		if p.State == vt.StatusBlocked {
			s.blocked = true
			s.fact(domain.FactCall, "status: "+statusText(&p), now)
			return
		}
	}
	if s.blocked {
		s.blocked = false
		s.fact(domain.FactSettled, "", now)
	}
}

// statusText is a program's word about itself.
func statusText(p *vt.ProgramStatus) string {
	words := []string{p.State.String()}
	for _, more := range []string{p.App, p.Title, p.Message} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, ", ")
}

// noteMark follows what the shell marks. The caller holds mu.
func (s *session) noteMark(m vt.PromptMark, now time.Time) {
	switch m.Kind {
	case 'A':
		s.brokeAt, s.lineBroken = time.Time{}, false
		if s.course.Marked() {
			return // drawn anew
		}
		s.generation++
		if !s.endMarked {
			s.emptied() // what was typed was for the program before
		}
		s.endMarked = false
		s.fact(domain.FactPrompt, "", now)
		s.tell(domain.Event{Type: domain.EventPrompt}, now)
	case 'C':
		s.marksCommands = s.marksCommands || s.course.Marked()
		s.fact(domain.FactCommand, "", now)
		if s.commandAt.IsZero() {
			s.generation++
			s.commandAt = now
			s.tell(domain.Event{Type: domain.EventCommandStart}, now)
		}
	case 'D':
		s.emptied() // from now on it is for the shell
		s.endMarked = true
		if !s.commandAt.IsZero() {
			s.tell(domain.Event{
				Type: domain.EventCommandEnd, HasStatus: m.HasExit, Status: m.Exit, Took: now.Sub(s.commandAt),
			}, now)
			s.commandAt = time.Time{}
		}
	}
}

// noteForeground tells what holds the terminal now. The caller holds mu.
func (s *session) noteForeground(use ports.TerminalUse, now time.Time) {
	if use.Pid == s.foreground {
		return
	}
	if s.foreground != 0 {
		s.generation++
		s.emptied()
		s.d.rows.note(s.id)
		s.tell(domain.Event{Type: domain.EventForeground, Text: strings.Join(use.Argv, " ")}, now)
	}
	s.foreground = use.Pid
}
