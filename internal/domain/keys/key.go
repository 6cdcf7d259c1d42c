package keys

import "unicode/utf8"

// Key is a key: its character, or one of the constants, which lie outside of Unicode.
type Key rune

// The keys that have a control character of their own are called by it.
const (
	Tab       Key = 0x09
	Enter     Key = 0x0d
	Escape    Key = 0x1b
	Space     Key = 0x20
	Backspace Key = 0x7f
)

// named is where the keys without character begin; their numbers beyond it are those of the kitty keyboard protocol,
// section "Functional key definitions".
const named Key = 0x200000

// The keys without character.
const (
	Insert Key = named + 57348 + iota
	Delete
	Left
	Right
	Up
	Down
	PageUp
	PageDown
	Home
	End
	CapsLockKey
	ScrollLockKey
	NumLockKey
	PrintScreen
	Pause
	Menu
	F1 // F2 to F35 follow
)

// The last function keys, and the keypad.
const (
	F2  = F1 + 1
	F3  = F1 + 2
	F4  = F1 + 3
	F5  = F1 + 4
	F12 = F1 + 11
	F13 = F1 + 12
	F24 = F1 + 23
	F35 = F1 + 34

	KP0          = named + 57399 // KP1 to KP9 follow
	KP9          = KP0 + 9
	KPDecimal    = KP0 + 10
	KPDivide     = KP0 + 11
	KPMultiply   = KP0 + 12
	KPSubtract   = KP0 + 13
	KPAdd        = KP0 + 14
	KPEnter      = KP0 + 15
	KPEqual      = KP0 + 16
	KPSeparator  = KP0 + 17
	KPLeft       = KP0 + 18
	KPRight      = KP0 + 19
	KPUp         = KP0 + 20
	KPDown       = KP0 + 21
	KPPageUp     = KP0 + 22
	KPPageDown   = KP0 + 23
	KPHome       = KP0 + 24
	KPEnd        = KP0 + 25
	KPInsert     = KP0 + 26
	KPDelete     = KP0 + 27
	KPBegin      = KP0 + 28
	MediaPlay    = KP0 + 29 // and more media keys
	MuteVolume   = KP0 + 41
	LeftShift    = KP0 + 42 // and the other modifier keys
	ISOLevel5    = KP0 + 55
	lastKittyKey = ISOLevel5
)

// isChar reports whether the key is a character that is no control.
func (k Key) isChar() bool {
	return k >= 0x20 && k != Backspace && (k < 0x80 || k >= 0xa0) && utf8.ValidRune(rune(k))
}

// exists reports whether there is such a key: events of others have no form.
func (k Key) exists() bool {
	return k.isChar() || k == Tab || k == Enter || k == Escape || k == Backspace || k >= Insert && k <= lastKittyKey
}

// isModifier reports whether the key is a modifier or a lock.
func (k Key) isModifier() bool {
	return k >= LeftShift && k <= ISOLevel5 || k >= CapsLockKey && k <= NumLockKey
}

// IsModifier reports whether the event is of a modifier or a lock alone.
func (e Event) IsModifier() bool { return e.Kind == KeyEvent && e.Key.isModifier() }

// form is the code of a key: CSI letter (SS3 letter), or CSI number ~. Tables are searched: keys are few, and a client
// starts without building any.
type form struct {
	key    Key
	letter byte
	number int
}

// forms are what is sent. F3 with modifiers is R too, like a report of the cursor.
var forms = [...]form{
	{Up, 'A', 0},
	{Down, 'B', 0},
	{Right, 'C', 0},
	{Left, 'D', 0},
	{KPBegin, 'E', 0},
	{End, 'F', 0},
	{Home, 'H', 0},
	{F1, 'P', 0},
	{F2, 'Q', 0},
	{F3, 'R', 0},
	{F4, 'S', 0},
	{Insert, 0, 2},
	{Delete, 0, 3},
	{PageUp, 0, 5},
	{PageDown, 0, 6},
	{F5, 0, 15},
	{F5 + 1, 0, 17},
	{F5 + 2, 0, 18},
	{F5 + 3, 0, 19},
	{F5 + 4, 0, 20},
	{F5 + 5, 0, 21},
	{F5 + 6, 0, 23},
	{F12, 0, 24},
	{Menu, 0, 29},
}

