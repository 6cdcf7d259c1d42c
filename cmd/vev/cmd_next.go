package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdNext() *cobra.Command {
	var l looks
	cmd := &cobra.Command{
		Use:   "next [HOST]",
		Short: "Attach to the session that has wanted you the longest",
		Long: `Attach to the session, of this machine or of HOST, that has wanted a person for the
longest time: by a bell, a notification, or a program that says it is blocked. vev ls --wants
lists them. Whoever attaches is who was wanted: the session wants nobody then.`,
		Example: `  vev next
  vev next desk`,
		Args:              argCount(0, 1),
		ValidArgsFunction: c.completeHosts(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			var host domain.Host
			if len(args) > 0 {
				var err error
				if host, err = domain.ParseHost(args[0]); err != nil {
					return err
				}
			}
			id, err := c.wanting(cmd.Context(), host)
			if err != nil {
				return err
			}
			return c.attach(cmd.Context(), host, &protocol.Attach{Session: id}, l)
		},
	}
	l.flags(cmd)
	return cmd
}

// wanting is the id of the session that has wanted a person the longest.
func (c *cli) wanting(ctx context.Context, host domain.Host) (string, error) {
	list, err := c.sessions(ctx, host, true)
	if err != nil {
		return "", err
	}
	list = wants(list)
	if len(list) == 0 {
		return "", fault.New(fault.NotFound, "no session wants you").WithHint("vev ls shows what they do")
	}
	best := list[0]
	for _, s := range list[1:] {
		if s.Condition.Since.Before(best.Condition.Since) {
			best = s
		}
	}
	return best.ID.String(), nil
}

// wants are the sessions that want a person.
func wants(list []domain.SessionInfo) (wanting []domain.SessionInfo) {
	for _, s := range list {
		if s.Condition.Activity == domain.Attention {
			wanting = append(wanting, s)
		}
	}
	return wanting
}
