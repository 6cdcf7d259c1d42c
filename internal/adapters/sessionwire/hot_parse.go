package sessionwire

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// open takes the envelope off: exactly one field, a message, to the frame's end.
func open(frame []byte) (tag wirefmt.Number, body []byte, err error) {
	tag, typ, n := wirefmt.ConsumeTag(frame)
	if n < 0 {
		return 0, nil, broken("the envelope cannot be read: %v", wirefmt.Reason(n))
	}
	if typ != wirefmt.Bytes {
		return 0, nil, broken("envelope field %d is no message", tag)
	}
	body, m := wirefmt.ConsumeBytes(frame[n:])
	if m < 0 {
		return 0, nil, broken("message %d is cut short: %v", tag, wirefmt.Reason(m))
	}
	if rest := len(frame) - n - m; rest > 0 {
		return 0, nil, broken("%d bytes follow message %d in its envelope", rest, tag)
	}
	return tag, body, nil
}

// A cursor takes the fields of one message apart, in the way of the generated code: the last
// value of a number counts, a known field of another wire type is skipped like an unknown one.
type cursor struct {
	what string
	b    []byte

	num  wirefmt.Number
	typ  wirefmt.Type
	uint uint64 // value of a varint
	data []byte // value of a length-delimited field
}

// next goes to the next field that is a varint or length-delimited; false at the end.
func (c *cursor) next() (bool, error) {
	for len(c.b) > 0 {
		num, typ, n := wirefmt.ConsumeTag(c.b)
		if n < 0 {
			return false, c.cannot(n)
		}
		c.num, c.typ, c.b = num, typ, c.b[n:]
		switch typ {
		case wirefmt.Varint:
			c.uint, n = wirefmt.ConsumeVarint(c.b)
		case wirefmt.Bytes:
			c.data, n = wirefmt.ConsumeBytes(c.b)
		default:
			n = wirefmt.ConsumeValue(num, typ, c.b)
		}
		if n < 0 {
			return false, c.cannot(n)
		}
		c.b = c.b[n:]
		if typ == wirefmt.Varint || typ == wirefmt.Bytes {
			return true, nil
		}
	}
	return false, nil
}

func (c *cursor) cannot(n int) error {
	return broken("%s cannot be read: %v", c.what, wirefmt.Reason(n))
}

// isUint and isData report whether the field at hand is num with that wire type.
func (c *cursor) isUint(num wirefmt.Number) bool {
	return c.num == num && c.typ == wirefmt.Varint
}

func (c *cursor) isData(num wirefmt.Number) bool {
	return c.num == num && c.typ == wirefmt.Bytes
}

// text is the value at hand as a string of its own, made only if it is within the limit.
func (c *cursor) text(what string, limit int) (string, error) {
	if len(c.data) > limit {
		return "", tooLong(what, len(c.data), limit)
	}
	if !utf8.Valid(c.data) {
		return "", broken("%s is not UTF-8", what)
	}
	return string(c.data), nil
}

// bytes is the value at hand, in the frame's memory; nil when empty, as the zero value is.
func (c *cursor) bytes() []byte { return notEmpty(c.data) }

func notEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// once refuses a message given twice.
func (c *cursor) once(seen *uint32) error {
	if *seen&(1<<c.num) != 0 {
		return broken("field %d of %s is given twice", c.num, c.what)
	}
	*seen |= 1 << c.num
	return nil
}

func parseInput(b []byte, m *protocol.Input) error {
	*m = protocol.Input{}
	c := cursor{what: "input", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil:
			return err
		case !more:
			return checkInput(m)
		case c.isUint(1):
			m.Seq = c.uint
		case c.isData(2):
			m.Data = c.bytes()
		}
	}
}

func parseAck(b []byte, m *protocol.Ack) error {
	*m = protocol.Ack{}
	c := cursor{what: "ack", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isUint(1):
			m.Epoch = c.uint
		case c.isUint(2):
			m.State = c.uint
		case c.isUint(3):
			m.EventSeq = c.uint
		case c.isUint(4): // nobody holds one for longer than an hour
			m.Held = time.Duration(min(c.uint, uint64(time.Hour/time.Microsecond))) * time.Microsecond
		}
	}
}

