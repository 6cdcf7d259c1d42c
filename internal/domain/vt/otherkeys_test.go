package vt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormatOtherKeys(t *testing.T) {
	tm := New(Options{Cols: 10, Rows: 2})
	tm.Write([]byte("\x1b[?4g\x1b[>4;1f\x1b[?4g"))
	require.Equal(t, "\x1b[>4;0f\x1b[>4;1f", string(tm.TakeReplies()))
	require.True(t, tm.Modes().FormatOtherKeys)
	require.Contains(t, tm.Modes().Names(), "format-other-keys")
	tm.Write([]byte("\x1b[>3;0f"))
	require.True(t, tm.Modes().FormatOtherKeys, "another resource")
	tm.Write([]byte("\x1b[!p"))
	require.False(t, tm.Modes().FormatOtherKeys, "a soft reset")
	for _, off := range []string{"\x1b[>4f", "\x1b[>f", "\x1b[>4;0f", "\x1bc"} {
		tm.Write([]byte("\x1b[>4;1f" + off))
		require.False(t, tm.Modes().FormatOtherKeys, "%q", off)
	}
}
