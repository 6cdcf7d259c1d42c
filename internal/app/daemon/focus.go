package daemon

import (
	"slices"

	"github.com/vev-term/vev/internal/domain/keys"
)

// attend tells a program that asked for focus reports when the first client that may type comes, and when the last one
// has gone: nobody looks at a session without clients, so that is the time to notify. In between the clients' terminals
// report for themselves. The caller holds mu.
func (s *session) attend() {
	focused := slices.ContainsFunc(s.attachments, func(a *attachment) bool { return a.live() && !a.readOnly })
	if focused == s.focused {
		return
	}
	s.focused = focused
	if report := keys.AppendFocus(nil, focused, s.term.Modes()); len(report) > 0 {
		s.input.reply(report)
	}
}
