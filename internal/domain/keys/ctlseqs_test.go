package keys

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// TestPCStyleFunctionKeys is "PC-Style Function Keys" of xterm's ctlseqs: the table of cursor keys in both modes, that of
// function keys, and that of modifier codes on each of them. What is encoded decodes to itself.
func TestPCStyleFunctionKeys(t *testing.T) {
	keys := []struct {
		key                 Key
		normal, application string
		modified            string // with %d for the code
	}{
		{Up, "\x1b[A", "\x1bOA", "\x1b[1;%dA"},
		{Down, "\x1b[B", "\x1bOB", "\x1b[1;%dB"},
		{Right, "\x1b[C", "\x1bOC", "\x1b[1;%dC"},
		{Left, "\x1b[D", "\x1bOD", "\x1b[1;%dD"},
		{Home, "\x1b[H", "\x1bOH", "\x1b[1;%dH"},
		{End, "\x1b[F", "\x1bOF", "\x1b[1;%dF"},
		{F1, "\x1bOP", "\x1bOP", "\x1b[1;%dP"},
		{F2, "\x1bOQ", "\x1bOQ", "\x1b[1;%dQ"},
		{F3, "\x1bOR", "\x1bOR", "\x1b[1;%dR"},
		{F4, "\x1bOS", "\x1bOS", "\x1b[1;%dS"},
		{F5, "\x1b[15~", "\x1b[15~", "\x1b[15;%d~"},
		{F5 + 1, "\x1b[17~", "\x1b[17~", "\x1b[17;%d~"},
		{F5 + 2, "\x1b[18~", "\x1b[18~", "\x1b[18;%d~"},
		{F5 + 3, "\x1b[19~", "\x1b[19~", "\x1b[19;%d~"},
		{F5 + 4, "\x1b[20~", "\x1b[20~", "\x1b[20;%d~"},
		{F5 + 5, "\x1b[21~", "\x1b[21~", "\x1b[21;%d~"},
		{F5 + 6, "\x1b[23~", "\x1b[23~", "\x1b[23;%d~"},
		{F12, "\x1b[24~", "\x1b[24~", "\x1b[24;%d~"},
		{Insert, "\x1b[2~", "\x1b[2~", "\x1b[2;%d~"},
		{Delete, "\x1b[3~", "\x1b[3~", "\x1b[3;%d~"},
		{PageUp, "\x1b[5~", "\x1b[5~", "\x1b[5;%d~"},
		{PageDown, "\x1b[6~", "\x1b[6~", "\x1b[6;%d~"},
	}
	mods := map[int]Mods{ // ctlseqs' Meta is the bit of Super
		1: 0, 2: Shift, 3: Alt, 4: Shift | Alt, 5: Ctrl, 6: Shift | Ctrl, 7: Alt | Ctrl, 8: Shift | Alt | Ctrl, 9: Super,
		10: Super | Shift, 11: Super | Alt, 12: Super | Alt | Shift, 13: Super | Ctrl, 14: Super | Ctrl | Shift,
		15: Super | Ctrl | Alt, 16: Super | Ctrl | Alt | Shift,
	}
	for _, k := range keys {
		for code, m := range mods {
			for _, app := range []bool{false, true} {
				want := fmt.Sprintf(k.modified, code)
				switch {
				case code == 1 && app:
					want = k.application
				case code == 1:
					want = k.normal
				}
				e := Event{Kind: KeyEvent, Key: k.key, Mods: m}
				out, exact := AppendKey(nil, e, vt.Modes{AppCursor: app})
				require.Equal(t, want, string(out))
				require.True(t, exact)
				require.Equal(t, []Event{e}, events(decode(&Decoder{}, want)), "%q", want)
			}
		}
	}
}

// TestVT220Keypad is the table of the numeric keypad of "VT220-Style Function Keys": numeric and application mode.
func TestVT220Keypad(t *testing.T) {
	keypad := map[Key][2]string{
		KPEnter: {"\r", "\x1bOM"}, KPMultiply: {"*", "\x1bOj"}, KPAdd: {"+", "\x1bOk"}, KPSeparator: {",", "\x1bOl"},
		KPSubtract: {"-", "\x1bOm"}, KPDecimal: {".", "\x1bOn"}, KPDivide: {"/", "\x1bOo"}, KPEqual: {"=", "\x1bOX"},
	}
	for i := range Key(10) {
		keypad[KP0+i] = [2]string{strconv.Itoa(int(i)), "\x1bO" + string('p'+rune(i))}
	}
	for k, want := range keypad {
		e := Event{Kind: KeyEvent, Key: k}
		for app, bytes := range want {
			out, _ := AppendKey(nil, e, vt.Modes{AppKeypad: app == 1})
			require.Equal(t, bytes, string(out))
		}
		require.Equal(t, []Event{e}, events(decode(&Decoder{}, want[1])))
	}
}
