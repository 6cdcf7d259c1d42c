package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
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
			screen, err := c.capture(cmd.Context(), a, history)
			switch {
			case err != nil:
				return err
			case asJSON:
				return c.printJSON(captureJSON(screen))
			case ansi:
				return c.printANSI(screen)
			}
			for _, line := range screen.Lines.List {
				fmt.Fprintln(c.out, line.Text)
			}
			return nil
		}),
	}
	cmd.Flags().IntVar(&history, "history", 0, "up to `N` lines of history before the screen")
	cmd.Flags().BoolVar(&ansi, "ansi", false, "with styles, as escape sequences")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

// capture gets the screen, and the history above it in as many requests as that takes. Lines
// are asked for by number, so what scrolls meanwhile makes neither a gap nor a repeat.
func (c *cli) capture(ctx context.Context, a domain.Address, history int) (*protocol.Captured, error) {
	t, err := c.beginAt(ctx, a)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	answer, err := talk.BodyOf[*protocol.Captured](t.Ask(0, &protocol.Capture{Session: a.Name, HistoryLines: history}))
	if err != nil {
		return nil, err
	}
	screen := *answer
	screen.Modes = slices.Clone(answer.Modes)
	screen.Lines.List = keep(answer.Lines.List)
	if !answer.Lines.More {
		return &screen, nil
	}
	older, err := olderLines(t, a.Name, screen.Lines.First, history-(len(screen.Lines.List)-screen.Size.Rows))
	if err != nil {
		return nil, err
	}
	if len(older) > 0 {
		screen.Lines.First = older[0].N
		screen.Lines.List = append(older, screen.Lines.List...)
	}
	return &screen, nil
}

// olderLines gets up to count lines that end before line end, oldest first.
func olderLines(t *talk.Talk, session string, end uint64, count int) ([]protocol.Line, error) {
	var parts [][]protocol.Line
	for count > 0 && end > 0 {
		n := min(uint64(count), protocol.MaxHistoryLines, end)
		answer, err := talk.BodyOf[*protocol.Lines](t.Ask(0, &protocol.History{Session: session, First: end - n, Count: int(n)}))
		if err != nil {
			return nil, err
		}
		part := keep(answer.List)
		for len(part) > 0 && part[len(part)-1].N >= end {
			part = part[:len(part)-1]
		}
		if len(part) == 0 {
			break
		}
		parts = append(parts, part)
		count -= len(part)
		if part[0].N != end-n {
			break // older lines are not kept any more
		}
		end = part[0].N
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// keep copies lines out of an answer, which is valid until the next one only.
func keep(lines []protocol.Line) []protocol.Line {
	kept := slices.Clone(lines)
	for i := range kept {
		kept[i].Runs = slices.Clone(kept[i].Runs)
	}
	return kept
}