// parseOutput fills m, using the memory it has; layout is where a layout goes. lean: without a base it follows the state
// before.
func parseOutput(b []byte, m *protocol.Output, layout *protocol.Layout, lean bool) error {
	clear(m.Events) // texts of the last message must not be kept alive
	*m = protocol.Output{Panes: m.Panes[:0], Events: m.Events[:0]}
	seen := uint32(0)
	c := cursor{what: "output", b: b}
	for {
		more, err := c.next()
		if err == nil && more {
			err = outputField(&c, m, layout, &seen)
		}
		if err != nil {
			return err
		}
		if !more {
			if lean && m.New != 0 && !m.Full && m.Base == 0 {
				m.Base = m.New - 1
			}
			return checkOutput(m)
		}
	}
}

func outputField(c *cursor, m *protocol.Output, layout *protocol.Layout, seen *uint32) error {
	switch {
	case c.isUint(1):
		m.Epoch = c.uint
	case c.isUint(2):
		m.Base = c.uint
	case c.isUint(3):
		m.New = c.uint
	case c.isUint(4):
		m.Full = c.uint != 0
	case c.isUint(5):
		m.Echo = c.uint
	case c.isUint(6):
		m.InputAcked = c.uint
	case c.isData(7):
		if err := c.once(seen); err != nil {
			return err
		}
		m.Layout = layout
		return parseLayout(c.data, layout)
	case c.isData(8):
		if len(m.Panes) == protocol.MaxPanes {
			return tooMany("panes of output", protocol.MaxPanes+1, protocol.MaxPanes)
		}
		m.Panes = append(m.Panes, protocol.PaneUpdate{})
		return parsePane(c.data, &m.Panes[len(m.Panes)-1])
	case c.isData(9):
		if len(m.Events) == protocol.MaxEventsKept {
			return tooMany("events of output", protocol.MaxEventsKept+1, protocol.MaxEventsKept)
		}
		m.Events = append(m.Events, protocol.Event{})
		return parseEvent(c.data, &m.Events[len(m.Events)-1])
	}
	return nil
}

func parseLayout(b []byte, l *protocol.Layout) error {
	*l = protocol.Layout{Panes: l.Panes[:0]}
	seen := uint32(0)
	c := cursor{what: "layout", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isData(1):
			if err = c.once(&seen); err == nil {
				err = parseSize(c.data, &l.Size)
			}
		case c.isData(2):
			if len(l.Panes) == protocol.MaxPanes {
				return tooMany("panes of layout", protocol.MaxPanes+1, protocol.MaxPanes)
			}
			l.Panes = append(l.Panes, protocol.PanePlace{})
			err = parsePlace(c.data, &l.Panes[len(l.Panes)-1])
		case c.isUint(3):
			l.Policy = domain.SizePolicy(min(c.uint, math.MaxUint8))
		}
		if err != nil {
			return err
		}
	}
}

func parsePlace(b []byte, p *protocol.PanePlace) error {
	seen := uint32(0)
	c := cursor{what: "pane place", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isUint(1):
			p.Pane = c.uint
		case c.isUint(2):
			p.Col = int(uint32(c.uint))
		case c.isUint(3):
			p.Row = int(uint32(c.uint))
		case c.isData(4):
			if err = c.once(&seen); err == nil {
				err = parseSize(c.data, &p.Size)
			}
			if err != nil {
				return err
			}
		}
	}
}

func parsePane(b []byte, p *protocol.PaneUpdate) error {
	seen := uint32(0)
	c := cursor{what: "pane update", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isUint(1):
			p.Pane = c.uint
		case c.isData(2):
			p.Data = c.bytes()
		case c.isUint(3):
			p.ScreenTop = c.uint
		case c.isUint(4):
			p.FirstLine = c.uint
		case c.isData(5):
			if err = c.once(&seen); err == nil {
				err = parseSize(c.data, &p.Size)
			}
			if err != nil {
				return err
			}
		}
	}
}

func parseSize(b []byte, s *domain.Size) error {
	c := cursor{what: "size", b: b}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return err
		case c.isUint(1):
			s.Cols = int(uint32(c.uint))
		case c.isUint(2):
			s.Rows = int(uint32(c.uint))
		}
	}
}
