package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdResize() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "resize NAME (SIZE|POLICY) [--json]",
		Short: "Say which size a session has",
		Long: `Say which size a session has from now on: columns and rows, like 132x43, which stay
whatever terminals attach; or whose size it has:

  latest     that of the client used last: attached, typed in, or focused
  smallest   what fits into the terminals of all its clients
  largest    the most columns and the most rows that one of its clients has
  fixed      the size it has now

Read-only clients never count. A client whose terminal is smaller than the session
shows the part with the cursor, a larger one a border.

As JSON the answer is one object with session and size, as it was asked for.`,
		Example: `  vev resize work 132x43
  vev resize work smallest
  vev resize work latest`,
		Args: namedCount(2, 2, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return sizePolicies(), cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeSessions(firstOnly)(cmd, args, typed)
		},
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			if err := c.resize(cmd.Context(), a, args[1]); err != nil || !asJSON {
				return err
			}
			return c.printJSON(resizeJSON{Session: a.String(), Size: args[1]})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

type resizeJSON struct {
	Session string `json:"session"`
	Size    string `json:"size"`
}

func (c *cli) resize(ctx context.Context, a domain.Address, to string) error {
	session, err := c.session(a)
	if err != nil {
		return err
	}
	if strings.ContainsAny(to, "0123456789") {
		size, err := parseSize(to)
		if err != nil {
			return err
		}
		return session.Resize(ctx, size.Cols, size.Rows)
	}
	if _, err := domain.ParseSizePolicy(to); err != nil {
		return fault.New(fault.Usage, "resize: bad size %q", to).
			WithHint("give columns and rows, like 132x43, or latest, smallest, largest or fixed")
	}
	return session.FollowSize(ctx, to)
}

// sizePolicies are the names of the policies, for completion.
func sizePolicies() (names []cobra.Completion) {
	for p := domain.SizePolicy(0); p.Valid(); p++ {
		names = append(names, p.String())
	}
	return names
}
