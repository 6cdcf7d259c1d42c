package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

func TestKittyDisambiguate(t *testing.T) {
	table(t, vt.Modes{KittyFlags: 1, AppCursor: true, AppKeypad: true}, map[string]string{
		"a": "a", "A": "A", "é": "é", "Space": " ", "S-Space": " ", "Enter": "\r", "Tab": "\t", "Backspace": "\x7f",
		"Escape": "\x1b[27u", "C-c": "\x1b[99;5u", "C-C": "\x1b[99;5u", "C-S-c": "\x1b[99;6u", "M-a": "\x1b[97;3u", "M-A": "\x1b[97;4u",
		"C-[": "\x1b[91;5u", "C-i": "\x1b[105;5u", "C-1": "\x1b[49;5u", "D-a": "\x1b[97;9u", "M-Space": "\x1b[32;3u",
		"S-Enter": "\x1b[13;2u", "C-Enter": "\x1b[13;5u", "S-Tab": "\x1b[9;2u", "C-S-Tab": "\x1b[9;6u", "M-Backspace": "\x1b[127;3u",
		"Up": "\x1b[A", "C-Up": "\x1b[1;5A", "Home": "\x1b[H", "F1": "\x1b[P", "F3": "\x1b[13~", "C-F3": "\x1b[13;5~", "F5": "\x1b[15~",
		"S-F12": "\x1b[24;2~", "F13": "\x1b[57376u", "F24": "\x1b[57387u", "Menu": "\x1b[57363u", "PageUp": "\x1b[5~",
		"KP5": "5", "C-KP5": "\x1b[57404;5u", "KPEnter": "\x1b[57414u", "Begin": "\x1b[E",
	})
}

// TestKittyFlags has events that no name tells, under every flag; the examples are the specification's where it has them.
func TestKittyFlags(t *testing.T) {
	key := func(k Key, mods Mods, a Action) Event { return Event{Kind: KeyEvent, Key: k, Mods: mods, Action: a} }
	cyrillic := Event{Kind: KeyEvent, Key: 'с', Base: 'c', Mods: Ctrl}
	for _, c := range []struct {
		name  string
		flags uint8
		e     Event
		want  string
	}{
		{"release without the flag", 1, key(Up, 0, Release), ""},
		{"repeat without the flag", 1, key(Up, 0, Repeat), "\x1b[A"},
		{"repeat", 3, key(Up, 0, Repeat), "\x1b[1;1:2A"},
		{"release", 3, key(F5, Ctrl, Release), "\x1b[15;5:3~"},
		{"release of text", 3, key('a', 0, Release), ""},
		{"repeat of text", 3, key('a', 0, Repeat), "a"},
		{"release of a modified letter", 3, key('a', Ctrl, Release), "\x1b[97;5:3u"},
		{"release of Enter", 3, key(Enter, 0, Release), ""},
		{"release of Escape", 3, key(Escape, 0, Release), "\x1b[27;1:3u"},
		{"events alone", 2, key(Up, 0, Release), "\x1b[1;1:3A"},
		{"events alone leave presses", 2, key(Up, 0, Press), "\x1bOA"},
		{"events alone leave Escape", 2, key(Escape, 0, Press), "\x1b"},
		{"shift alone", 3, key(LeftShift, Shift, Press), ""},
		{"shift, all keys", 11, key(LeftShift, Shift, Press), "\x1b[57441;2u"},
		{"caps lock with a function key", 1, key(Up, CapsLock, Press), "\x1b[1;65A"},
		{"caps lock with text", 1, key('a', CapsLock, Press), "A"},
		{"caps lock with ctrl", 1, key('a', CapsLock|Ctrl, Press), "\x1b[97;5u"},
		{"caps lock, all keys", 8, key('a', CapsLock, Press), "\x1b[97;65u"},
		{"all keys", 8, key('a', 0, Press), "\x1b[97u"},
		{"all keys: capital", 8, Char('A'), "\x1b[97;2u"},
		{"all keys: Enter", 8, key(Enter, 0, Press), "\x1b[13u"},
		{"all keys: release of Enter", 10, key(Enter, 0, Release), "\x1b[13;1:3u"},
		{"all keys: keypad", 8, key(KP0, 0, Press), "\x1b[57399u"},
		{"alternates", 12, Char('A'), "\x1b[97:65;2u"},
		{"alternates: base alone", 5, cyrillic, "\x1b[1089::99;5u"},
		{"alternates: both", 5, Event{Kind: KeyEvent, Key: 'с', Shifted: 'С', Base: 'c', Mods: Ctrl | Shift}, "\x1b[1089:1057:99;6u"},
		{"alternates without reason", 4, Char('A'), "A"},
		{"no base without the flag", 1, cyrillic, "\x1b[1089;5u"},
		{"text: shift+a", 24, Char('A'), "\x1b[97;2;65u"},
		{"text: option+a", 24, Event{Kind: KeyEvent, Key: 'a', Text: "å"}, "\x1b[97;;229u"},
		{"text: none on release", 26, key('a', 0, Release), "\x1b[97;1:3u"},
		{"text: none of Ctrl", 24, key('a', Ctrl, Press), "\x1b[97;5u"},
		{"text: of no key", 24, Event{Kind: KeyEvent, Text: "né"}, "\x1b[0;;110:233u"},
		{"text: of no key without the flag", 8, Event{Kind: KeyEvent, Text: "né"}, "né"},
		{"text without all keys", 17, Char('A'), "A"},
		{"text: no control in it", 24, Event{Kind: KeyEvent, Key: 'a', Text: "x\x1by"}, "\x1b[97;;120:121u"},
	} {
		out, exact := AppendKey(nil, c.e, vt.Modes{KittyFlags: c.flags, AppCursor: true})
		require.Equal(t, c.want, string(out), c.name)
		require.True(t, exact, c.name)
	}
}

// TestKittyFunctionalKeys is the table "Functional key definitions", of which the numbers without gap are ranges.
func TestKittyFunctionalKeys(t *testing.T) {
	for code := 57358; code <= 57454; code++ {
		k := named + Key(code)
		if k >= F1 && k <= F12 || k == KPBegin {
			continue // below
		}
		out, _ := AppendKey(nil, Event{Kind: KeyEvent, Key: k}, vt.Modes{KittyFlags: 8})
		require.Equal(t, "\x1b["+string(appendInt(nil, code))+"u", string(out))
	}
	for k, want := range map[Key]string{
		Escape: "27u", Enter: "13u", Tab: "9u", Backspace: "127u", Insert: "2~", Delete: "3~", Left: "D", Right: "C", Up: "A", Down: "B",
		PageUp: "5~", PageDown: "6~", Home: "H", End: "F", F1: "P", F2: "Q", F3: "13~", F4: "S", F5: "15~", F5 + 1: "17~", F5 + 2: "18~",
		F5 + 3: "19~", F5 + 4: "20~", F5 + 5: "21~", F5 + 6: "23~", F12: "24~", F13: "57376u", F35: "57398u", KP0: "57399u", KPBegin: "E",
		MediaPlay: "57428u", MuteVolume: "57440u", LeftShift: "57441u", ISOLevel5: "57454u",
	} {
		out, _ := AppendKey(nil, Event{Kind: KeyEvent, Key: k}, vt.Modes{KittyFlags: 8})
		require.Equal(t, "\x1b["+want, string(out))
	}
}
