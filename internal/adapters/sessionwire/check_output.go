package sessionwire

import (
	"math"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// checkOutput returns a breach unless m may be sent or, after parsing, believed.
func checkOutput(m *protocol.Output) error {
	switch {
	case m.New == 0 && (m.Base != 0 || m.Full || m.Layout != nil || len(m.Panes) > 0):
		return broken("an output without a state carries more than events and acknowledgements")
	case m.Full && m.Base != 0:
		return broken("a full state %d has base %d", m.New, m.Base)
	case m.New != 0 && !m.Full && m.Base+1 != m.New:
		return broken("state %d follows %d", m.New, m.Base)
	case len(m.Panes) > protocol.MaxPanes:
		return tooMany("panes of output", len(m.Panes), protocol.MaxPanes)
	case len(m.Events) > protocol.MaxEventsKept:
		return tooMany("events of output", len(m.Events), protocol.MaxEventsKept)
	}
	if m.Layout != nil {
		if err := checkLayout(m.Layout); err != nil {
			return err
		}
	}
	for i := range m.Panes {
		if err := checkSize("pane", m.Panes[i].Size); err != nil {
			return err
		}
	}
	last := uint64(0)
	for i := range m.Events {
		e := &m.Events[i]
		if e.Seq <= last {
			return broken("event %d follows %d", e.Seq, last)
		}
		last = e.Seq
		if err := checkEvent(e.Body); err != nil {
			return err
		}
	}
	return nil
}

func checkLayout(l *protocol.Layout) error {
	if len(l.Panes) > protocol.MaxPanes {
		return tooMany("panes of layout", len(l.Panes), protocol.MaxPanes)
	}
	if err := checkSize("layout", l.Size); err != nil {
		return err
	}
	if err := checkPolicy(l.Policy); err != nil {
		return err
	}
	for i := range l.Panes {
		p := &l.Panes[i]
		if err := checkSize("pane", p.Size); err != nil {
			return err
		}
		if p.Col < 0 || p.Row < 0 || p.Col > l.Size.Cols-p.Size.Cols || p.Row > l.Size.Rows-p.Size.Rows {
			return broken("pane %d of %s at column %d, row %d lies outside a layout of %s", p.Pane, p.Size, p.Col, p.Row, l.Size)
		}
	}
	return nil
}

func checkEvent(body protocol.EventBody) error {
	switch body := body.(type) {
	case nil, protocol.Bell:
		return nil
	case protocol.Title:
		return checkText("title", body.Text, protocol.MaxTextBytes)
	case protocol.Cwd:
		return checkText("directory", body.Path, protocol.MaxTextBytes)
	case protocol.Clipboard:
		if len(body.Data) > protocol.MaxClipboardBytes {
			return tooLong("clipboard", len(body.Data), protocol.MaxClipboardBytes)
		}
		return checkText("selection", body.Selection, protocol.MaxTextBytes)
	case protocol.Notification:
		if err := checkText("notification title", body.Title, protocol.MaxTextBytes); err != nil {
			return err
		}
		return checkText("notification", body.Body, protocol.MaxTextBytes)
	case protocol.ProgressEvent:
		return checkRange("progress", int64(body.Percent), 0, math.MaxUint32)
	case protocol.PromptMark:
		if body.Kind < 'A' || body.Kind > 'D' {
			return broken("prompt mark %d is none of A to D", body.Kind)
		}
		return checkRange("status", int64(body.Status), math.MinInt32, math.MaxInt32)
	case protocol.Renamed:
		return checkText("name", body.Name, domain.MaxNameBytes)
	}
	return broken("event %T is not known", body)
}

// checkText is for text of hot messages, which has no shape.
func checkText(what, text string, limit int) error {
	if len(text) > limit {
		return tooLong(what, len(text), limit)
	}
	if !utf8.ValidString(text) {
		return broken("%s is not UTF-8", what)
	}
	return nil
}
