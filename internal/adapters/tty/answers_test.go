package tty

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATerminalThatSaysWhatItIs(t *testing.T) {
	for said, want := range map[string]bool{
		"\x1b[?1;2c": true, "typed\x1b[?62;22c": true, "\x1b[?1u\x1b[?6c": true, "\x1b[?c": true,
		"": false, "\x1b[?1;2": false, "\x1b[1;2c": false, "^[[c": false, "\x1b[?1;2R": false,
		strings.Repeat("x", 2*maxSaid) + "\x1b[?1c": false,
	} {
		tt := &typed{Reader: strings.NewReader(said)}
		require.Equal(t, want, answers(tt), "%q", said)
		require.Equal(t, whatAreYou, tt.String())
	}
}
