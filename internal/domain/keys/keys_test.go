package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
)

// press encodes the key of that name.
func press(t *testing.T, name string, m vt.Modes) string {
	t.Helper()
	e, err := Parse(name)
	require.NoError(t, err, name)
	out, _ := AppendKey(nil, e, m)
	return string(out)
}

// table checks names against what they send.
func table(t *testing.T, m vt.Modes, want map[string]string) {
	t.Helper()
	for name, bytes := range want {
		require.Equal(t, bytes, press(t, name, m), "%s", name)
	}
}

func TestLegacyKeys(t *testing.T) {
	table(t, vt.Modes{}, map[string]string{
		"a": "a", "A": "A", "é": "é", "-": "-", "C--": "\x1f", "S-a": "A", "S-é": "É",
		"Enter": "\r", "enter": "\r", "Return": "\r", "Tab": "\t", "S-Tab": "\x1b[Z", "Escape": "\x1b", "Space": " ",
		"Backspace": "\x7f", "BSpace": "\x7f", "C-Backspace": "\b", "M-Backspace": "\x1b\x7f", "M-Enter": "\x1b\r",
		"C-c": "\x03", "C-C": "\x03", "^C": "\x03", "C-Space": "\x00", "C-\\": "\x1c", "C-[": "\x1b", "C-?": "\x7f", "C-_": "\x1f",
		"M-x": "\x1bx", "M-X": "\x1bX", "C-M-x": "\x1b\x18", "M-C-x": "\x1b\x18",
		"Up": "\x1b[A", "S-Up": "\x1b[1;2A", "C-Right": "\x1b[1;5C", "C-M-S-Left": "\x1b[1;8D", "Home": "\x1b[H", "D-Up": "\x1b[1;9A",
		"F1": "\x1bOP", "S-F1": "\x1b[1;2P", "F5": "\x1b[15~", "F12": "\x1b[24~", "C-F5": "\x1b[15;5~",
		"F13": "\x1b[1;2P", "F16": "\x1b[1;2S", "F17": "\x1b[15;2~", "F24": "\x1b[24;2~", "C-F13": "\x1b[1;6P",
		"Delete": "\x1b[3~", "Insert": "\x1b[2~", "PageUp": "\x1b[5~", "PgDn": "\x1b[6~", "Begin": "\x1b[E", "Menu": "\x1b[29~",
		"KP0": "0", "KP9": "9", "KPEnter": "\r", "KPAdd": "+", "KPDecimal": ".", "M-KP5": "\x1b5",
	})
}

// TestCtrlOfASCII is the table "Legacy ctrl mapping of ASCII keys" of the kitty keyboard protocol.
func TestCtrlOfASCII(t *testing.T) {
	want := map[rune]byte{
		' ': 0, '/': 31, '0': 48, '1': 49, '2': 0, '3': 27, '4': 28, '5': 29, '6': 30, '7': 31, '8': 127, '9': 57, '?': 127, '@': 0,
		'[': 27, '\\': 28, ']': 29, '^': 30, '_': 31, '~': 30,
	}
	for c := 'a'; c <= 'z'; c++ {
		want[c] = byte(c-'a') + 1
	}
	for c, b := range want {
		e := Event{Kind: KeyEvent, Key: Key(c), Mods: Ctrl}
		out, exact := AppendKey(nil, e, vt.Modes{})
		require.Equal(t, []byte{b}, out, "%c", c)
		require.Equal(t, rune(b) != c, exact, "%c", c)
	}
}

// TestC0Keys is the table "C0 controls" of the kitty keyboard protocol, of its legacy mode.
func TestC0Keys(t *testing.T) {
	mods := []Mods{0, Ctrl, Alt, Shift, Ctrl | Shift, Alt | Shift, Ctrl | Alt}
	for key, want := range map[Key][7]string{
		Enter:     {"\r", "\r", "\x1b\r", "\r", "\r", "\x1b\r", "\x1b\r"},
		Escape:    {"\x1b", "\x1b", "\x1b\x1b", "\x1b", "\x1b", "\x1b\x1b", "\x1b\x1b"},
		Backspace: {"\x7f", "\b", "\x1b\x7f", "\x7f", "\b", "\x1b\x7f", "\x1b\b"},
		Tab:       {"\t", "\t", "\x1b\t", "\x1b[Z", "\x1b[Z", "\x1b\x1b[Z", "\x1b\t"},
		Space:     {" ", "\x00", "\x1b ", " ", "\x00", "\x1b ", "\x1b\x00"},
	} {
		for i, m := range mods {
			out, _ := AppendKey(nil, Event{Kind: KeyEvent, Key: key, Mods: m}, vt.Modes{})
			require.Equal(t, want[i], string(out), "%x with %d", rune(key), m)
		}
	}
}

