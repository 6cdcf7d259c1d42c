package main

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdWait() *cobra.Command {
	var w protocol.Wait
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait NAME (--text RE | --idle DUR | --exit) [--timeout DUR]",
		Short: "Wait for a text, for silence or for the end of a session",
		Long: `Wait until a session meets one condition. Nothing is polled: the daemon watches.

  --text RE    a line on the screen, or a newer one, matches the regular expression;
               that line is printed
  --idle DUR   the program has written nothing for so long
  --exit       the program ended; its status is printed

The exit code is 0 when it was met and 4 when the timeout passed first. Durations
are written like 300ms, 5s, 2m.`,
		Example: `  vev wait build --text '^(PASS|FAIL)' --timeout 10m
  vev wait work --idle 500ms && vev capture work
  vev wait build --exit`,
		Args:              namedCount(1, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, _ []string) error {
			w.Session = a.Name
			if err := checkWait(cmd, &w, timeout); err != nil {
				return err
			}
			return c.wait(cmd.Context(), a, &w, timeout)
		}),
	}
	cmd.Flags().StringVar(&w.Text, "text", "", "wait for a line that matches the regular expression `RE`")
	cmd.Flags().DurationVar(&w.Idle, "idle", 0, "wait for `DUR` of silence")
	cmd.Flags().BoolVar(&w.Exit, "exit", false, "wait for the program's end")
	cmd.Flags().DurationVar(&timeout, "timeout", protocol.MaxWait, "give up after `DUR`")
	return cmd
}

// checkWait refuses what the daemon would refuse, before anything is dialled.
func checkWait(cmd *cobra.Command, w *protocol.Wait, timeout time.Duration) error {
	conditions := 0
	for _, flag := range []string{"text", "idle", "exit"} {
		if cmd.Flags().Changed(flag) {
			conditions++
		}
	}
	switch {
	case conditions != 1:
		return usage(cmd, "wait: give one of --text, --idle and --exit")
	case cmd.Flags().Changed("exit") && !w.Exit:
		return usage(cmd, "wait: --exit takes no value")
	case cmd.Flags().Changed("idle") && (w.Idle <= 0 || w.Idle > protocol.MaxWait):
		return usage(cmd, "wait: --idle is more than 0 and at most %s", protocol.MaxWait)
	case timeout <= 0 || timeout > protocol.MaxWait:
		return usage(cmd, "wait: --timeout is more than 0 and at most %s", protocol.MaxWait)
	case len(w.Text) > protocol.MaxPatternBytes:
		return usage(cmd, "wait: --text has %d bytes, at most %d", len(w.Text), protocol.MaxPatternBytes)
	case cmd.Flags().Changed("text") && w.Text == "":
		return usage(cmd, "wait: --text is empty")
	}
	if _, err := regexp.Compile(w.Text); err != nil {
		return fault.New(fault.Usage, "wait: %s", err).WithHint("the syntax is that of https://golang.org/s/re2syntax")
	}
	return nil
}

func (c *cli) wait(ctx context.Context, a domain.Address, w *protocol.Wait, timeout time.Duration) error {
	answer, err := talk.BodyOf[*protocol.WaitResult](c.act(ctx, a, timeout, w))
	if err != nil {
		return err
	}
	switch {
	case !answer.Met:
		return fault.New(fault.Timeout, "not met within %s", timeout)
	case w.Exit:
		fmt.Fprintln(c.out, answer.Exit.ShellCode())
	case w.Text != "":
		fmt.Fprintln(c.out, printable(answer.Match))
	}
	return nil
}
