package daemon

import (
	"slices"
	"time"

	"github.com/vev-term/vev/internal/domain/keys"
)

// focusReport is what a client's terminal said about the keyboard's focus.
type focusReport uint8

const (
	focusUnsaid focusReport = iota // nothing: it counts as there, but getting it is news
	focusIn
	focusOut
)

// focused handles the client's Focus. Getting the focus is a use of the client, repeating that
// after a resume is not.
func (a *attachment) focused(l *link, in bool) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.link != l || a.readOnly {
		return
	}
	before := a.focus
	a.focus = focusOut
	if in {
		a.focus = focusIn
	}
	if in && before != focusIn {
		a.used(time.Now())
	}
	s.attend()
}

// attend tells a program that asked for focus reports when the first client that may type gets the focus, and when the
// last one that had it loses it or has gone: nobody looks at a session without clients, so that is the time to notify.
// The caller holds mu.
func (s *session) attend() {
	focused := slices.ContainsFunc(s.attachments, func(a *attachment) bool {
		return a.present() && !a.readOnly && a.focus != focusOut
	})
	if focused == s.focused {
		return
	}
	s.focused = focused
	if report := keys.AppendFocus(nil, focused, s.term.Modes()); len(report) > 0 {
		s.input.reply(report)
	}
}
