package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdSend() *cobra.Command {
	var g guards
	cmd := &cobra.Command{
		Use:   "send NAME [--at-prompt] [--] TEXT...",
		Short: "Type text into a session",
		Long: `Type text into a session, as it is: nothing is added, not even Enter, and several
words are joined by one blank. Put -- before a text that begins with a dash. For
keys use vev key, for much text or text with line ends use vev paste.`,
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

// send types text in pieces of what one input message holds, in order, each only after the one
// before was taken. What is guarded has to fit into one.
func (c *cli) send(ctx context.Context, a domain.Address, text string, g *guards) error {
	if (g.generation != 0 || g.atPrompt) && len(text) > protocol.MaxInputBytes {
		return fault.New(fault.Limit, "a guarded text has at most %d bytes, this one %d", protocol.MaxInputBytes, len(text)).
			WithHint("vev paste takes any size")
	}
	t, err := c.beginAt(ctx, a)
	if err != nil {
		return err
	}
	defer t.Close()
	for len(text) > 0 {
		n := min(len(text), protocol.MaxInputBytes)
		if _, err := t.Ask(0, g.request(&protocol.Type{Session: a.Name, Data: []byte(text[:n])})); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
