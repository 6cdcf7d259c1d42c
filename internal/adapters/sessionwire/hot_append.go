package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// The functions below append fields as proto3 writes them: in the order of their numbers, a
// zero value not at all. Each has a size twin, because a message's length stands before it.

func sizeUint(num wirefmt.Number, v uint64) int {
	if v == 0 {
		return 0
	}
	return wirefmt.SizeTag(num) + wirefmt.SizeVarint(v)
}

func appendUint(b []byte, num wirefmt.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return wirefmt.AppendVarint(wirefmt.AppendTag(b, num, wirefmt.Varint), v)
}

func sizeData[T []byte | string](num wirefmt.Number, v T) int {
	if len(v) == 0 {
		return 0
	}
	return sizeField(num, len(v))
}

func appendData[T []byte | string](b []byte, num wirefmt.Number, v T) []byte {
	if len(v) == 0 {
		return b
	}
	return append(appendHead(b, num, len(v)), v...)
}

// sizeField is what a length-delimited field of n bytes takes, empty or not.
func sizeField(num wirefmt.Number, n int) int {
	return wirefmt.SizeTag(num) + wirefmt.SizeBytes(n)
}

func appendHead(b []byte, num wirefmt.Number, n int) []byte {
	return wirefmt.AppendVarint(wirefmt.AppendTag(b, num, wirefmt.Bytes), uint64(n))
}

func sizeSize(s domain.Size) int {
	return sizeUint(1, uint64(s.Cols)) + sizeUint(2, uint64(s.Rows))
}

// sizeSizeField is 0 for the zero size, which is not sent.
func sizeSizeField(num wirefmt.Number, s domain.Size) int {
	if s == (domain.Size{}) {
		return 0
	}
	return sizeField(num, sizeSize(s))
}

func appendSizeField(b []byte, num wirefmt.Number, s domain.Size) []byte {
	if s == (domain.Size{}) {
		return b
	}
	b = appendHead(b, num, sizeSize(s))
	return appendUint(appendUint(b, 1, uint64(s.Cols)), 2, uint64(s.Rows))
}

func appendInput(b []byte, m *protocol.Input) []byte {
	b = appendHead(b, tagInput, sizeUint(1, m.Seq)+sizeData(2, m.Data))
	return appendData(appendUint(b, 1, m.Seq), 2, m.Data)
}

func appendAck(b []byte, m *protocol.Ack) []byte {
	held := uint64(max(m.Held.Microseconds(), 0))
	b = appendHead(b, tagAck, sizeUint(1, m.Epoch)+sizeUint(2, m.State)+sizeUint(3, m.EventSeq)+sizeUint(4, held))
	b = appendUint(appendUint(b, 1, m.Epoch), 2, m.State)
	return appendUint(appendUint(b, 3, m.EventSeq), 4, held)
}

// appendOutput takes a message that checkOutput has passed.
func appendOutput(b []byte, m *protocol.Output) []byte {
	b = appendHead(b, tagOutput, sizeOutput(m))
	b = appendUint(b, 1, m.Epoch)
	b = appendUint(b, 2, m.Base)
	b = appendUint(b, 3, m.New)
	b = appendUint(b, 4, bit(m.Full))
	b = appendUint(b, 5, m.Echo)
	b = appendUint(b, 6, m.InputAcked)
	if m.Layout != nil {
		b = appendLayout(appendHead(b, 7, sizeLayout(m.Layout)), m.Layout)
	}
	for i := range m.Panes {
		b = appendPane(appendHead(b, 8, sizePane(&m.Panes[i])), &m.Panes[i])
	}
	for i := range m.Events {
		b = appendEvent(appendHead(b, 9, sizeEvent(&m.Events[i])), &m.Events[i])
	}
	return b
}

func sizeOutput(m *protocol.Output) int {
	n := sizeUint(1, m.Epoch) + sizeUint(2, m.Base) + sizeUint(3, m.New) + sizeUint(4, bit(m.Full)) +
		sizeUint(5, m.Echo) + sizeUint(6, m.InputAcked)
	if m.Layout != nil {
		n += sizeField(7, sizeLayout(m.Layout))
	}
	for i := range m.Panes {
		n += sizeField(8, sizePane(&m.Panes[i]))
	}
	for i := range m.Events {
		n += sizeField(9, sizeEvent(&m.Events[i]))
	}
	return n
}

