package main

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// cli is what the commands of one process share.
type cli struct {
	in             *os.File
	stdout, stderr *os.File
	out            *bufio.Writer // stdout; flushed once the command is done
}

// run executes one command line and returns the process's exit code.
func (c *cli) run(args []string) int {
	c.out = bufio.NewWriter(c.stdout)
	root := c.root(args)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	err = c.suggest(cmd, afar(cmd, err))
	if flushErr := c.out.Flush(); flushErr != nil && err == nil {
		err = fault.Wrap(fault.Internal, flushErr, "cannot write the answer")
	}
	return report(c.stderr, err)
}

const (
	groupSessions = "sessions"
	groupPrograms = "programs"
	groupHosts    = "hosts"
	groupAbout    = "about"
)

func (c *cli) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "vev",
		Short: "Terminal sessions that keep running, on every machine you use",
		Long: `vev keeps terminal sessions running and attaches any terminal to them.

Without a command it makes a new session and attaches to it. Inside, Ctrl-\ d
detaches and Ctrl-\ ? shows the keys.

` + addressHelp + `
Every command takes them.

Exit codes: 0 ok, 1 failed, 2 usage, 3 unreachable or outcome unknown, 4 timed
out. After an attached program's end: the program's own status, 128 + the number
of the signal when a signal ended it.`,
		Example: `  vev                        a new session, attached
  vev new work -- vim notes  a session with a name and a program
  vev attach work            back to it, from any terminal
  vev attach desk:work       the one on desk, wherever ssh desk leads
  vev ls                     what is running`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.newSession(cmd.Context(), newOptions{}, nil)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(c.out)
	root.SetErr(c.stderr)
	root.SetIn(c.in)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.Usage, "%s", err).WithHint("%s --help shows the options", cmd.CommandPath())
	})
	root.AddGroup(
		&cobra.Group{ID: groupSessions, Title: "Sessions:"},
		&cobra.Group{ID: groupPrograms, Title: "For programs and scripts:"},
		&cobra.Group{ID: groupHosts, Title: "Other machines:"},
		&cobra.Group{ID: groupAbout, Title: "About vev:"},
	)
	for _, make := range chosen(args) {
		cmd := make.command(c)
		cmd.GroupID = make.group
		cmd.DisableFlagsInUseLine = true
		root.AddCommand(cmd)
		if cmd.Name() == helpCommand {
			root.SetHelpCommand(cmd)
		}
	}
	return root
}

const helpCommand = "help"

// maker makes one command. Its name stands here as well, so that nothing but the command of a
// line has to be made to run it: that is a tenth of a millisecond for each start.
type maker struct {
	name, alias string
	group       string
	command     func(*cli) *cobra.Command
}

func makers() []maker {
	return []maker{
		{"new", "", groupSessions, (*cli).cmdNew},
		{"attach", "a", groupSessions, (*cli).cmdAttach},
		{"watch", "", groupSessions, (*cli).cmdWatch},
		{"preview", "", groupSessions, (*cli).cmdPreview},
		{"ls", "list", groupSessions, (*cli).cmdLs},
		{"clients", "", groupSessions, (*cli).cmdClients},
		{"detach", "", groupSessions, (*cli).cmdDetach},
		{"resize", "", groupSessions, (*cli).cmdResize},
		{"rename", "", groupSessions, (*cli).cmdRename},
		{"kill", "", groupSessions, (*cli).cmdKill},
		{"send", "", groupPrograms, (*cli).cmdSend},
		{"key", "", groupPrograms, (*cli).cmdKey},
		{"paste", "", groupPrograms, (*cli).cmdPaste},
		{"capture", "", groupPrograms, (*cli).cmdCapture},
		{"next", "", groupSessions, (*cli).cmdNext},
		{"events", "", groupPrograms, (*cli).cmdEvents},
		{"run", "", groupPrograms, (*cli).cmdRun},
		{"wait", "", groupPrograms, (*cli).cmdWait},
		{"mcp", "", groupPrograms, (*cli).cmdMCP},
		{"host", "", groupHosts, (*cli).cmdHost},
		{"lock", "", groupPrograms, (*cli).cmdLock},
		{"shell-init", "", groupPrograms, (*cli).cmdShellInit},
		{"stats", "", groupAbout, (*cli).cmdStats},
		{"doctor", "", groupAbout, (*cli).cmdDoctor},
		{"version", "", groupAbout, (*cli).cmdVersion},
		{"completion", "", groupAbout, (*cli).cmdCompletion},
		{helpCommand, "", groupAbout, (*cli).cmdHelp},
		{"_broker", "", "", (*cli).cmdBroker},
		{"_daemon", "", "", (*cli).cmdDaemon},
		{"_broker-mux-stdio", "", "", (*cli).cmdMuxStdio},
		{quic.BootstrapRole, "", "", (*cli).cmdQUICBootstrap},
		{quicProxy, "", "", (*cli).cmdQUICProxy},
	}
}

// chosen is the one maker that the first argument names, none without arguments, or all: for
// help, for completion, and to say what is near an unknown name.
func chosen(args []string) []maker {
	all := makers()
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "" || args[0] == helpCommand:
		return all
	}
	for i, m := range all {
		if args[0] == m.name || args[0] == m.alias {
			return all[i : i+1]
		}
	}
	return all
}

// cmdHelp replaces cobra's own, which answers an unknown topic with exit code 0.
func (c *cli) cmdHelp() *cobra.Command {
	return &cobra.Command{
		Use:     helpCommand + " [COMMAND]",
		Short:   "Help about a command",
		Example: "  vev help new",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if found, _, err := cmd.Root().Find(args); err != nil || found == cmd.Root() {
				return unknownCommand(cmd.Root(), args)
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, _, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			return found.Help()
		},
	}
}

// unknownCommand refuses arguments where only a command may stand.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fault.New(fault.Usage, "unknown command %q", args[0])
	help := "vev help" + strings.TrimPrefix(cmd.CommandPath(), "vev")
	if near := domain.Nearest(args[0], commandNames(cmd)); near != "" {
		return err.WithHint("did you mean %s %s? %s lists the commands", cmd.CommandPath(), near, help)
	}
	return err.WithHint("%s lists the commands", help)
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, sub := range root.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// argCount makes an Args function: between least and most arguments, no upper bound when most
// is negative.
func argCount(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(cmd, "%s: too few arguments", cmd.Name())
		case most >= 0 && len(args) > most:
			return usage(cmd, "%s: unexpected argument %q", cmd.Name(), args[most])
		}
		return nil
	}
}

// namedCount is argCount for commands whose first arguments, at most names of them, are session
// names. An empty one means the session used last in the protocol; in a script it is a variable
// that was not set.
func namedCount(least, most, names int) cobra.PositionalArgs {
	count := argCount(least, most)
	return func(cmd *cobra.Command, args []string) error {
		if err := count(cmd, args); err != nil {
			return err
		}
		return checkNames(cmd, args[:min(len(args), names)])
	}
}

func checkNames(cmd *cobra.Command, names []string) error {
	if slices.Contains(names, "") {
		return usage(cmd, "%s: the session's name is empty", cmd.Name())
	}
	return nil
}

// usage is a Usage fault whose hint is the command's own usage line.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return fault.New(fault.Usage, format, args...).WithHint("usage: %s", cmd.UseLine())
}

// say writes talk: what is not the answer goes to stderr.
func (c *cli) say(line string) { _, _ = io.WriteString(c.stderr, line+"\n") }
