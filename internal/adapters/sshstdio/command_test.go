package sshstdio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// What names the host stands behind --, and nothing of it among the options.
func TestArguments(t *testing.T) {
	for text, want := range map[string][]string{
		"box":                  {"--", "box"},
		"ann@box":              {"-l", "ann", "--", "box"},
		"ann@[fe80::1%en0]":    {"-l", "ann", "--", "fe80::1%en0"},
		"ssh://box:2222":       {"-p", "2222", "--", "box"},
		"ssh://ann@[::1]:2222": {"-l", "ann", "-p", "2222", "--", "::1"},
	} {
		host, err := domain.ParseHost(text)
		require.NoError(t, err)
		args := arguments(attempt{host: host, command: remoteCommand})
		require.Equal(t, remoteCommand, args[len(args)-1])
		args = args[:len(args)-1]
		require.Equal(t, want, args[len(args)-len(want):], text)
		require.False(t, slices.Contains(args[:len(args)-len(want)], host.Name))
	}
}

// Any user's shell takes the commands as one line with one quoted word.
func TestTheRemoteCommandsAreForEveryShell(t *testing.T) {
	for _, command := range []string{remoteCommand, surveyCommand} {
		quoted, ok := strings.CutPrefix(command, "exec sh -c '")
		require.True(t, ok)
		quoted, ok = strings.CutSuffix(quoted, "'")
		require.True(t, ok)
		require.NotContains(t, quoted, "'")
		require.False(t, strings.ContainsAny(quoted, "\\!\n"), quoted)
	}
	word, ok := strings.CutPrefix(commandAhead([]byte{0xff, 0xfe, 0, '\''}), remoteCommand)
	require.True(t, ok)
	require.Regexp(t, "^ vev [A-Za-z0-9_-]+$", word)
}

func TestDestinationIsWhatSSHTakes(t *testing.T) {
	for text, want := range map[string]string{
		"box": "box", "ann@box": "ann@box", "[::1]": "::1", "ann@[::1]": "ann@::1", "ssh://box:22": "ssh://box:22",
	} {
		host, err := domain.ParseHost(text)
		require.NoError(t, err)
		require.Equal(t, want, destination(host))
	}
}

func TestWhatIsRememberedOfHostsIsBounded(t *testing.T) {
	var s shared
	for i := range protocol.MaxHosts + 1 {
		require.True(t, s.begin(fmt.Sprint(i)))
		s.end(fmt.Sprint(i), true, false)
		require.LessOrEqual(t, len(s.refused), protocol.MaxHosts)
	}
	require.Len(t, s.refused, 1)
	require.Empty(t, s.running)
}
