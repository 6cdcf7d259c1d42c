package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdPaste() *cobra.Command {
	var g guards
	cmd := &cobra.Command{
		Use:   "paste NAME [FILE] [--at-prompt] [--json]",
		Short: "Paste a file or the standard input into a session",
		Long: `Paste a file, or the standard input, into a session as a terminal would: between
paste markers when the program asked for them, without control characters, with
line ends as the Enter key sends them. Any size: it is given at the pace at which
the program reads, and Ctrl-C ends it.

As JSON the answer is one object with session and bytes, as they were read; it comes
when the program's terminal has taken the last of them.`,
		Example: `  vev paste work notes.txt
  git diff | vev paste work`,
		Args: namedCount(1, 2, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return c.sessionNames(cmd.Context(), nil), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			if len(args) == 1 || args[1] == "-" {
				return c.paste(cmd.Context(), a, c.in, &g)
			}
			f, err := os.Open(args[1])
			if err != nil {
				return fault.Wrap(fault.Usage, errors.Unwrap(err), "cannot read %s", args[1])
			}
			defer f.Close()
			return c.paste(cmd.Context(), a, f, &g)
		}),
	}
	g.flags(cmd)
	return cmd
}

func (c *cli) paste(ctx context.Context, a domain.Address, from io.Reader, g *guards) error {
	session, err := g.session(c, a)
	if err != nil {
		return err
	}
	counted := &counter{from: from}
	if err := session.Paste(ctx, counted); err != nil {
		return err
	}
	return g.answer(c, entered{Session: session.Address(), Bytes: counted.n})
}

// counter counts what is read.
type counter struct {
	from io.Reader
	n    int64
}

func (r *counter) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.n += int64(n)
	return n, err
}
