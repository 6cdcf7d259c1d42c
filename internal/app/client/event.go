package client

import (
	"encoding/base64"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/protocol"
)

// Output events become what a program would have written to the user's terminal itself. Titles do not: they are part of
// the state. What a program chose is data: selections are of a fixed alphabet, text is without controls.

// appendEvent appends what makes a terminal do what happened; nothing for what it cannot do.
func appendEvent(dst []byte, body protocol.EventBody, caps render.Capabilities) []byte {
	switch e := body.(type) {
	case protocol.Bell:
		return append(dst, '\a')
	case protocol.Clipboard:
		if !caps.Basic {
			return appendClipboard(dst, e)
		}
	case protocol.Notification:
		if !caps.Basic {
			return appendNotification(dst, e)
		}
		return append(dst, '\a')
	}
	return dst
}

func appendClipboard(dst []byte, e protocol.Clipboard) []byte {
	if len(e.Data) > protocol.MaxClipboardBytes {
		return dst
	}
	dst = append(dst, "\x1b]52;"...)
	for i := range min(len(e.Selection), 8) {
		switch c := e.Selection[i]; {
		case c == 'c', c == 'p', c == 'q', c == 's', c >= '0' && c <= '7':
			dst = append(dst, c)
		}
	}
	dst = append(dst, ';')
	dst = base64.StdEncoding.AppendEncode(dst, e.Data)
	return append(dst, '\a')
}

func appendNotification(dst []byte, e protocol.Notification) []byte {
	text := e.Body
	if e.Title != "" {
		text = e.Title + ": " + e.Body
	}
	text = fault.Clean(text)
	if text == "" {
		return dst
	}
	dst = append(dst, "\x1b]9;"...)
	if text[0] >= '0' && text[0] <= '9' { // "9;4;..." is not a notification
		dst = append(dst, ' ')
	}
	dst = append(dst, text...)
	return append(dst, '\a')
}
