package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdLock() *cobra.Command {
	var unlock, asJSON bool
	var author string
	cmd := &cobra.Command{
		Use:   "lock NAME [--unlock] [--json]",
		Short: "Let only attached people type in a session",
		Long: `Lock a session: only who is attached may type in it, and vev send, key, paste and run are
refused, until it is unlocked. Programs can look at it, wait for it and capture it still.

As JSON the answer is one object with session and locked.`,
		Example: `  vev lock work
  vev lock work --unlock`,
		Args:              namedCount(1, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, _ []string) error {
			session, err := c.sessionAs(a, author)
			if err != nil {
				return err
			}
			if err := session.Lock(cmd.Context(), !unlock); err != nil || !asJSON {
				return err
			}
			return c.printJSON(lockJSON{Session: session.Address(), Locked: !unlock})
		}),
	}
	cmd.Flags().BoolVar(&unlock, "unlock", false, "let programs type again")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	authorFlag(cmd, &author)
	return cmd
}

type lockJSON struct {
	Session string `json:"session"`
	Locked  bool   `json:"locked"`
}
