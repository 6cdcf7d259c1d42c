package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdHostCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check HOST",
		Short: "Go to a machine step by step and say what fails",
		Long: `Go to a machine, which need not be on the list, step by step, and say for each how it went
and how long it took:

  name     where ssh goes, and what address that is
  tcp      whether its ssh server answers
  ssh      logging in
  version  which vev is there, and whether this one can talk to it
  daemon   whether sessions can be reached, and over what
  udp      whether QUIC gets through, unless only ssh is to be used

It ends with the first that fails, which decides the exit code; without udp ssh does.
Nothing is changed there, and no daemon is started.`,
		Example:           "  vev host check desk",
		ValidArgsFunction: c.completeHosts(firstOnly),
	}
	cmd.Args, cmd.RunE = hostArg(func(ctx context.Context, _ *cobra.Command, host domain.Host) error {
		r := reporter{c: c, steps: true}
		return c.operate(ctx, host, protocol.Mutation{Kind: protocol.Reconcile, Host: host.String()}, r.told)
	})
	return cmd
}

// reporter tells how an operation goes on: its steps as lines of the answer, what passes to who sits at the terminal.
type reporter struct {
	c     *cli
	steps bool
}

func (r reporter) told(p protocol.Progress) {
	switch live := tty.IsTerminal(r.c.stderr); {
	case p.Step == "" && p.Failure != nil:
		r.c.notice(p.Failure.Fault())
	case p.Step == "" && live:
		fmt.Fprintf(r.c.stderr, "\r%s\x1b[K", printable(p.Text))
	case p.Step != "" && r.steps:
		if live {
			fmt.Fprint(r.c.stderr, "\r\x1b[K")
		}
		fmt.Fprintf(r.c.out, "%-8s %-4s %8s  %s\n", printable(p.Step), stepState(p), took(p.Took), printable(stepText(p)))
		_ = r.c.out.Flush() // the last one tells
	}
}

func stepState(p protocol.Progress) string {
	if p.Failure != nil {
		return levelFail.String()
	}
	return levelOK.String()
}

func stepText(p protocol.Progress) string {
	if p.Failure != nil {
		return fault.Clean(p.Failure.Text)
	}
	return p.Text
}

// took is a time for people.
func took(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
