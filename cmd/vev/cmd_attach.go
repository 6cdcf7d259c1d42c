package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdAttach() *cobra.Command {
	var create bool
	var l looks
	var a protocol.Attach
	cmd := &cobra.Command{
		Use:     "attach [NAME] [--create] [--read-only] [--take] [--inline] [--nest] [--predict WHEN]",
		Aliases: []string{"a"},
		Short:   "Attach this terminal to a session",
		Long: `Attach this terminal to a session: without a name, to the one used last. ` + addressHelp + `
Ctrl-\ d detaches and Ctrl-\ ? shows the keys. On a slow link keys are shown before the session's
answer, underlined on a bad one; of a program that does not echo, as for a password, nothing
is shown. When the program ends, its status is the exit code.`,
		Example: `  vev attach
  vev a work
  vev attach work --create
  vev attach desk:work
  vev attach work --take
  vev attach work --read-only`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := addressIn(args, 0)
			if err != nil {
				return err
			}
			a.Session = address.Name
			if create {
				if a.Create, err = (newOptions{address: address}).create(nil); err != nil {
					return err
				}
			}
			return c.attach(cmd.Context(), address.Host, &a, l)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&create, "create", false, "make the session if it is not there")
	f.BoolVar(&a.ReadOnly, "read-only", false, "only look, scroll and copy: neither keys nor size reach the session")
	f.BoolVar(&a.Take, "take", false, "detach the other clients")
	l.flags(cmd)
	return cmd
}
