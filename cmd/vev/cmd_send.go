package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdSend() *cobra.Command {
	var g guards
	cmd := &cobra.Command{
		Use:   "send NAME [--at-prompt] [--json] [--] TEXT...",
		Short: "Type text into a session",
		Long: `Type text into a session, as it is: nothing is added, not even Enter, and several
words are joined by one blank. Put -- before a text that begins with a dash. For
keys use vev key, for much text or text with line ends use vev paste.

As JSON the answer is one object with session and bytes; it comes when the program's
terminal has taken the text.`,
		Example: `  vev send work 'make test' && vev key work Enter
  vev send work --at-prompt -- make
  vev send work -- --help`,
		Args:              namedCount(2, -1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			text := strings.Join(args[1:], " ")
			if text == "" {
				return usage(cmd, "send: nothing to type")
			}
			return c.send(cmd.Context(), a, text, &g)
		}),
	}
	g.flags(cmd)
	return cmd
}

func (c *cli) send(ctx context.Context, a domain.Address, text string, g *guards) error {
	session, err := g.session(c, a)
	if err != nil {
		return err
	}
	if err := session.Type(ctx, text); err != nil {
		return err
	}
	return g.answer(c, entered{Session: session.Address(), Bytes: int64(len(text))})
}
