package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdKill() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "kill NAME... | --all",
		Short: "End sessions and their programs",
		Long: `End sessions: their programs are hung up on, and killed if they do not end then.
Each session that ended is named on a line; the exit code is not 0 when one
could not be ended.`,
		Example: `  vev kill work
  vev kill work build 3
  vev kill --all`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage(cmd, "kill: --all takes no names")
			case !all && len(args) == 0:
				return usage(cmd, "kill: which session?")
			}
			return checkNames(cmd, args)
		},
		ValidArgsFunction: c.completeSessions(anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.kill(cmd.Context(), args, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end every session")
	return cmd
}

// kill ends each session by itself: one that fails does not keep the others.
func (c *cli) kill(ctx context.Context, names []string, all bool) error {
	t, err := c.begin(ctx, protocol.ExistingOnly)
	if isNoDaemon(err) {
		return c.killNone(names)
	}
	if err != nil {
		return err
	}
	defer t.close()
	if all {
		list, err := t.sessions(true)
		if err != nil {
			return err
		}
		for _, s := range list {
			names = append(names, s.Name)
		}
	}
	var failed error
	for _, name := range names {
		_, err := t.ask(0, &protocol.Kill{Session: name})
		if all && fault.KindOf(err) == fault.NotFound && err != nil {
			continue // it ended by itself in between
		}
		if err != nil {
			failed = firstCode(failed, report(c.stderr, err))
			continue
		}
		fmt.Fprintf(c.out, "killed %s\n", name)
	}
	return failed
}

// killNone is kill without a daemon: --all has nothing to do, names are unknown.
func (c *cli) killNone(names []string) error {
	var failed error
	for _, name := range names {
		failed = firstCode(failed, report(c.stderr, noSession(name)))
	}
	return failed
}

// firstCode keeps the exit code of the first failure.
func firstCode(first error, code int) error {
	if first != nil {
		return first
	}
	return exitStatus(code)
}