// otherForms are further codes that terminals send: other ones of Home and End, of F1 to F4, and the VT220's of F13 to F20
// but for 29, which is Menu.
var otherForms = [...]form{
	{Home, 0, 1},
	{End, 0, 4},
	{Home, 0, 7},
	{End, 0, 8},
	{F1, 0, 11},
	{F2, 0, 12},
	{F3, 0, 13},
	{F4, 0, 14},
	{F13, 0, 25},
	{F13 + 1, 0, 26},
	{F13 + 2, 0, 28},
	{F13 + 4, 0, 31},
	{F13 + 5, 0, 32},
	{F13 + 6, 0, 33},
	{F13 + 7, 0, 34},
	{KPBegin, 0, 57427},
}

// formOf returns the code of a key without character; false when it has none.
func formOf(k Key) (form, bool) {
	for _, f := range forms {
		if f.key == k {
			return f, true
		}
	}
	return form{}, false
}

// byLetter returns the key of CSI letter or SS3 letter, 0 for none.
func byLetter(letter byte) Key {
	for _, f := range forms {
		if f.letter == letter && letter != 0 {
			return f.key
		}
	}
	return 0
}

// byNumber returns the key of CSI number ~, 0 for none.
func byNumber(number int) Key {
	for _, f := range forms {
		if f.number == number && number != 0 {
			return f.key
		}
	}
	for _, f := range otherForms {
		if f.number == number {
			return f.key
		}
	}
	return 0
}

// keypadForms are of KP0 and the following keys: what each is without a keypad, and its final byte behind SS3 in
// application mode (DECKPAM), 0 for none.
var keypadForms = [...]struct {
	plain Key
	final byte
}{
	{'0', 'p'},
	{'1', 'q'},
	{'2', 'r'},
	{'3', 's'},
	{'4', 't'},
	{'5', 'u'},
	{'6', 'v'},
	{'7', 'w'},
	{'8', 'x'},
	{'9', 'y'},
	{'.', 'n'},
	{'/', 'o'},
	{'*', 'j'},
	{'-', 'm'},
	{'+', 'k'},
	{Enter, 'M'},
	{'=', 'X'},
	{',', 'l'},
	{Left, 0},
	{Right, 0},
	{Up, 0},
	{Down, 0},
	{PageUp, 0},
	{PageDown, 0},
	{Home, 0},
	{End, 0},
	{Insert, 0},
	{Delete, 0},
}

// isKeypad reports whether the key is of the keypad and stands for another one.
func (k Key) isKeypad() bool { return k >= KP0 && k < KPBegin }

// keypadChar is the character that a keypad key types.
func (k Key) keypadChar() (rune, bool) {
	if !k.isKeypad() {
		return 0, false
	}
	plain := keypadForms[k-KP0].plain
	return rune(plain), plain.isChar()
}

// byKeypadFinal is the keypad key of SS3 final, 0 for none.
func byKeypadFinal(final byte) Key {
	for i, f := range keypadForms {
		if f.final == final && final != 0 {
			return KP0 + Key(i)
		}
	}
	return 0
}

// control returns the control character of Ctrl and c, after "Legacy ctrl mapping of ASCII keys" of the kitty keyboard
// protocol; Ctrl and - is that of _ as on a VT100.
func control(c rune) (byte, bool) {
	switch {
	case c >= 'a' && c <= 'z', c >= '@' && c <= '_':
		return byte(c) & 0x1f, true
	case c == ' ' || c == '2':
		return 0, true
	case c >= '3' && c <= '7':
		return byte(c) - '3' + 0x1b, true
	case c == '?' || c == '8':
		return 0x7f, true
	case c == '/' || c == '-':
		return 0x1f, true
	case c == '~':
		return 0x1e, true
	}
	return 0, false
}
