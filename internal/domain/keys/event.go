package keys

import (
	"unicode"
	"unicode/utf8"
)

// Kind says what an [Event] is. The zero Kind is no event.
type Kind uint8

// The kinds of events.
const (
	KeyEvent   Kind = iota + 1
	MouseEvent      // button, wheel or motion
	FocusIn
	FocusOut
	PasteBegin
	PasteText // a part of a paste, as it came
	PasteEnd
	Reply   // an answer to a question, or a report that nobody pressed
	Unknown // a sequence without meaning here, or bytes that are no UTF-8
)

// Action is what happened to a key.
type Action uint8

// The actions; only the kitty keyboard protocol tells those other than Press.
const (
	Press Action = iota
	Repeat
	Release
)

// Mods are the modifiers that were held, in the bits of the kitty keyboard protocol. In the legacy forms of xterm the bit
// of Super means Meta.
type Mods uint8

// The modifiers.
const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
	CapsLock
	NumLock

	locks = CapsLock | NumLock
)

// Event is one thing that a terminal told. It is comparable.
type Event struct {
	Kind   Kind
	Action Action
	Mods   Mods // of KeyEvent and MouseEvent
	// Key is the key without its modifiers: of a letter the small one, in the user's layout. 0 with Text: text that no
	// key is known for.
	Key Key
	// Shifted and Base are what the key is with Shift, and where a standard layout has it; 0 when the terminal did not
	// say.
	Shifted, Base Key
	// Text is what the key types, where the terminal said so explicitly; see Rune for the usual case.
	Text string

	Mouse Mouse // of MouseEvent
}

// Char returns the event of a press that types r; Shift is in it when r is a capital letter.
func Char(r rune) Event {
	e := Event{Kind: KeyEvent, Key: Key(r)}
	if small := unicode.ToLower(r); small != r && unicode.ToUpper(small) == r {
		e.Key, e.Shifted, e.Mods = Key(small), Key(r), Shift
	}
	return e
}

// Rune returns the character that the event types; 0 when it types none or several, or is a release.
func (e Event) Rune() rune {
	if e.Kind != KeyEvent || e.Action == Release {
		return 0
	}
	if e.Text != "" {
		r, n := utf8.DecodeRuneInString(e.Text)
		if n < len(e.Text) {
			return 0
		}
		return r
	}
	if e.Mods&^(Shift|locks) != 0 {
		return 0
	}
	return e.char()
}

// char is the character of the key under Shift and the locks, whatever other modifiers are held; 0 when it has none.
func (e Event) char() rune {
	k := e.Key
	if c, ok := k.keypadChar(); ok {
		return c
	}
	if !k.isChar() {
		return 0
	}
	upper := e.Mods&Shift != 0
	if unicode.ToUpper(rune(k)) != rune(k) && e.Mods&CapsLock != 0 {
		upper = !upper
	}
	switch {
	case !upper:
		return rune(k)
	case e.Shifted.isChar():
		return rune(e.Shifted)
	}
	return unicode.ToUpper(rune(k))
}

// Is reports whether the event is a press or repeat of the key with just these modifiers, whatever the locks. A letter of
// another alphabet is also the one that a standard layout has in its place.
func (e Event) Is(k Key, mods Mods) bool {
	return e.Kind == KeyEvent && e.Action != Release && e.Mods&^locks == mods && (e.Key == k || e.Base == k && k != 0)
}

// MouseAction is what happened to the mouse.
type MouseAction uint8

// The mouse actions.
const (
	MousePress MouseAction = iota
	MouseRelease
	MouseMotion // with Button held, or none
)

// Button is a mouse button, numbered as terminals do but for the bits of modifiers and motion.
type Button uint8

// The buttons. A turn of the wheel is a press without release.
const (
	ButtonLeft   Button = 0
	ButtonMiddle Button = 1
	ButtonRight  Button = 2
	ButtonNone   Button = 3 // of a motion; of a release whose form does not say which
	WheelUp      Button = 64
	WheelDown    Button = 65
	WheelLeft    Button = 66
	WheelRight   Button = 67
	Button8      Button = 128 // back
	Button9      Button = 129 // forward
	Button10     Button = 130
	Button11     Button = 131
)

// Wheel reports whether b is a direction of the wheel.
func (b Button) Wheel() bool { return b&64 != 0 }

// Mouse is what a MouseEvent tells beside its modifiers (Shift, Alt and Ctrl alone).
type Mouse struct {
	Action MouseAction
	Button Button
	// X and Y count from 0, from the top left: cells, or pixels in SGR-pixels.
	X, Y int
}
