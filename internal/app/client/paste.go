package client

import (
	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/domain/vt"
)

// paste is the pump's memory of a paste. The terminal brackets each, so that the client knows it from typing; a program that
// has not asked for brackets gets its text alone, cleaned of controls: it cannot tell a pasted one from a key.
type paste struct {
	bare bool // the program gets no brackets for the one that has begun
	text keys.Paste
	buf  []byte
}

// pasted sends a part of a paste; raw is the rest of it behind typing.passed bytes. What the program has set when it begins
// counts to its end.
func (c *client) pasted(s *shown, raw []byte) {
	p := &c.paste
	switch kind := c.typing.event.Kind; {
	case kind == keys.PasteBegin:
		// With Watch, and over a question, a paste is no keys.
		p.bare = !s.brackets && !c.scroll.active() && !c.o.Watch && !c.o.Asker.active()
		p.buf = p.text.Begin(p.buf[:0], vt.Modes{})
		// The rest of a bracket that was cut behind its first bytes must follow: they would swallow the text.
		if p.bare && c.typing.passed == 0 {
			raw = nil
		}
	case !p.bare:
	case kind == keys.PasteText:
		p.buf = p.text.Append(p.buf[:0], raw)
		raw = p.buf
	default:
		p.bare, raw = false, nil
	}
	if raw = c.used(raw); len(raw) == 0 {
		return
	}
	c.input += uint64(len(raw))
	c.out.typed(raw)
	if c.guesser.active.Load() {
		c.guesser.pasted(c.input)
		signal(c.guesser.wake)
	}
}
