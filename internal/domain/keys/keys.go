package keys

import (
	"strings"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Modes are the modes of a terminal that change what keys send.
type Modes struct {
	AppCursor bool // DECCKM
	NewLine   bool // LNM: Enter sends CR LF
}

// Rule is the sentence shown when a name is refused.
const Rule = "a key is one character, or Enter Tab Escape Space Backspace Delete Insert Up Down Left Right " +
	"Home End PageUp PageDown F1 to F12, with C- M- S- before it"

// modifier bits, as xterm counts them: parameter = 1 + bits.
const (
	shift = 1 << iota
	alt
	ctrl
)

// cursor keys and the like send CSI letter, or SS3 letter in application mode, or CSI 1;m letter.
var letterKeys = map[string]byte{
	"up": 'A', "down": 'B', "right": 'C', "left": 'D', "end": 'F', "home": 'H',
	"f1": 'P', "f2": 'Q', "f3": 'R', "f4": 'S',
}

// editing and function keys send CSI number ~ or CSI number;m ~.
var tildeKeys = map[string]string{
	"insert": "2", "delete": "3", "pageup": "5", "pagedown": "6",
	"f5": "15", "f6": "17", "f7": "18", "f8": "19", "f9": "20", "f10": "21", "f11": "23", "f12": "24",
}

var aliases = map[string]string{
	"return": "enter", "esc": "escape", "bspace": "backspace", "bs": "backspace", "del": "delete", "dc": "delete",
	"ins": "insert", "ic": "insert", "pgup": "pageup", "ppage": "pageup", "pgdn": "pagedown", "npage": "pagedown",
}

// Append appends the bytes of the named key to dst. The error is a Usage fault that shows the rule.
func Append(dst []byte, name string, m Modes) ([]byte, error) {
	mods, base := split(name)
	key := strings.ToLower(base)
	if a, ok := aliases[key]; ok {
		key = a
	}
	if letter, ok := letterKeys[key]; ok {
		return appendLetter(dst, letter, mods, m), nil
	}
	if number, ok := tildeKeys[key]; ok {
		dst = append(dst, "\x1b["+number...)
		if mods != 0 {
			dst = append(dst, ';', byte('1'+mods))
		}
		return append(dst, '~'), nil
	}
	var text string
	switch key {
	case "enter":
		text = "\r"
		if m.NewLine {
			text = "\r\n"
		}
	case "tab":
		if mods&shift != 0 {
			dst = appendMeta(dst, mods)
			return append(dst, "\x1b[Z"...), nil
		}
		text = "\t"
	case "escape":
		text = "\x1b"
	case "space":
		text = " "
	case "backspace":
		text = "\x7f"
		if mods&ctrl != 0 {
			text, mods = "\b", mods&^ctrl
		}
	default:
		if r, n := utf8.DecodeRuneInString(base); n == 0 || n != len(base) || r == utf8.RuneError {
			return dst, refuse(name)
		}
		text = base
		if mods&shift != 0 {
			text = strings.ToUpper(text)
		}
	}
	if mods&ctrl != 0 && key != "enter" && key != "tab" && key != "escape" {
		c, ok := control(text)
		if !ok {
			return dst, refuse(name)
		}
		text = string(rune(c))
	}
	return append(appendMeta(dst, mods), text...), nil
}

func refuse(name string) error {
	return fault.New(fault.Usage, "no key %q", fault.Clean(name)).WithHint("%s", Rule)
}

// split takes C-, M- and S- off the front of name; what remains is never empty, so "-" and "C--" are keys.
func split(name string) (mods int, base string) {
	for len(name) > 2 && name[1] == '-' {
		switch name[0] {
		case 'C', 'c':
			mods |= ctrl
		case 'M', 'm', 'A', 'a':
			mods |= alt
		case 'S', 's':
			mods |= shift
		default:
			return mods, name
		}
		name = name[2:]
	}
	if len(name) == 2 && name[0] == '^' {
		return mods | ctrl, name[1:]
	}
	return mods, name
}

func appendMeta(dst []byte, mods int) []byte {
	if mods&alt != 0 {
		dst = append(dst, 0x1b)
	}
	return dst
}

func appendLetter(dst []byte, letter byte, mods int, m Modes) []byte {
	switch {
	case mods != 0:
		return append(dst, 0x1b, '[', '1', ';', byte('1'+mods), letter)
	case m.AppCursor || letter >= 'P' && letter <= 'S':
		return append(dst, 0x1b, 'O', letter)
	}
	return append(dst, 0x1b, '[', letter)
}

// control returns the control character that Ctrl and one ASCII character send.
func control(text string) (byte, bool) {
	if len(text) != 1 {
		return 0, false
	}
	switch c := text[0]; {
	case c >= 'a' && c <= 'z':
		return c - 'a' + 1, true
	case c >= '@' && c <= '_':
		return c - '@', true
	case c == ' ' || c == '2':
		return 0, true
	case c == '?' || c == '8':
		return 0x7f, true
	case c >= '3' && c <= '7':
		return c - '3' + 0x1b, true
	case c == '/' || c == '-':
		return 0x1f, true
	}
	return 0, false
}
