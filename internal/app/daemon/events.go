package daemon

import (
	"strings"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// record makes an event of the engine known to every attachment. The caller holds mu.
func (s *session) record(e vt.Event) {
	var body protocol.EventBody
	switch e.Kind {
	case vt.EventBell:
		body = protocol.Bell{}
	case vt.EventTitle:
		body = protocol.Title{Text: clip(e.Text, protocol.MaxTextBytes)}
		s.d.rows.note(s.id)
	case vt.EventCwd:
		body = protocol.Cwd{Path: clip(e.Text, protocol.MaxTextBytes)}
		s.d.rows.note(s.id)
	case vt.EventClipboard:
		if len(e.Data) > protocol.MaxClipboardBytes {
			return // the engine's own limit is not above this one
		}
		body = protocol.Clipboard{Selection: clip(e.Text, protocol.MaxTextBytes), Data: e.Data}
	case vt.EventNotification:
		body = protocol.Notification{Title: clip(e.Title, protocol.MaxTextBytes), Body: clip(e.Text, protocol.MaxTextBytes)}
	case vt.EventProgress:
		body = protocol.ProgressEvent{Percent: percent(e.Progress)}
	case vt.EventPromptMark:
		body = protocol.PromptMark{Kind: e.Mark.Kind, Line: e.Mark.Line, Status: e.Mark.Exit}
	case vt.EventStatus:
		return // the records stay in the engine for whoever asks; no client is told of them
	case vt.EventStringDropped:
		body = protocol.Notification{Title: "vev", Body: "a control string of the program was too long and was dropped"}
	case vt.EventDropped:
		return // the gap of the engine's own queue is older than any client's interest
	}
	for _, a := range s.attachments {
		a.event(body)
	}
}

// noProgress is a percentage above 100: none.
const noProgress = 255

func percent(p vt.Progress) int {
	if p.State == vt.ProgressNone {
		return noProgress
	}
	return p.Percent
}

// publish tells every attachment what happened to the session itself.
func (s *session) publish(body protocol.EventBody) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.attachments {
		a.event(body)
	}
}

// clip makes text of a program fit to travel: valid UTF-8, at most n bytes, cut between
// characters.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// eventSize is what an event is charged, about its bytes on the wire.
func eventSize(e protocol.Event) int {
	const overhead = 32
	switch b := e.Body.(type) {
	case protocol.Title:
		return overhead + len(b.Text)
	case protocol.Cwd:
		return overhead + len(b.Path)
	case protocol.Clipboard:
		return overhead + len(b.Selection) + len(b.Data)
	case protocol.Notification:
		return overhead + len(b.Title) + len(b.Body)
	}
	return overhead
}
