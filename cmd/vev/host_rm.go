package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdHostRm() *cobra.Command {
	return &cobra.Command{
		Use:   "rm HOST...",
		Short: "Take machines off the list",
		Long: `Take machines off the list. Nothing changes on them: their sessions go on, and can still
be reached by address.`,
		Example:           "  vev host rm desk",
		Args:              argCount(1, -1),
		ValidArgsFunction: c.completeHosts(anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if _, err := domain.ParseHost(arg); err != nil {
					return err
				}
			}
			var failed error
			for _, arg := range args { // one that fails does not keep the others
				m := protocol.Mutation{Kind: protocol.RemoveHost, Host: arg}
				if err := c.operate(cmd.Context(), domain.Host{}, m, reporter{c: c}.told); err != nil {
					failed = firstCode(failed, report(c.stderr, err))
					continue
				}
				fmt.Fprintf(c.out, "removed %s\n", arg)
			}
			return failed
		},
	}
}
