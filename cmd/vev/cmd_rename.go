package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdRename() *cobra.Command {
	return &cobra.Command{
		Use:               "rename OLD NEW",
		Short:             "Give a session another name",
		Long:              "Give a session another name: " + domain.NameRule + ".",
		Example:           `  vev rename 0 work`,
		Args:              namedCount(2, 2, 2),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			if err := domain.CheckName(args[1]); err != nil {
				return err
			}
			_, err := c.act(cmd.Context(), a, 0, &protocol.Rename{Session: a.Name, Name: args[1]})
			return err
		}),
	}
}
