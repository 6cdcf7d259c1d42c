package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// waitOptions are those of vev wait.
type waitOptions struct {
	client.Condition
	timeout time.Duration
	json    bool
}

func (c *cli) cmdWait() *cobra.Command {
	var o waitOptions
	cmd := &cobra.Command{
		Use:   "wait NAME CONDITION... [--timeout DUR] [--json]",
		Short: "Wait for something to happen in a session",
		Long: `Wait until a session meets a condition; of several, the first that is met. Nothing is polled:
the daemon watches.

  --text RE     a line on the screen, or a newer one, matches the regular expression;
                that line is printed
  --idle DUR    the program has written nothing for so long
  --exit        the program ended; its status is printed
  --prompt      its shell waits for a command
  --changed     the program has written something
  --state S     it is running, prompt, input (a program waits for what is typed),
                attention (it wants a person) or exited; which is printed
  --event TYPE  something of the type happened (vev events --help); that is printed

With --since SEQ events behind that number count too, so that none is missed between
two commands: vev wait --json and vev events tell numbers. As JSON the answer is one
object with met, and match, status, event, state, reason, since, generation and last_seq.

The exit code is 0 when a condition was met and 4 when the timeout passed first.
Durations are written like 300ms, 5s, 2m.`,
		Example: `  vev wait build --text '^(PASS|FAIL)' --timeout 10m
  vev wait work --idle 500ms && vev capture work
  vev wait build --exit
  vev wait work --prompt --exit
  vev wait agent --state attention --state exited --json`,
		Args:              namedCount(1, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return c.wait(cmd.Context(), a, &o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.Text, "text", "", "a line matches the regular expression `RE`")
	f.DurationVar(&o.Idle, "idle", 0, "`DUR` of silence")
	f.BoolVar(&o.Exit, "exit", false, "the program's end")
	f.BoolVar(&o.Prompt, "prompt", false, "a shell waits for a command")
	f.BoolVar(&o.Changed, "changed", false, "the program has written something")
	f.StringArrayVar(&o.States, "state", nil, "it is in state `S`; may be given again")
	f.StringArrayVar(&o.Events, "event", nil, "an event of `TYPE`; may be given again")
	f.Uint64Var(&o.Since, "since", 0, "events behind `SEQ` count too")
	f.DurationVar(&o.timeout, "timeout", protocol.MaxWait, "give up after `DUR`")
	f.BoolVar(&o.json, "json", false, "answer as JSON")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(domain.ActivityNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("event", cobra.FixedCompletions(domain.EventNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check refuses what makes no sense before anything is dialled.
func (o *waitOptions) check(cmd *cobra.Command) error {
	conditions := 0
	for _, flag := range []string{"text", "idle", "exit", "prompt", "changed", "state", "event"} {
		if f := cmd.Flags().Lookup(flag); f.Changed {
			conditions++
			if f.Value.String() == "false" {
				return usage(cmd, "wait: --%s takes no value", flag)
			}
		}
	}
	switch {
	case conditions == 0:
		return usage(cmd, "wait: give a condition: --text, --idle, --exit, --prompt, --changed, --state or --event")
	case cmd.Flags().Changed("idle") && (o.Idle <= 0 || o.Idle > protocol.MaxWait):
		return usage(cmd, "wait: --idle is more than 0 and at most %s", protocol.MaxWait)
	case o.timeout <= 0 || o.timeout > protocol.MaxWait:
		return usage(cmd, "wait: --timeout is more than 0 and at most %s", protocol.MaxWait)
	case cmd.Flags().Changed("text") && o.Text == "":
		return usage(cmd, "wait: --text is empty")
	case o.Since != 0 && len(o.Events) == 0:
		return usage(cmd, "wait: --since goes with --event")
	}
	return nil
}

func (c *cli) wait(ctx context.Context, a domain.Address, o *waitOptions) error {
	session, err := c.session(a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	met, err := session.Wait(ctx, o.Condition)
	if err != nil {
		return err
	}
	if o.json {
		return c.printJSON(met)
	}
	switch met.Met {
	case "text":
		fmt.Fprintln(c.out, printable(*met.Match))
	case "exit":
		fmt.Fprintln(c.out, *met.Status)
	case "state":
		fmt.Fprintln(c.out, met.State)
	case "event":
		fmt.Fprintln(c.out, met.Event.Type)
	}
	return nil
}
