package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// waitOptions are those of vev wait.
type waitOptions struct {
	protocol.Await
	events, states []string
	timeout        time.Duration
	json           bool
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
			o.Session = a.Name
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
	f.StringArrayVar(&o.states, "state", nil, "it is in state `S`; may be given again")
	f.StringArrayVar(&o.events, "event", nil, "an event of `TYPE`; may be given again")
	f.Uint64Var(&o.Since, "since", 0, "events behind `SEQ` count too")
	f.DurationVar(&o.timeout, "timeout", protocol.MaxWait, "give up after `DUR`")
	f.BoolVar(&o.json, "json", false, "answer as JSON")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(domain.ActivityNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("event", cobra.FixedCompletions(domain.EventNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check refuses what the daemon would refuse, before anything is dialled, and reads names.
func (o *waitOptions) check(cmd *cobra.Command) (err error) {
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
	case len(o.Text) > protocol.MaxPatternBytes:
		return usage(cmd, "wait: --text has %d bytes, at most %d", len(o.Text), protocol.MaxPatternBytes)
	case cmd.Flags().Changed("text") && o.Text == "":
		return usage(cmd, "wait: --text is empty")
	case o.Since != 0 && len(o.events) == 0:
		return usage(cmd, "wait: --since goes with --event")
	}
	if _, err := regexp.Compile(o.Text); err != nil {
		return fault.New(fault.Usage, "wait: %s", err).WithHint("the syntax is that of https://golang.org/s/re2syntax")
	}
	if o.Events, err = eventSet(cmd, o.events); err != nil {
		return err
	}
	for _, name := range o.states {
		a, ok := domain.ParseActivity(name)
		if !ok {
			return usage(cmd, "wait: there is no state %q; there are %s", name, strings.Join(domain.ActivityNames(), ", "))
		}
		o.States = o.States.With(a)
	}
	return nil
}

// eventSet reads the names of types.
func eventSet(cmd *cobra.Command, names []string) (set domain.EventSet, err error) {
	for _, name := range names {
		t, ok := domain.ParseEventType(name)
		if !ok {
			return 0, usage(cmd, "%s: there is no event %q; there are %s", cmd.Name(), name, strings.Join(domain.EventNames(), ", "))
		}
		set = set.With(t)
	}
	return set, nil
}

// old reports whether the wait is one that every daemon knows.
func (o *waitOptions) old() bool {
	count := 0
	for _, is := range []bool{o.Text != "", o.Idle != 0, o.Exit} {
		if is {
			count++
		}
	}
	return count == 1 && !o.Prompt && !o.Changed && o.States == 0 && o.Events == 0 && !o.json
}

func (c *cli) wait(ctx context.Context, a domain.Address, o *waitOptions) error {
	if o.old() {
		return c.waitForOne(ctx, a, o)
	}
	answer, err := talk.BodyOf[*protocol.Awaited](c.act(ctx, a, o.timeout, &o.Await))
	if err != nil {
		return err
	}
	if o.json {
		return c.printJSON(metOf(answer))
	}
	switch answer.Met {
	case "text":
		fmt.Fprintln(c.out, printable(answer.Match))
	case "exit":
		fmt.Fprintln(c.out, answer.Exit.ShellCode())
	case "state":
		fmt.Fprintln(c.out, answer.Condition.Activity)
	case "event":
		if answer.Event != nil {
			fmt.Fprintln(c.out, answer.Event.Type)
		}
	}
	return nil
}

// waitForOne is for daemons of every version.
func (c *cli) waitForOne(ctx context.Context, a domain.Address, o *waitOptions) error {
	w := &protocol.Wait{Session: o.Session, Text: o.Text, Idle: o.Idle, Exit: o.Exit}
	answer, err := talk.BodyOf[*protocol.WaitResult](c.act(ctx, a, o.timeout, w))
	if err != nil {
		return err
	}
	switch {
	case !answer.Met:
		return fault.New(fault.Timeout, "not met within %s", o.timeout)
	case w.Exit:
		fmt.Fprintln(c.out, answer.Exit.ShellCode())
	case w.Text != "":
		fmt.Fprintln(c.out, printable(answer.Match))
	}
	return nil
}

// metJSON is the answer of vev wait --json.
type metJSON struct {
	Met        string        `json:"met"`
	Match      *string       `json:"match,omitempty"`
	Status     *int          `json:"status,omitempty"`
	Event      *domain.Event `json:"event,omitempty"`
	State      string        `json:"state"`
	Reason     string        `json:"reason"`
	Since      string        `json:"since"`
	Generation uint64        `json:"generation"`
	Last       uint64        `json:"last_seq"`
}

func metOf(m *protocol.Awaited) metJSON {
	j := metJSON{
		Met: m.Met, Event: m.Event, State: m.Condition.Activity.String(), Reason: m.Condition.Reason,
		Since: m.Condition.Since.Format(time.RFC3339Nano), Generation: m.Generation, Last: m.Last,
	}
	if m.Met == "text" {
		j.Match = &m.Match
	}
	if m.Condition.Activity == domain.Ended {
		status := m.Exit.ShellCode()
		j.Status = &status
	}
	return j
}
