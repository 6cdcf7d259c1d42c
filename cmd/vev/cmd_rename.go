package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
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
			session, err := c.session(a)
			if err != nil {
				return err
			}
			return session.Rename(cmd.Context(), args[1])
		}),
	}
}
