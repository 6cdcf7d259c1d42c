package keys

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// The flags of the kitty keyboard protocol, section "Progressive enhancement".
const (
	KittyDisambiguate = 1 << iota // Escape and keys with Ctrl or Alt are escape codes
	KittyEvents                   // repeats and releases are told
	KittyAlternates               // the shifted key and that of a standard layout are told
	KittyAllKeys                  // every key is an escape code
	KittyText                     // with it, the text
)

// AppendKey appends what a terminal in the given modes sends for a KeyEvent: nothing when these modes have no form for it,
// like a release outside of the kitty keyboard protocol. exact is false when the bytes are those of another event,
// because the modes have no form for a modifier that is held with a character.
func AppendKey(dst []byte, e Event, m vt.Modes) (out []byte, exact bool) {
	if !e.Key.exists() && (e.Key != 0 || e.Text == "") {
		return dst, true
	}
	if m.KittyFlags != 0 {
		return appendKitty(dst, e, m)
	}
	if e.Action == Release {
		return dst, true
	}
	e = e.withoutLocks()
	if m.ModifyOtherKeys != 0 {
		if code, ok := otherKey(e, m.ModifyOtherKeys); ok {
			return appendOther(dst, code, e.Mods, m.FormatOtherKeys), true
		}
	}
	return appendLegacy(dst, e, m)
}

// withoutLocks returns the event as legacy forms have it: Caps Lock is in the letter, the locks are not told.
func (e Event) withoutLocks() Event {
	if k := rune(e.Key); e.Mods&CapsLock != 0 && e.Mods&Ctrl == 0 && e.Key.isChar() && unicode.ToUpper(k) != k {
		e.Mods ^= Shift
	}
	e.Mods &^= locks
	return e
}

// appendLegacy appends the form of xterm without any extension. The event is a press.
func appendLegacy(dst []byte, e Event, m vt.Modes) (out []byte, exact bool) {
	k := e.Key
	if k.isKeypad() {
		f := keypadForms[k-KP0]
		if m.AppKeypad && f.final != 0 && e.Mods == 0 {
			return append(dst, 0x1b, 'O', f.final), true
		}
		k, e.Key, e.Shifted, e.Base, e.Text = f.plain, f.plain, 0, 0, ""
	}
	switch k {
	case Enter:
		dst = append(appendAlt(dst, e.Mods), '\r')
		if m.NewLine {
			dst = append(dst, '\n')
		}
		return dst, true
	case Tab:
		if e.Mods&Shift != 0 {
			return append(appendAlt(dst, e.Mods), "\x1b[Z"...), true
		}
		return append(appendAlt(dst, e.Mods), '\t'), true
	case Escape:
		return append(appendAlt(dst, e.Mods), 0x1b), true
	case Backspace:
		if (e.Mods&Ctrl != 0) != m.Backarrow {
			return append(appendAlt(dst, e.Mods), '\b'), true
		}
		return append(appendAlt(dst, e.Mods), 0x7f), true
	}
	if k >= named {
		return appendFunction(dst, k, e.Mods, m.AppCursor), true
	}
	return appendChar(dst, e)
}

// appendAlt appends what tells Alt before bytes that cannot.
func appendAlt(dst []byte, mods Mods) []byte {
	if mods&(Alt|Meta) != 0 {
		dst = append(dst, 0x1b)
	}
	return dst
}

// appendChar appends the text of a character key, or its control character.
func appendChar(dst []byte, e Event) (out []byte, exact bool) {
	exact = e.Mods&(Super|Hyper) == 0
	if e.Text != "" && e.Mods&Ctrl == 0 {
		return append(appendAlt(dst, e.Mods), e.Text...), exact
	}
	c := e.char()
	if c == 0 {
		return dst, true
	}
	if e.Mods&Ctrl == 0 {
		return utf8.AppendRune(appendAlt(dst, e.Mods), c), exact
	}
	b, ok := control(c)
	if !ok {
		b, ok = control(rune(e.Key))
	}
	if !ok {
		b, ok = control(rune(e.Base))
	}
	if !ok {
		return utf8.AppendRune(appendAlt(dst, e.Mods), c), false
	}
	return append(appendAlt(dst, e.Mods), b), exact
}

// appendFunction appends a key without character, nothing for one without code. F13 to F24 are what xterm's terminfo
// entry has for them: F1 to F12 with Shift.
func appendFunction(dst []byte, k Key, mods Mods, appCursor bool) []byte {
	if k >= F13 && k <= F24 {
		k, mods = k-12, mods|Shift
	}
	f, ok := formOf(k)
	switch {
	case !ok:
		return dst
	case f.letter == 0:
		dst = appendInt(append(dst, 0x1b, '['), f.number)
		if mods != 0 {
			dst = appendInt(append(dst, ';'), 1+int(mods))
		}
		return append(dst, '~')
	case mods != 0:
		dst = appendInt(append(dst, "\x1b[1;"...), 1+int(mods))
		return append(dst, f.letter)
	case appCursor || k >= F1 && k <= F4:
		return append(dst, 0x1b, 'O', f.letter)
	}
	return append(dst, 0x1b, '[', f.letter)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// otherKey decides whether modifyOtherKeys at the level has a form for the event, and returns its code. Level 1 leaves
// alone what has well-known bytes: Shift and Alt with text, Ctrl with what has a control character, Tab and Backspace
// but for Ctrl-Tab. Level 2 leaves alone Shift with text, and Shift-Tab.
func otherKey(e Event, level uint8) (code int, ok bool) {
	if e.Mods == 0 || e.Key == 0 {
		return 0, false
	}
	switch e.Key {
	case Enter, Escape:
		return int(e.Key), level > 1 || e.Mods&^Alt != 0
	case Tab:
		return int(Tab), e.Mods != Shift && (level > 1 || e.Mods&Ctrl != 0)
	case Backspace:
		return int(Backspace), level > 1
	}
	c := e.char()
	switch {
	case c == 0 || e.Key >= named:
		return 0, false
	case e.Mods == Shift:
		return int(c), c == ' ' && level > 1
	case level > 1:
		return int(c), true
	case e.Mods&(Ctrl|Super|Hyper) == 0:
		return 0, false
	}
	_, plain := control(c)
	if !plain {
		_, plain = control(rune(e.Base))
	}
	return int(c), !plain || e.Mods&(Super|Hyper) != 0
}

// appendOther appends the form of modifyOtherKeys, in one of its two formats (formatOtherKeys).
func appendOther(dst []byte, code int, mods Mods, csiU bool) []byte {
	if csiU {
		dst = appendInt(append(dst, "\x1b["...), code)
		dst = appendInt(append(dst, ';'), 1+int(mods))
		return append(dst, 'u')
	}
	dst = appendInt(append(dst, "\x1b[27;"...), 1+int(mods))
	dst = appendInt(append(dst, ';'), code)
	return append(dst, '~')
}
