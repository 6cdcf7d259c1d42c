package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestAppend(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "A": "A", "é": "é", "-": "-", "C--": "\x1f", "S-a": "A",
		"Enter": "\r", "enter": "\r", "Return": "\r", "Tab": "\t", "S-Tab": "\x1b[Z", "Escape": "\x1b", "Space": " ",
		"Backspace": "\x7f", "BSpace": "\x7f", "C-Backspace": "\b", "M-Backspace": "\x1b\x7f", "M-Enter": "\x1b\r",
		"C-c": "\x03", "C-C": "\x03", "^C": "\x03", "C-Space": "\x00", "C-\\": "\x1c", "C-[": "\x1b", "C-?": "\x7f", "C-_": "\x1f",
		"M-x": "\x1bx", "C-M-x": "\x1b\x18", "M-C-x": "\x1b\x18",
		"Up": "\x1b[A", "S-Up": "\x1b[1;2A", "C-Right": "\x1b[1;5C", "C-M-S-Left": "\x1b[1;8D", "Home": "\x1b[H",
		"F1": "\x1bOP", "S-F1": "\x1b[1;2P", "F5": "\x1b[15~", "F12": "\x1b[24~", "C-F5": "\x1b[15;5~",
		"Delete": "\x1b[3~", "Insert": "\x1b[2~", "PageUp": "\x1b[5~", "PgDn": "\x1b[6~",
	} {
		got, err := Append(nil, name, Modes{})
		require.NoError(t, err, name)
		require.Equal(t, want, string(got), name)
	}
}

func TestModesChangeKeys(t *testing.T) {
	got, err := Append(nil, "Up", Modes{AppCursor: true})
	require.NoError(t, err)
	require.Equal(t, "\x1bOA", string(got))
	got, err = Append(nil, "C-Up", Modes{AppCursor: true})
	require.NoError(t, err)
	require.Equal(t, "\x1b[1;5A", string(got), "modified cursor keys are CSI in both modes")
	got, err = Append(nil, "Enter", Modes{NewLine: true})
	require.NoError(t, err)
	require.Equal(t, "\r\n", string(got))
}

func TestUnknownKeysAreRefused(t *testing.T) {
	for _, name := range []string{"", "Entr", "F13", "C-é", "X-a", "ab", "C-1", "\xff"} {
		_, err := Append(nil, name, Modes{})
		require.Equal(t, fault.Usage, fault.KindOf(err), "%q", name)
	}
}
