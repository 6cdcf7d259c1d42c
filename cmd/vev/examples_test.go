package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Every example of every help text is a command line that its command takes.
func TestExamplesAreTaken(t *testing.T) {
	// What the examples name must be there: arguments are checked against it.
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("notes.txt", nil, 0o600))
	newCLI := func() *cli {
		return &cli{in: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, out: bufio.NewWriter(io.Discard)}
	}
	all := newCLI().root([]string{helpCommand})
	count := 0
	commands := append(all.Commands(), all)
	for _, cmd := range all.Commands() {
		commands = append(commands, cmd.Commands()...)
	}
	for _, cmd := range commands {
		if cmd.Hidden {
			continue
		}
		require.NotEmpty(t, cmd.Short, cmd.Name())
		found := false
		for line := range strings.Lines(cmd.Example) {
			for _, args := range vevCommands(line) {
				count++
				taken := check(t, newCLI().root(args), args)
				found = found || taken.CommandPath() == cmd.CommandPath() || cmd.HasSubCommands() && taken.Parent().Name() == cmd.Name()
			}
		}
		require.True(t, found, "an example of %s itself", cmd.Name())
	}
	require.Greater(t, count, 35)
}

// check parses a command line up to the point where it would run.
func check(t *testing.T, root *cobra.Command, args []string) *cobra.Command {
	cmd, rest, err := root.Find(args)
	require.NoError(t, err, args)
	require.NoError(t, cmd.ParseFlags(rest), args)
	require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), args)
	require.True(t, cmd.Runnable(), args)
	return cmd
}

// vevCommands are the arguments of each vev in a line of an example, in which a remark may
// stand behind three blanks or before the command.
func vevCommands(line string) [][]string {
	var found [][]string
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|()", r) }) {
		_, rest, ok := strings.Cut(" "+part, " vev")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\n' {
			continue
		}
		if strings.HasPrefix(rest, "   ") {
			rest = "" // the bare command and its remark
		}
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), "   ")
		rest, _, _ = strings.Cut(rest, " >")
		var args []string
		for _, arg := range strings.Fields(strings.ReplaceAll(rest, "make test'", "make_test'")) {
			args = append(args, strings.Trim(arg, "'"))
		}
		found = append(found, args)
	}
	return found
}
