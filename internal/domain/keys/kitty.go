package keys

import (
	"unicode"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// appendKitty appends the form of the kitty keyboard protocol for the flags in m.
func appendKitty(dst []byte, e Event, m vt.Modes) (out []byte, exact bool) {
	flags := m.KittyFlags
	all := flags&KittyAllKeys != 0
	if flags&KittyEvents == 0 {
		if e.Action == Release {
			return dst, true
		}
		e.Action = Press
	}
	switch {
	case e.Key.isModifier() && !all:
		return dst, true
	case !all && (e.typesText() || e.isC0Key()):
		// These keep their plain bytes, so that a shell can be typed to. The bytes tell no release.
		if e.Action == Release {
			return dst, true
		}
		return appendLegacy(dst, e.withoutLocks(), vt.Modes{NewLine: m.NewLine, Backarrow: m.Backarrow})
	case e.Key == 0: // composed text; without the flag for text there is no form but the text
		if flags&KittyText == 0 && e.Action != Release {
			return append(dst, e.Text...), true
		}
	case flags&(KittyDisambiguate|KittyAllKeys) == 0 && !(e.Key >= named && e.Action != Press):
		if e.Action == Release {
			return dst, true
		}
		return appendLegacy(dst, e.withoutLocks(), m)
	}
	if !all && e.Key < named {
		e.Mods &^= locks // they are told of keys without text alone
		if e.isC0() && e.Action == Release {
			return dst, true
		}
	}
	return appendCSIu(dst, e, flags), true
}

// typesText reports whether the event is text of its own accord: no modifier but Shift and the locks.
func (e Event) typesText() bool {
	if e.Mods&^(Shift|locks) != 0 {
		return false
	}
	return e.Text != "" || e.char() != 0
}

// isC0 reports whether the key is one that a shell cannot do without: Enter, Tab, Backspace.
func (e Event) isC0() bool { return e.Key == Enter || e.Key == Tab || e.Key == Backspace }

// isC0Key reports whether the event is one of these keys without modifiers.
func (e Event) isC0Key() bool { return e.isC0() && e.Mods&^locks == 0 }

// appendCSIu appends CSI code:shifted:base ; modifiers:event ; text final.
func appendCSIu(dst []byte, e Event, flags uint8) []byte {
	text := ""
	var one [utf8.UTFMax]byte
	if flags&(KittyText|KittyAllKeys) == KittyText|KittyAllKeys && e.Action != Release {
		if text = e.Text; text == "" && e.typesText() {
			text = string(utf8.AppendRune(one[:0], e.char()))
		}
	}
	plain := e.Mods == 0 && e.Action == Press && text == ""
	final := byte('u')
	dst = append(dst, 0x1b, '[')
	switch f, ok := formOf(e.Key); {
	case e.Key == F3: // CSI R is a report of the cursor
		dst, final = append(dst, "13"...), '~'
	case ok && f.letter != 0:
		final = f.letter
		if !plain {
			dst = append(dst, '1')
		}
	case ok && e.Key != Menu:
		dst, final = appendInt(dst, f.number), '~'
	case e.Key >= named:
		dst = appendInt(dst, int(e.Key-named))
	default:
		dst = appendInt(dst, int(e.Key))
		if flags&KittyAlternates != 0 {
			dst = appendAlternates(dst, e)
		}
	}
	if plain {
		return append(dst, final)
	}
	dst = append(dst, ';')
	if e.Mods != 0 || e.Action != Press {
		dst = appendInt(dst, 1+int(e.Mods))
	}
	if e.Action != Press {
		dst = appendInt(append(dst, ':'), 1+int(e.Action))
	}
	return append(appendTextField(dst, text), final)
}

func appendAlternates(dst []byte, e Event) []byte {
	shifted := Key(0)
	if e.Mods&Shift != 0 {
		if shifted = e.Shifted; shifted == 0 {
			shifted = Key(unicode.ToUpper(rune(e.Key)))
		}
		if shifted == e.Key || !shifted.isChar() {
			shifted = 0
		}
	}
	if shifted != 0 {
		dst = appendInt(append(dst, ':'), int(shifted))
	}
	if e.Base.isChar() && e.Base != e.Key {
		if shifted == 0 {
			dst = append(dst, ':')
		}
		dst = appendInt(append(dst, ':'), int(e.Base))
	}
	return dst
}

// appendTextField appends the third field: the code points, without controls.
func appendTextField(dst []byte, text string) []byte {
	sep := byte(';')
	for _, r := range text {
		if unicode.IsControl(r) {
			continue
		}
		dst = appendInt(append(dst, sep), int(r))
		sep = ':'
	}
	return dst
}
