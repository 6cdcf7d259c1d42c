package keys

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Rule is the sentence shown when a name is refused.
const Rule = "a key is one character, or Enter Tab Escape Space Backspace Delete Insert Up Down Left Right " +
	"Home End PageUp PageDown Begin Menu F1 to F24 KP0 to KP9 KPEnter KPAdd KPSubtract KPMultiply KPDivide KPDecimal, " +
	"with C- M- S- D- (Ctrl, Alt, Shift, Super) before it"

// names are the names of keys in small letters, those of other programs too.
var names = [...]struct {
	name string
	key  Key
}{
	{"enter", Enter},
	{"return", Enter},
	{"tab", Tab},
	{"escape", Escape},
	{"esc", Escape},
	{"space", Space},
	{"backspace", Backspace},
	{"bspace", Backspace},
	{"bs", Backspace},
	{"delete", Delete},
	{"del", Delete},
	{"dc", Delete},
	{"insert", Insert},
	{"ins", Insert},
	{"ic", Insert},
	{"up", Up},
	{"down", Down},
	{"left", Left},
	{"right", Right},
	{"home", Home},
	{"end", End},
	{"begin", KPBegin},
	{"menu", Menu},
	{"pageup", PageUp},
	{"pgup", PageUp},
	{"ppage", PageUp},
	{"pagedown", PageDown},
	{"pgdn", PageDown},
	{"npage", PageDown},
	{"kpenter", KPEnter},
	{"kpadd", KPAdd},
	{"kpsubtract", KPSubtract},
	{"kpmultiply", KPMultiply},
	{"kpdivide", KPDivide},
	{"kpdecimal", KPDecimal},
}

// Parse returns the press that name means: "a", "Enter", "C-c", "M-S-F5". The error is a Usage fault that shows the
// rule.
func Parse(name string) (Event, error) {
	mods, base := split(name)
	e, ok := find(base)
	if !ok {
		return Event{}, fault.New(fault.Usage, "no key %q", fault.Clean(name)).WithHint("%s", Rule)
	}
	if mods&Ctrl != 0 && e.Shifted != 0 {
		e.Mods, e.Shifted = 0, 0 // C-C is C-c, as the key caps have it
	}
	if mods&Shift != 0 && e.Key.isChar() && e.Shifted == 0 {
		e.Shifted = Key(unicode.ToUpper(rune(e.Key)))
	}
	e.Mods |= mods
	return e, nil
}

// split takes C-, M-, S- and D- off the front of name; what remains is never empty, so "-" and "C--" are keys.
func split(name string) (mods Mods, base string) {
	for len(name) > 2 && name[1] == '-' {
		switch name[0] {
		case 'C', 'c':
			mods |= Ctrl
		case 'M', 'm', 'A', 'a':
			mods |= Alt
		case 'S', 's':
			mods |= Shift
		case 'D', 'd':
			mods |= Super
		default:
			return mods, name
		}
		name = name[2:]
	}
	if len(name) == 2 && name[0] == '^' {
		return mods | Ctrl, name[1:]
	}
	return mods, name
}

// find returns the event of a name without modifiers.
func find(base string) (Event, bool) {
	if r, n := utf8.DecodeRuneInString(base); n > 0 && n == len(base) {
		e := Char(r)
		return e, r != utf8.RuneError && e.Key.isChar()
	}
	low := strings.ToLower(base)
	for _, n := range names {
		if n.name == low {
			return Event{Kind: KeyEvent, Key: n.key}, true
		}
	}
	if n, ok := numbered(low, "f"); ok && n >= 1 && n <= 24 {
		return Event{Kind: KeyEvent, Key: F1 + Key(n-1)}, true
	}
	if n, ok := numbered(low, "kp"); ok && n <= 9 {
		return Event{Kind: KeyEvent, Key: KP0 + Key(n)}, true
	}
	return Event{}, false
}

// numbered reads the decimal number behind prefix, without leading zeros.
func numbered(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && strconv.Itoa(n) == digits && n >= 0
}
