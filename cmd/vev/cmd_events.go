package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// eventOptions are those of vev events.
type eventOptions struct {
	all  bool
	ask  client.WatchOptions
	most int
}

func (c *cli) cmdEvents() *cobra.Command {
	var o eventOptions
	cmd := &cobra.Command{
		Use:   "events [NAME | --all [HOST]] [--since SEQ] [--type T] [--count N]",
		Short: "Tell what happens in sessions, as JSON lines",
		Long: `Tell what happens in a session, or in all of a machine, as one line of JSON each:
seq, at, session (its id), name, type, and what the type has of title, text, count,
client, cols, rows, status and took_ms. Types are

  ` + typesHelp() + `

Without --since only what happens from now on is told, with --since SEQ what came after
that event first, with --since 0 all that is kept: 256 events of each session. A line with
type "gap", from and to says that events in between are not kept any more, one with type
"lost" and count, whatever types are asked for, that a program said too much at once to
be told. It goes on
where it was when the broker or a link is lost; no event comes twice. It ends with
the session, with Ctrl-C, or after --count events.`,
		Example: `  vev events work --type command-end | jq .status
  vev events --all --since 0
  vev events --all desk --type bell --type notification
  vev events work --since 1700000000000042 --count 1`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ask.Live = !cmd.Flags().Changed("since")
			if o.most < 0 {
				return usage(cmd, "events: --count is 0 or more")
			}
			if err := o.where(cmd, args); err != nil {
				return err
			}
			return c.events(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "of every session of this machine or HOST")
	f.Uint64Var(&o.ask.Since, "since", 0, "first what came after event `SEQ`; 0: all that is kept")
	f.StringArrayVar(&o.ask.Types, "type", nil, "only events of `TYPE`; may be given again")
	f.IntVar(&o.most, "count", 0, "end after `N` events")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(domain.EventNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// typesHelp is the types, some on each line.
func typesHelp() string {
	names := domain.EventNames()
	var lines []string
	for len(names) > 0 {
		n := min(8, len(names))
		lines, names = append(lines, strings.Join(names[:n], " ")), names[n:]
	}
	return strings.Join(lines, "\n  ")
}

// where says what is watched.
func (o *eventOptions) where(cmd *cobra.Command, args []string) error {
	switch {
	case o.all && len(args) == 0:
		return nil
	case o.all:
		o.ask.Host = args[0]
		return nil
	case len(args) == 0:
		return usage(cmd, "events: give a session or --all")
	}
	a, err := domain.ParseAddress(args[0])
	if err == nil && a.Name == "" {
		err = usage(cmd, "events: %q names no session; --all %s is all of a machine", args[0], strings.TrimSuffix(args[0], ":"))
	}
	o.ask.Session = args[0]
	return err
}

// errEnough ends a watch after the last event that was asked for, or when nobody reads any more.
var errEnough = errors.New("enough")

func (c *cli) events(ctx context.Context, o *eventOptions) error {
	options, err := c.clientOptions()
	if err != nil {
		return err
	}
	told := 0
	err = client.New(options).Watch(ctx, o.ask, client.Watcher{
		Gap: func(from, to uint64) error {
			return c.line(gapJSON{"gap", from, to})
		},
		Event: func(e client.Event) error {
			if err := c.line(e); err != nil {
				return err
			}
			if e.Type == domain.EventLost.String() {
				return nil // like a gap it is none of those that are counted
			}
			if told++; told == o.most {
				return errEnough
			}
			return nil
		},
	})
	if errors.Is(err, errEnough) || fault.KindOf(err) == fault.Canceled && err != nil {
		return nil
	}
	return err
}

type gapJSON struct {
	Type string `json:"type"`
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// line prints a value as one line of JSON, at once.
func (c *cli) line(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, _ = c.out.Write(append(line, '\n'))
	if c.out.Flush() != nil {
		return errEnough // nobody reads
	}
	return nil
}
