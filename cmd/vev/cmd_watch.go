package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdWatch() *cobra.Command {
	var l looks
	cmd := &cobra.Command{
		Use:   "watch [NAME] [--nest]",
		Short: "Watch a session without touching it",
		Long: `Show a session in this terminal as it goes on: without a name, the one used last. ` + addressHelp + `
Nothing that is typed reaches the session, nor does this terminal's size: a smaller one shows
the part with the cursor. q leaves; PageUp, k, / and the wheel scroll, search and copy, as
Ctrl-\ [ does in an attached session. When the program ends, its status is the exit code.`,
		Example: `  vev watch
  vev watch build
  vev watch desk:build`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := addressIn(args, 0)
			if err != nil {
				return err
			}
			l.watch = true
			return c.attach(cmd.Context(), address.Host, &protocol.Attach{Session: address.Name, ReadOnly: true}, l)
		},
	}
	cmd.Flags().BoolVar(&l.nest, "nest", false, "watch even inside a session")
	return cmd
}
