package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdDetach() *cobra.Command {
	return &cobra.Command{
		Use:   "detach [NAME]",
		Short: "Detach every client of a session",
		Long: `Detach every client of a session; its program goes on. Without a name, inside a
session: that session. The key for it is Ctrl-\ d.`,
		Example: `  vev detach work
  vev detach`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := surroundingSession()
			if len(args) > 0 {
				name = args[0]
			}
			if name == "" {
				return usage(cmd, "detach: which session? this is not inside one")
			}
			_, err := c.act(cmd.Context(), name, 0, &protocol.DetachAll{Session: name})
			return err
		},
	}
}
