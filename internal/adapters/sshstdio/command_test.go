package sshstdio

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// A vev that was installed goes before that of PATH, and is found without another process; what cannot be run is none.
func TestWhereTheFarVevIs(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	installed, packaged := filepath.Join(home, installPath), filepath.Join(bin, "vev")
	find := func() string {
		cmd := exec.Command("/bin/sh", "-c", findProgram+`; echo "$v"`)
		cmd.Env = []string{"HOME=" + home, "PATH=" + bin}
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	require.Empty(t, find())
	require.NoError(t, os.WriteFile(packaged, []byte("#!/bin/sh\n"), 0o700))
	require.Equal(t, packaged, find())
	require.NoError(t, os.MkdirAll(installed, 0o700))
	require.Equal(t, packaged, find(), "a directory is no program")
	require.NoError(t, os.Remove(installed))
	require.NoError(t, os.WriteFile(installed, []byte("#!/bin/sh\n"), 0o600))
	require.Equal(t, packaged, find(), "it cannot be run")
	require.NoError(t, os.Chmod(installed, 0o700))
	require.Equal(t, installed, find())

	// What is within $() is another process, whatever it does.
	look := "$(command"
	require.Equal(t, 1, strings.Count(findProgram, look))
	out, err := exec.Command("/bin/sh", "-c", "HOME="+home+"; "+strings.Replace(findProgram, look, "$(echo no >&2; command", 1)).CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(out))
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
