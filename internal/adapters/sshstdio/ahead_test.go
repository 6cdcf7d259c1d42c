//go:build unix

package sshstdio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// The helper knows what the conversation begins with before its input is open; standard input says it too.
func TestWhatAConversationBeginsWithIsThereWithTheCommand(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	require.NoError(t, os.MkdirAll(filepath.Join(home, installDir), 0o700))
	const helper = `#!/bin/sh
echo "$1 $` + envAhead + `"; read word; cat >/dev/null`
	require.NoError(t, os.WriteFile(filepath.Join(home, installPath), []byte(helper), 0o700))
	fakeSSH(t, `for command; do :; done; eval "$command"`)
	said := []byte("\x00\xff it's $HOME \\ !\n")
	d := Dialer{Begin: func(o *protocol.Opening) ([]byte, Converse) {
		require.Equal(t, "s", o.Host)
		return said, converse
	}}
	var dialer ports.OpeningDialer = &d
	l, err := dialer.DialOpening(t.Context(), "box", nil, &protocol.Opening{Host: "s"})
	require.NoError(t, err)
	heard := []byte(l.(*link).Link.(*line).heard)
	require.NoError(t, l.Close())
	word, ok := bytes.CutPrefix(bytes.TrimSuffix(heard, []byte("\n")), []byte("_broker-mux-stdio "))
	require.True(t, ok, "%s", heard)
	t.Setenv(envAhead, string(word))
	require.Equal(t, said, TakeAhead())
	require.Empty(t, TakeAhead(), "what the helper starts does not see it")
}

func TestWhatIsToldAheadIsBounded(t *testing.T) {
	require.Equal(t, remoteCommand, commandAhead(nil))
	longest := bytes.Repeat([]byte{0xfb}, maxAhead)
	require.NotEqual(t, remoteCommand, commandAhead(longest))
	require.Equal(t, remoteCommand, commandAhead(append(longest, 0)), "it goes by standard input alone")
	for _, word := range []string{"", "+", "not one", string(bytes.Repeat([]byte("A"), 2*maxAhead))} {
		t.Setenv(envAhead, word)
		require.Empty(t, TakeAhead(), word)
	}
}
