package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdRename() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename OLD NEW [--json]",
		Short: "Give a session another name",
		Long: "Give a session another name: " + domain.NameRule + `.

As JSON the answer is one object with session, by its new name, and renamed_from.`,
		Example:           `  vev rename 0 work`,
		Args:              namedCount(2, 2, 2),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			session, err := c.session(a)
			if err != nil {
				return err
			}
			if err := session.Rename(cmd.Context(), args[1]); err != nil || !asJSON {
				return err
			}
			now := domain.Address{Host: a.Host, Name: args[1]}
			return c.printJSON(renameJSON{Session: now.String(), From: a.String()})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

type renameJSON struct {
	Session string `json:"session"`
	From    string `json:"renamed_from"`
}