func TestModesChangeKeys(t *testing.T) {
	table(t, vt.Modes{AppCursor: true}, map[string]string{"Up": "\x1bOA", "End": "\x1bOF", "C-Up": "\x1b[1;5A", "F5": "\x1b[15~"})
	table(t, vt.Modes{NewLine: true}, map[string]string{"Enter": "\r\n", "KPEnter": "\r\n"})
	table(t, vt.Modes{Backarrow: true}, map[string]string{"Backspace": "\b", "C-Backspace": "\x7f", "M-Backspace": "\x1b\b"})
	table(t, vt.Modes{AppKeypad: true}, map[string]string{
		"KP0": "\x1bOp", "KP9": "\x1bOy", "KPEnter": "\x1bOM", "KPAdd": "\x1bOk", "KPSubtract": "\x1bOm", "KPMultiply": "\x1bOj",
		"KPDivide": "\x1bOo", "KPDecimal": "\x1bOn", "0": "0", "Enter": "\r",
	})
	out, _ := AppendKey(nil, Event{Kind: KeyEvent, Key: KPUp}, vt.Modes{AppCursor: true, AppKeypad: true})
	require.Equal(t, "\x1bOA", string(out), "without Num Lock the keypad is a cursor block")
}

func TestModifyOtherKeys(t *testing.T) {
	table(t, vt.Modes{ModifyOtherKeys: 1}, map[string]string{
		"a": "a", "A": "A", "C-a": "\x01", "M-a": "\x1ba", "C-Space": "\x00", "C-3": "\x1b", "C-M-a": "\x1b\x01",
		"C-1": "\x1b[27;5;49~", "C-,": "\x1b[27;5;44~", "C-M-,": "\x1b[27;7;44~", "C-é": "\x1b[27;5;233~",
		"S-Enter": "\x1b[27;2;13~", "C-Enter": "\x1b[27;5;13~", "M-Enter": "\x1b\r", "C-Tab": "\x1b[27;5;9~", "S-Tab": "\x1b[Z",
		"C-S-Tab": "\x1b[27;6;9~", "C-Backspace": "\b", "C-Up": "\x1b[1;5A", "Enter": "\r", "Escape": "\x1b",
	})
	table(t, vt.Modes{ModifyOtherKeys: 2}, map[string]string{
		"a": "a", "A": "A", "C-a": "\x1b[27;5;97~", "C-S-h": "\x1b[27;6;72~", "M-a": "\x1b[27;3;97~", "M-A": "\x1b[27;4;65~",
		"C-Space": "\x1b[27;5;32~", "S-Space": "\x1b[27;2;32~", "C-3": "\x1b[27;5;51~", "S-Tab": "\x1b[Z", "M-Enter": "\x1b[27;3;13~",
		"C-Backspace": "\x1b[27;5;127~", "M-Escape": "\x1b[27;3;27~", "D-a": "\x1b[27;9;97~", "C-Up": "\x1b[1;5A", "Enter": "\r",
	})
	table(t, vt.Modes{ModifyOtherKeys: 2, FormatOtherKeys: true}, map[string]string{
		"C-a": "\x1b[97;5u", "C-S-h": "\x1b[72;6u", "S-Enter": "\x1b[13;2u", "a": "a",
	})
}

func TestNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "Entr", "F25", "F0", "F01", "KP10", "X-a", "ab", "\xff", "\x1b", "\u0085", "FF", "C-"} {
		_, err := Parse(name)
		require.Equal(t, fault.Usage, fault.KindOf(err), "%q", name)
	}
}

func TestWhatLegacyCannotCarryIsTold(t *testing.T) {
	for name, text := range map[string]string{"C-1": "1", "C-é": "é", "D-a": "a", "C-M-1": "\x1b1"} {
		e, err := Parse(name)
		require.NoError(t, err)
		out, exact := AppendKey(nil, e, vt.Modes{})
		require.False(t, exact, name)
		require.Equal(t, text, string(out), name)
		_, exact = AppendKey(nil, e, vt.Modes{ModifyOtherKeys: 2})
		require.True(t, exact, name)
	}
	for _, a := range []Action{Repeat, Release} {
		out, _ := AppendKey(nil, Event{Kind: KeyEvent, Key: 'a', Action: a}, vt.Modes{})
		require.Equal(t, map[Action]string{Repeat: "a", Release: ""}[a], string(out))
	}
}
