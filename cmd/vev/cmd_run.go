package main

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// runOptions are those of vev run.
type runOptions struct {
	timeout    time.Duration
	raw, json  bool
	generation uint64
	author     string
}

func (c *cli) cmdRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run NAME [--timeout DUR] [--json | --raw] -- CMD...",
		Short: "Run a command in a session's shell",
		Long: `Type a command at the prompt of a session's shell, wait for its end, print its output
and exit with its status. Several words are joined by one blank; the shell of the
session reads them, with its directory, variables and functions.

It works in bash, zsh, fish and sh, whether or not vev shell-init is in use, and in
any shell that marks its commands (OSC 133), also behind ssh. A session that is
not at a prompt, or at whose prompt somebody has begun to type, is left alone.

Output is text, as the session's screen shows it; with --raw it comes as the
program wrote it. Ctrl-C interrupts the command, pressed twice it leaves. After
the timeout the exit code is 4 and the command goes on.

As JSON the answer is one object with session, command, output, status,
took_ms, timed_out, exited (the shell itself ended), dropped (bytes of
output that came too fast to be kept) and generation.`,
		Example: `  vev run work -- make test
  vev run work --timeout 10s -- 'cd /srv; git status --short | wc -l'
  vev run desk:work --json -- uname -a | jq -r .output`,
		Args:              namedCount(2, -1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			switch {
			case o.timeout <= 0 || o.timeout > protocol.MaxWait:
				return usage(cmd, "run: --timeout is more than 0 and at most %s", protocol.MaxWait)
			case o.raw && o.json:
				return usage(cmd, "run: --json and --raw exclude each other")
			}
			return c.runCommand(cmd.Context(), a, strings.Join(args[1:], " "), &o)
		}),
	}
	f := cmd.Flags()
	f.DurationVar(&o.timeout, "timeout", protocol.MaxWait, "wait for `DUR` at the most")
	f.BoolVar(&o.json, "json", false, "answer as JSON")
	f.BoolVar(&o.raw, "raw", false, "print the output as the program wrote it")
	f.Uint64Var(&o.generation, "expect-generation", 0, "only while the session's generation is `N`")
	authorFlag(cmd, &o.author)
	return cmd
}

func (c *cli) runCommand(ctx context.Context, a domain.Address, line string, o *runOptions) error {
	named, err := c.sessionAs(a, o.author)
	if err != nil {
		return err
	}
	session := named.Guarded(client.Guard{Generation: o.generation})
	command := client.Command{Line: line, Raw: o.raw}
	if !o.json {
		command.Output = flushing{c.out}
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	stop := interrupting(ctx, session)
	result, err := session.Run(limited, command)
	stop()
	if o.json && (err == nil || result.TimedOut) {
		if err := c.printJSON(result); err != nil {
			return err
		}
	}
	if result.Dropped > 0 {
		c.say("vev: output came too fast: bytes are missing")
	}
	if err != nil {
		return err
	}
	return runStatus(result)
}

// runStatus is the command's end as this command's.
func runStatus(r client.Result) error {
	switch {
	case r.Status == nil:
		return fault.New(fault.Unknown, "the shell did not tell the command's status")
	case *r.Status != 0:
		return exitStatus(*r.Status & 0xff)
	}
	return nil
}

// flushing shows what is written at once.
type flushing struct{ *bufio.Writer }

func (w flushing) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err == nil {
		err = w.Flush()
	}
	return n, err
}

// interrupting presses Ctrl-C in the session where it is pressed here, once: the next one ends this process.
func interrupting(ctx context.Context, session *client.Session) (stop func()) {
	pressed := make(chan os.Signal, 1)
	signal.Notify(pressed, os.Interrupt)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-pressed:
			signal.Stop(pressed)
			_ = session.Guarded(client.Guard{}).Press(ctx, "C-c")
		case <-done:
		}
	}()
	return func() {
		signal.Stop(pressed)
		close(done)
		<-ended
	}
}
