package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdCapture() *cobra.Command {
	var history int
	var ansi, asJSON bool
	cmd := &cobra.Command{
		Use:   "capture NAME [--history N] [--ansi | --json]",
		Short: "Print what a session shows",
		Long: `Print the screen of a session as text, one line a row. An exited session stays
listed: only attaching counts as looking at it.

  --history N  up to N lines that scrolled off, before the screen
  --ansi       with colours and attributes, as escape sequences
  --json       as one object: cols, rows, cursor{row,col,visible,style} from 1,
               alternate, title, cwd, modes[], first_line and
               lines[{n,text,wrapped,runs[{col,len,fg,bg,underline,attrs[],link}]}].
               A run is a stretch of cells whose style is not the default; a colour
               is "#rrggbb" or the number of a palette entry.`,
		Example: `  vev capture work
  vev capture work --history 1000 > log.txt
  vev capture work --json | jq -r '.lines[].text'`,
		Args:              namedCount(1, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, _ []string) error {
			switch {
			case history < 0:
				return usage(cmd, "capture: --history is 0 or more lines")
			case ansi && asJSON:
				return usage(cmd, "capture: --ansi and --json exclude each other")
			}
			if ansi {
				return c.captureANSI(cmd.Context(), a, history)
			}
			session, err := c.session(a)
			if err != nil {
				return err
			}
			screen, err := session.Capture(cmd.Context(), history)
			switch {
			case err != nil:
				return err
			case asJSON:
				return c.printJSON(screen)
			}
			fmt.Fprint(c.out, screen.Text())
			return nil
		}),
	}
	cmd.Flags().IntVar(&history, "history", 0, "up to `N` lines of history before the screen")
	cmd.Flags().BoolVar(&ansi, "ansi", false, "with styles, as escape sequences")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

func (c *cli) captureANSI(ctx context.Context, a domain.Address, history int) error {
	t, err := c.beginAt(ctx, a)
	if err != nil {
		return err
	}
	defer t.Close()
	screen, err := t.Capture(a.Name, history)
	if err != nil {
		return err
	}
	return c.printANSI(screen)
}
