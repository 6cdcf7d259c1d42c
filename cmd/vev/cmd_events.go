package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// eventOptions are those of vev events.
type eventOptions struct {
	all   bool
	types []string
	ask   protocol.WatchEvents
	most  int
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
type "gap", from and to says that events in between are not kept any more. It goes on
where it was when the broker or a link is lost; no event comes twice. It ends with
the session, with Ctrl-C, or after --count events.`,
		Example: `  vev events work --type command-end | jq .status
  vev events --all --since 0
  vev events --all desk --type bell --type notification
  vev events work --since 1700000000000042 --count 1`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.ask.Types, err = eventSet(cmd, o.types); err != nil {
				return err
			}
			o.ask.Live = !cmd.Flags().Changed("since")
			if o.most < 0 {
				return usage(cmd, "events: --count is 0 or more")
			}
			host, err := o.where(cmd, args)
			if err != nil {
				return err
			}
			return c.events(cmd.Context(), host, &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "of every session of this machine or HOST")
	f.Uint64Var(&o.ask.Since, "since", 0, "first what came after event `SEQ`; 0: all that is kept")
	f.StringArrayVar(&o.types, "type", nil, "only events of `TYPE`; may be given again")
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

// where is the host, and with it the session that is asked about.
func (o *eventOptions) where(cmd *cobra.Command, args []string) (domain.Host, error) {
	switch {
	case o.all && len(args) == 0:
		return domain.Host{}, nil
	case o.all:
		return domain.ParseHost(args[0])
	case len(args) == 0:
		return domain.Host{}, usage(cmd, "events: give a session or --all")
	}
	a, err := domain.ParseAddress(args[0])
	if err == nil && a.Name == "" {
		err = usage(cmd, "events: %q names no session; --all %s is all of a machine", args[0], strings.TrimSuffix(args[0], ":"))
	}
	o.ask.Session = a.Name
	return a.Host, err
}

// events begins again behind the last event whenever the conversation is lost.
func (c *cli) events(ctx context.Context, host domain.Host, o *eventOptions) error {
	told := 0
	for pause := talk.FirstPause; ; pause *= 2 {
		d := c.asking(host, protocol.ExistingOnly)
		conn, err := d.Dial(ctx)
		if talk.IsNoDaemon(err) {
			err = talk.NoSession(domain.Address{Host: host, Name: o.ask.Session})
		}
		if err != nil {
			return talk.At(host, err)
		}
		before := told
		ended, err := c.follow(conn, o, &told)
		_ = conn.Close()
		if kind := fault.KindOf(err); ended || err != nil && kind != fault.Unavailable {
			return talk.At(host, err)
		}
		if told > before {
			pause = talk.FirstPause
		}
		if !talk.Sleep(ctx, min(pause, talk.LastPause)) {
			return nil
		}
	}
}

// follow prints what one conversation tells; ended: there is nothing more to come.
func (c *cli) follow(conn ports.SessionClientConn, o *eventOptions, told *int) (ended bool, err error) {
	if err := conn.Send(&protocol.Watch{Events: &o.ask}); err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "the connection was lost")
	}
	for {
		m, err := conn.Receive()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case fault.KindOf(err) == fault.Violation:
			return true, err
		case err != nil:
			return false, fault.Wrap(fault.Unavailable, err, "the connection was lost")
		}
		switch m := m.(type) {
		case *protocol.Refused:
			return true, m.Failure.Fault()
		case *protocol.Watching:
			if m.Events == nil {
				return true, fault.New(fault.Unsupported, "the daemon does not tell of events").WithHint("upgrade the host's vev")
			}
			if m.Events.Failure != nil {
				return true, m.Events.Failure.Fault()
			}
		case *protocol.WatchedEvents:
			if ended, err = c.printEvents(m, o, told); ended || err != nil {
				return true, err
			}
		}
	}
}

func (c *cli) printEvents(m *protocol.WatchedEvents, o *eventOptions, told *int) (ended bool, err error) {
	if m.Gap != (protocol.EventGap{}) {
		fmt.Fprintf(c.out, "{\"type\":\"gap\",\"from\":%d,\"to\":%d}\n", m.Gap.From, m.Gap.To)
	}
	for i := range m.Events {
		e := &m.Events[i]
		if e.Type == 0 {
			continue // of a newer daemon
		}
		line, err := json.Marshal(e)
		if err != nil {
			return true, err
		}
		_, _ = c.out.Write(append(line, '\n'))
		*told++
		if o.ask.Session != "" {
			o.ask.Session = e.Session.String() // it may be renamed
		}
		if *told == o.most || o.ask.Session != "" && e.Type == domain.EventExited {
			ended = true
			break
		}
	}
	if err := c.out.Flush(); err != nil {
		return true, nil // nobody reads
	}
	o.ask.Live, o.ask.Since = false, m.Last
	return ended, nil
}
