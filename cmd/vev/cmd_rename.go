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
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := domain.CheckName(args[1]); err != nil {
				return err
			}
			_, err := c.act(cmd.Context(), args[0], 0, &protocol.Rename{Session: args[0], Name: args[1]})
			return err
		},
	}
}
