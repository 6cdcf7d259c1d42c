package client

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Condition is what Wait waits for: the first that is met of those that are set.
type Condition struct {
	Text    string        // regular expression (RE2) that a line on the screen matches, or a newer one
	Idle    time.Duration // no output for so long
	Exit    bool          // the program's end
	Prompt  bool          // its shell waits for a command
	Changed bool          // it has written something
	States  []string      // it is doing one of these: running, prompt, input, attention, exited
	Events  []string      // something of one of these types happened: see Event
	Since   uint64        // with Events: those behind this number count too
}

// Met is how a condition was met.
type Met struct {
	Met        string    `json:"met"`              // text, idle, exit, prompt, changed, state or event
	Match      *string   `json:"match,omitempty"`  // the line that matched
	Status     *int      `json:"status,omitempty"` // of the program that has ended, as a shell has it
	Event      *Event    `json:"event,omitempty"`
	State      string    `json:"state"` // what the session does then
	Reason     string    `json:"reason"`
	Since      time.Time `json:"since"`
	Generation uint64    `json:"generation"`
	Last       uint64    `json:"last_seq"` // number of the newest event: for Condition.Since and WatchOptions.Since
}

// Wait waits until a condition is met. The daemon watches: nothing is polled. The error is of kind Timeout when the
// context's deadline passes, or 24 hours, and Unknown or Unavailable when the daemon went away.
func (s *Session) Wait(ctx context.Context, c Condition) (Met, error) {
	request, err := c.request(s.at.Name)
	if err != nil {
		return Met{}, err
	}
	timeout := remaining(ctx)
	answer, err := talk.BodyOf[*protocol.Awaited](s.ask(ctx, timeout, request))
	switch {
	case fault.KindOf(err) == fault.Timeout && err != nil:
		return Met{}, fault.New(fault.Timeout, "not met within %s", timeout.Round(time.Millisecond))
	case err != nil:
		return Met{}, err
	}
	return metOf(answer), nil
}

func (c *Condition) request(session string) (*protocol.Await, error) {
	a := &protocol.Await{Session: session, Text: c.Text, Idle: c.Idle, Exit: c.Exit, Prompt: c.Prompt, Changed: c.Changed, Since: c.Since}
	var err error
	if a.Events, err = eventSet(c.Events); err != nil {
		return nil, err
	}
	for _, name := range c.States {
		state, ok := domain.ParseActivity(name)
		if !ok {
			return nil, usage("there is no state %q; there are %s", name, strings.Join(domain.ActivityNames(), ", "))
		}
		a.States = a.States.With(state)
	}
	switch {
	case c.Text == "" && c.Idle == 0 && !c.Exit && !c.Prompt && !c.Changed && a.Events == 0 && a.States == 0:
		return nil, usage("there is nothing to wait for")
	case c.Idle < 0 || c.Idle > protocol.MaxWait:
		return nil, usage("the idle time is more than 0 and at most %s", protocol.MaxWait)
	case len(c.Text) > protocol.MaxPatternBytes:
		return nil, usage("the text has %d bytes, at most %d", len(c.Text), protocol.MaxPatternBytes)
	case c.Since != 0 && a.Events == 0:
		return nil, usage("since goes with events")
	}
	if _, err := regexp.Compile(c.Text); err != nil {
		return nil, fault.New(fault.Usage, "%s", err).WithHint("the syntax is that of https://golang.org/s/re2syntax")
	}
	return a, nil
}

func metOf(m *protocol.Awaited) Met {
	met := Met{
		Met: m.Met, State: m.Condition.Activity.String(), Reason: m.Condition.Reason, Since: m.Condition.Since,
		Generation: m.Generation, Last: m.Last,
	}
	if m.Event != nil {
		e := eventOf(m.Event)
		met.Event = &e
	}
	if m.Met == "text" {
		match := m.Match
		met.Match = &match
	}
	if m.Condition.Activity == domain.Ended {
		status := m.Exit.ShellCode()
		met.Status = &status
	}
	return met
}