func sizeLayout(l *protocol.Layout) int {
	n := sizeSizeField(1, l.Size)
	for i := range l.Panes {
		n += sizeField(2, sizePlace(&l.Panes[i]))
	}
	return n + sizeUint(3, uint64(l.Policy))
}

func appendLayout(b []byte, l *protocol.Layout) []byte {
	b = appendSizeField(b, 1, l.Size)
	for i := range l.Panes {
		p := &l.Panes[i]
		b = appendHead(b, 2, sizePlace(p))
		b = appendUint(appendUint(appendUint(b, 1, p.Pane), 2, uint64(p.Col)), 3, uint64(p.Row))
		b = appendSizeField(b, 4, p.Size)
	}
	return appendUint(b, 3, uint64(l.Policy))
}

func sizePlace(p *protocol.PanePlace) int {
	return sizeUint(1, p.Pane) + sizeUint(2, uint64(p.Col)) + sizeUint(3, uint64(p.Row)) + sizeSizeField(4, p.Size)
}

func sizePane(p *protocol.PaneUpdate) int {
	return sizeUint(1, p.Pane) + sizeData(2, p.Data) + sizeUint(3, p.ScreenTop) + sizeUint(4, p.FirstLine) +
		sizeSizeField(5, p.Size)
}

func appendPane(b []byte, p *protocol.PaneUpdate) []byte {
	b = appendData(appendUint(b, 1, p.Pane), 2, p.Data)
	return appendSizeField(appendUint(appendUint(b, 3, p.ScreenTop), 4, p.FirstLine), 5, p.Size)
}

func sizeEvent(e *protocol.Event) int {
	n := sizeUint(1, e.Seq) + sizeUint(2, e.Pane)
	switch body := e.Body.(type) {
	case protocol.Bell:
		n += wirefmt.SizeTag(eventBell) + 1
	case protocol.Title:
		n += sizeField(eventTitle, len(body.Text))
	case protocol.Cwd:
		n += sizeField(eventCwd, len(body.Path))
	case protocol.Clipboard:
		n += sizeField(eventClipboard, sizeData(1, body.Selection)+sizeData(2, body.Data))
	case protocol.Notification:
		n += sizeField(eventNotification, sizeData(1, body.Title)+sizeData(2, body.Body))
	case protocol.ProgressEvent:
		n += wirefmt.SizeTag(eventProgress) + wirefmt.SizeVarint(uint64(body.Percent))
	case protocol.PromptMark:
		n += sizeField(eventPromptMark, sizeMark(body))
	case protocol.Renamed:
		n += sizeField(eventRenamed, len(body.Name))
	}
	return n
}

// appendEvent writes a variant also when it is empty: that it is there is what it says.
func appendEvent(b []byte, e *protocol.Event) []byte {
	b = appendUint(appendUint(b, 1, e.Seq), 2, e.Pane)
	switch body := e.Body.(type) {
	case protocol.Bell:
		b = wirefmt.AppendVarint(wirefmt.AppendTag(b, eventBell, wirefmt.Varint), 1)
	case protocol.Title:
		b = append(appendHead(b, eventTitle, len(body.Text)), body.Text...)
	case protocol.Cwd:
		b = append(appendHead(b, eventCwd, len(body.Path)), body.Path...)
	case protocol.Clipboard:
		b = appendHead(b, eventClipboard, sizeData(1, body.Selection)+sizeData(2, body.Data))
		b = appendData(appendData(b, 1, body.Selection), 2, body.Data)
	case protocol.Notification:
		b = appendHead(b, eventNotification, sizeData(1, body.Title)+sizeData(2, body.Body))
		b = appendData(appendData(b, 1, body.Title), 2, body.Body)
	case protocol.ProgressEvent:
		b = wirefmt.AppendTag(b, eventProgress, wirefmt.Varint)
		b = wirefmt.AppendVarint(b, uint64(body.Percent))
	case protocol.PromptMark:
		b = appendHead(b, eventPromptMark, sizeMark(body))
		b = appendUint(appendUint(b, 1, uint64(body.Kind)), 2, body.Line)
		b = appendUint(b, 3, signed(body.Status))
	case protocol.Renamed:
		b = append(appendHead(b, eventRenamed, len(body.Name)), body.Name...)
	}
	return b
}

func sizeMark(m protocol.PromptMark) int {
	return sizeUint(1, uint64(m.Kind)) + sizeUint(2, m.Line) + sizeUint(3, signed(m.Status))
}

// signed is an int32 as protobuf writes it: extended to 64 bits.
func signed(v int) uint64 { return uint64(int64(int32(v))) }

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
