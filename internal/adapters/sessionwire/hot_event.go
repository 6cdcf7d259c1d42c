package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// parseEvent makes strings of its own: events are rare and outlive their frame. A variant of
// a newer peer leaves Body nil.
func parseEvent(b []byte, e *protocol.Event) error {
	variant := wirefmt.Number(0)
	c := cursor{what: "event", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isUint(1):
			e.Seq = c.uint
		case c.isUint(2):
			e.Pane = c.uint
		case c.num >= eventBell && c.num <= eventRenamed:
			if variant != 0 {
				return broken("event holds two variants, %d and %d", variant, c.num)
			}
			variant = c.num
			if e.Body, err = parseEventBody(&c); err != nil {
				return err
			}
		}
	}
}

func parseEventBody(c *cursor) (protocol.EventBody, error) {
	switch {
	case c.isUint(eventBell):
		return protocol.Bell{}, nil
	case c.isUint(eventProgress):
		return protocol.ProgressEvent{Percent: int(uint32(c.uint))}, nil
	case c.isData(eventTitle):
		text, err := c.text("title", protocol.MaxTextBytes)
		return protocol.Title{Text: text}, err
	case c.isData(eventCwd):
		path, err := c.text("directory", protocol.MaxTextBytes)
		return protocol.Cwd{Path: path}, err
	case c.isData(eventRenamed):
		name, err := c.text("name", domain.MaxNameBytes)
		return protocol.Renamed{Name: name}, err
	case c.isData(eventClipboard):
		return parseClipboard(c.data)
	case c.isData(eventNotification):
		return parseNotification(c.data)
	case c.isData(eventPromptMark):
		return parseMark(c.data)
	case c.isData(eventExit):
		return nil, emptyShape.walk(c.data)
	}
	return nil, nil
}

func parseClipboard(b []byte) (protocol.Clipboard, error) {
	var body protocol.Clipboard
	c := cursor{what: "clipboard", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return body, err
		case c.isData(1):
			if body.Selection, err = c.text("selection", protocol.MaxTextBytes); err != nil {
				return body, err
			}
		case c.isData(2):
			body.Data = c.bytes()
		}
	}
}

func parseNotification(b []byte) (protocol.Notification, error) {
	var body protocol.Notification
	c := cursor{what: "notification", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return body, err
		case c.isData(1):
			body.Title, err = c.text("notification title", protocol.MaxTextBytes)
		case c.isData(2):
			body.Body, err = c.text("notification", protocol.MaxTextBytes)
		}
		if err != nil {
			return body, err
		}
	}
}

func parseMark(b []byte) (protocol.PromptMark, error) {
	var body protocol.PromptMark
	c := cursor{what: "prompt mark", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return body, err
		case c.isUint(1):
			if c.uint > 'Z' {
				return body, broken("prompt mark %d is none of A to D", c.uint)
			}
			body.Kind = byte(c.uint)
		case c.isUint(2):
			body.Line = c.uint
		case c.isUint(3):
			body.Status = int(int32(c.uint))
		}
	}
}
