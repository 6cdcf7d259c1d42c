package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdDetach() *cobra.Command {
	var client string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "detach [NAME] [--client ID] [--json]",
		Short: "Detach the clients of a session",
		Long: `Detach every client of a session, or the one with the number that vev clients shows;
the program goes on. Without a name, inside a session: that session. The key for it
is Ctrl-\ d.

As JSON the answer is one object with session, and client where one was named.`,
		Example: `  vev detach work
  vev detach work --client 3
  vev detach`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			a := domain.Address{Name: surroundingSession()}
			if len(args) > 0 {
				var err error
				if a, err = domain.ParseAddress(args[0]); err != nil {
					return err
				}
			}
			if a == (domain.Address{}) {
				return usage(cmd, "detach: which session? this is not inside one")
			}
			answer := detachJSON{Session: a.String()}
			if cmd.Flags().Changed("client") {
				id, err := strconv.ParseUint(client, 10, 64)
				if err != nil {
					return fault.New(fault.Usage, "detach: bad client %q", client).WithHint("it is a number that vev clients shows")
				}
				answer.Client = &id
			}
			if err := c.detach(cmd.Context(), a, answer.Client); err != nil || !asJSON {
				return err
			}
			return c.printJSON(answer)
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "only the client with this `ID`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	_ = cmd.RegisterFlagCompletionFunc("client", func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.clientIDs(cmd.Context(), args), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

type detachJSON struct {
	Session string  `json:"session"`
	Client  *uint64 `json:"client,omitempty"`
}

// detach detaches one client of a session, or all.
func (c *cli) detach(ctx context.Context, a domain.Address, client *uint64) error {
	session, err := c.session(a)
	if err != nil {
		return err
	}
	if client == nil {
		return session.Detach(ctx)
	}
	return session.DetachClient(ctx, *client)
}
