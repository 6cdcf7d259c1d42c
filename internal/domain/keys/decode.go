package keys

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// MaxSequence is the length of the longest sequence that is waited for. The first MaxSequence bytes of a longer one are an
// Unknown event, what follows is read as keys.
const MaxSequence = 64

// Decoder finds events in what a terminal sends that was asked nothing: ESC ] is Alt-], CSI 1 ; 2 R is Shift-F3. The zero
// Decoder is ready.
type Decoder struct {
	paste bool // inside a bracketed paste
}

// Pasting reports whether a bracketed paste has begun and not ended.
func (d *Decoder) Pasting() bool { return d.paste }

// Next decodes the first event of p, which is not empty, and returns how many bytes it has; n is 0 when p is the begin of
// an event whose rest may follow. Then p is shorter than [MaxSequence]. With more false nothing is known to follow and p is
// taken as it is: a lone ESC is the Escape key. The end of a paste is waited for all the same.
func (d *Decoder) Next(p []byte, more bool) (e Event, n int) {
	if d.paste {
		return d.pasted(p)
	}
	switch c := p[0]; {
	case c == 0x1b:
		return d.escape(p, more)
	case c < 0x20 || c == 0x7f:
		return controlKey(c), 1
	}
	return char(p, more)
}

// char decodes the first character of p.
func char(p []byte, more bool) (e Event, n int) {
	if more && !utf8.FullRune(p) {
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 || !Key(r).isChar() {
		return Event{Kind: Unknown}, n
	}
	return Char(r), n
}

// controlKey is the key of a C0 control or DEL. Where several keys send one byte it is Tab, Enter, Escape, Backspace for
// DEL, and else Ctrl with a letter.
func controlKey(c byte) Event {
	e := Event{Kind: KeyEvent, Key: Key(c), Mods: Ctrl}
	switch {
	case c == byte(Tab) || c == byte(Enter) || c == byte(Escape) || c == byte(Backspace):
		e.Mods = 0
	case c == 0:
		e.Key = Space
	case c <= 26:
		e.Key = Key(c) | 0x60
	default:
		e.Key = Key(c) | 0x40
	}
	return e
}

var pasteEndMark = []byte(pasteEnd)

// pasted decodes inside a paste: text up to the end marker.
func (d *Decoder) pasted(p []byte) (e Event, n int) {
	if bytes.HasPrefix(p, pasteEndMark) {
		d.paste = false
		return Event{Kind: PasteEnd}, len(pasteEnd)
	}
	n = bytes.Index(p, pasteEndMark)
	if n < 0 {
		n = len(p) - cutMark(p)
	}
	if n == 0 {
		return Event{}, 0
	}
	return Event{Kind: PasteText}, n
}

// cutMark returns how many bytes at the end of p may be the begin of an end marker.
func cutMark(p []byte) int {
	i := bytes.LastIndexByte(p[max(0, len(p)-len(pasteEnd)+1):], 0x1b)
	if i < 0 {
		return 0
	}
	tail := p[max(0, len(p)-len(pasteEnd)+1):][i:]
	if bytes.HasPrefix(pasteEndMark, tail) {
		return len(tail)
	}
	return 0
}

// escape decodes what begins with ESC.
func (d *Decoder) escape(p []byte, more bool) (e Event, n int) {
	if len(p) == 1 {
		if more {
			return Event{}, 0
		}
		return Event{Kind: KeyEvent, Key: Escape}, 1
	}
	switch c := p[1]; {
	case c == '[':
		return d.controlSequence(p, more, MaxSequence)
	case c == 'O':
		return singleShift(p, more)
	case c == 0x1b:
		return d.twoEscapes(p, more)
	case c < 0x20 || c == 0x7f:
		e, n = controlKey(c), 1
	default:
		e, n = char(p[1:], more)
	}
	switch {
	case n == 0:
		return Event{}, 0
	case e.Kind != KeyEvent:
		return Event{Kind: KeyEvent, Key: Escape}, 1
	}
	e.Mods |= Alt
	return e, n + 1
}

// twoEscapes: a key's sequence behind ESC is that key with Alt; a report of the terminal there is none of Escape's; else
// it is Alt-Escape.
func (d *Decoder) twoEscapes(p []byte, more bool) (e Event, n int) {
	rest := p[1:]
	if len(rest) == 1 && more {
		return Event{}, 0
	}
	if len(rest) == 1 || rest[1] != '[' && rest[1] != 'O' {
		return Event{Kind: KeyEvent, Key: Escape, Mods: Alt}, 2
	}
	was := d.paste
	if rest[1] == '[' {
		e, n = d.controlSequence(rest, more, MaxSequence-1)
	} else {
		e, n = singleShift(rest, more)
	}
	switch {
	case n == 0:
		return Event{}, 0
	case e.Kind != KeyEvent || n == 2:
		d.paste = was
		return Event{Kind: KeyEvent, Key: Escape}, 1
	}
	e.Mods |= Alt
	return e, n + 1
}

// singleShift decodes ESC O: a key of the cursor block or the keypad, or Alt-O.
func singleShift(p []byte, more bool) (e Event, n int) {
	if len(p) == 2 && more {
		return Event{}, 0
	}
	if len(p) > 2 {
		c := p[2]
		switch k := byLetter(c); {
		case k != 0:
			return Event{Kind: KeyEvent, Key: k}, 3
		case byKeypadFinal(c) != 0:
			return Event{Kind: KeyEvent, Key: byKeypadFinal(c)}, 3
		case c >= 'a' && c <= 'd':
			return Event{Kind: KeyEvent, Key: byLetter(c - 'a' + 'A'), Mods: Ctrl}, 3
		}
	}
	e = Char('O')
	e.Mods |= Alt
	return e, 2
}

// shiftedLetter fills in what Shift makes of a letter where the terminal did not say.
func (e *Event) shiftedLetter() {
	if e.Mods&Shift == 0 || e.Shifted != 0 || !e.Key.isChar() {
		return
	}
	if up := unicode.ToUpper(rune(e.Key)); up != rune(e.Key) {
		e.Shifted = Key(up)
	}
}
