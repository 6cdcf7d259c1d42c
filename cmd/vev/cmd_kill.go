package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdKill() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "kill (NAME... | --all) [--json]",
		Short: "End sessions and their programs",
		Long: `End sessions: their programs are hung up on, and killed if they do not end then.
Each session that ended is named on a line; the exit code is not 0 when one
could not be ended. As JSON the answer is one array of objects with session and killed,
and error where that is false.`,
		Example: `  vev kill work
  vev kill work build 3
  vev kill desk:work
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
			return c.kill(cmd.Context(), args, all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end every session")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

// kill ends each session by itself: one that fails does not keep the others.
func (c *cli) kill(ctx context.Context, args []string, all, asJSON bool) error {
	var victims []domain.Address
	for _, arg := range args {
		a, err := domain.ParseAddress(arg)
		if err != nil {
			return err
		}
		victims = append(victims, a)
	}
	talks := talks{c: c, ctx: ctx, of: map[domain.Host]*talk.Talk{}}
	defer talks.close()
	if all {
		var err error
		if victims, err = talks.here(); err != nil {
			return err
		}
	}
	var failed error
	answer := []killJSON{}
	for _, a := range victims {
		err := talks.kill(a)
		if all && fault.KindOf(err) == fault.NotFound && err != nil {
			continue // it ended by itself in between
		}
		if err != nil {
			failed = firstCode(failed, report(c.stderr, err))
			answer = append(answer, killJSON{Session: a.String(), Error: fault.Clean(err.Error())})
			continue
		}
		answer = append(answer, killJSON{Session: a.String(), Killed: true})
		if !asJSON {
			fmt.Fprintf(c.out, "killed %s\n", a)
		}
	}
	if asJSON {
		if err := c.printJSON(answer); err != nil {
			return err
		}
	}
	return failed
}

type killJSON struct {
	Session string `json:"session"`
	Killed  bool   `json:"killed"`
	Error   string `json:"error,omitempty"`
}

// talks are one conversation with each host.
type talks struct {
	c   *cli
	ctx context.Context
	of  map[domain.Host]*talk.Talk
}

func (t *talks) with(host domain.Host) (*talk.Talk, error) {
	if known := t.of[host]; known != nil {
		return known, nil
	}
	begun, err := t.c.begin(t.ctx, host, protocol.ExistingOnly)
	if err == nil {
		t.of[host] = begun
	}
	return begun, err
}

// here are the sessions of this machine; none where there is no daemon.
func (t *talks) here() (list []domain.Address, err error) {
	with, err := t.with(domain.Host{})
	if talk.IsNoDaemon(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sessions, err := listOf(with, true)
	for i := range sessions {
		list = append(list, domain.Address{Name: sessions[i].Name})
	}
	return list, err
}

func (t *talks) kill(a domain.Address) error {
	with, err := t.with(a.Host)
	if err == nil {
		_, err = with.Ask(0, &protocol.Kill{Session: a.Name})
	}
	if talk.IsNoDaemon(err) {
		return talk.NoSession(a)
	}
	return err
}

func (t *talks) close() {
	for _, begun := range t.of {
		begun.Close()
	}
}

// firstCode keeps the exit code of the first failure.
func firstCode(first error, code int) error {
	if first != nil {
		return first
	}
	return exitStatus(code)
}
