package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/app/gallery"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdPreview() *cobra.Command {
	var all bool
	var l looks
	cmd := &cobra.Command{
		Use:   "preview [HOST]... [--all] [--inline] [--nest] [--predict WHEN]",
		Short: "Show many sessions live, and attach to one of them",
		Long: `Show the sessions of this machine, of each HOST, or with --all of every host that is known, all of
them live in this terminal. Arrow keys, Tab and h j k l choose one, Enter attaches to it, q
leaves. Looking changes nothing: neither keys nor size reach a session. What does not fit is
scrolled to, and only what can be seen costs anything, up to 29 pictures a second of a
session here and 8 of one elsewhere.`,
		Example: `  vev preview
  vev preview --all
  vev preview desk build`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usage(cmd, "preview: --all and hosts exclude each other")
			}
			return argCount(0, protocol.MaxHosts)(cmd, args)
		},
		ValidArgsFunction: c.completeHosts(anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			hosts := []string{protocol.LocalHost}
			if all {
				hosts = nil
			}
			for i, arg := range args {
				host, err := domain.ParseHost(arg)
				if err != nil {
					return err
				}
				hosts = append(hosts[:i], host.String())
			}
			return c.preview(cmd.Context(), hosts, l)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the sessions of every host that is known")
	l.flags(cmd)
	return cmd
}

// preview shows the sessions of hosts, of all without one, and attaches to the one that is chosen.
func (c *cli) preview(ctx context.Context, hosts []string, l looks) error {
	if err := mayAttach(domain.Host{}, &protocol.Attach{Session: "another"}, l.nest); err != nil {
		return err
	}
	if !tty.IsTerminal(c.in) || !tty.IsTerminal(c.stdout) {
		return fault.New(fault.Usage, "preview needs a terminal on standard input and output").
			WithHint("without one use vev ls and vev capture")
	}
	chosen, ok, err := c.choose(ctx, hosts)
	if err != nil || !ok {
		return err
	}
	return c.attach(ctx, chosen.Address.Host, &protocol.Attach{Session: chosen.ID.String()}, l)
}

// choose has the user choose one of the sessions of hosts.
func (c *cli) choose(ctx context.Context, hosts []string) (chosen ports.Session, ok bool, err error) {
	brokers := &brokers{hosts: hosts}
	defer brokers.close()
	if _, err := brokers.after(ctx, nil); err != nil {
		return chosen, false, err
	}
	terminal, err := tty.Open()
	if err != nil {
		return chosen, false, err
	}
	return gallery.Run(ctx, gallery.Options{
		Terminal: terminal, Capabilities: terminalEnvironment().Capabilities(),
		Sessions: &subscribed{brokers: brokers, around: surroundingSession()}, Pictures: brokers,
	})
}

// subscribed is the sessions of the catalogue that a broker tells, but for the one that this is shown in.
type subscribed struct {
	brokers *brokers
	around  string            // its id, or empty
	told    *brokeripc.Client // the last that told which there are
}

// Next implements ports.Sessions. A broker that ends is followed by another one, unless it has told nothing.
func (s *subscribed) Next(ctx context.Context) ([]ports.Session, error) {
	broker, err := s.brokers.after(ctx, nil)
	for err == nil {
		select {
		case <-broker.Changes():
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "the list was given up")
		}
		hosts, sessions, ready, listErr := broker.Listed()
		switch {
		case listErr != nil && broker == s.told && fault.KindOf(listErr) == fault.Unavailable:
			broker, err = s.brokers.after(ctx, broker)
		case listErr != nil:
			return nil, listErr
		case ready:
			s.told = broker
			return s.shown(hosts, sessions), nil
		}
	}
	return nil, err
}

func (s *subscribed) shown(hosts []catalogue.Host, sessions []catalogue.Session) []ports.Session {
	stale := map[string]bool{}
	for i := range hosts {
		stale[hosts[i].Name] = hosts[i].State == catalogue.Stale
	}
	list := []ports.Session{}
	sessions = catalogue.Once(hosts, sessions)
	for i := range sessions {
		row := &sessions[i]
		host, err := domain.ParseHost(row.Host)
		if row.Host == protocol.LocalHost {
			host, err = domain.Host{}, nil
		}
		if err != nil || host.Local() && row.ID.String() == s.around {
			continue
		}
		shown := ports.Session{Address: domain.Address{Host: host, Name: row.Name}, ID: row.ID, Title: printable(row.Title)}
		if shown.State = printable(stateText(row.SessionInfo)); stale[row.Host] {
			shown.State = "out of reach"
		} else if shown.State == domain.Running.String() {
			shown.State = ""
		}
		list = append(list, shown)
	}
	return list
}
