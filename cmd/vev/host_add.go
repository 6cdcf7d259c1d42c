package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdHostAdd() *cobra.Command {
	var flags policyFlags
	var alias string
	var install bool
	cmd := &cobra.Command{
		Use:   "add HOST [--name ALIAS] [--transport auto|ssh|quic] [--start needed|never] [--install]",
		Short: "Add a machine to the list",
		Long: `Add a machine to the list, by the name that ALIAS says, or else by its own, and see
whether it can be reached. HOST is what ssh takes: a Host of its configuration,
USER@HOST, [IPV6] or ssh://USER@HOST:PORT. One that cannot be reached now is added
all the same.

With --install vev is copied there first, as vev host install does it, unless one
is there that will do; when that fails, nothing is added. Without it nothing is
installed.`,
		Example: `  vev host add desk
  vev host add ssh://ann@203.0.113.7:2222 --name box --install
  vev host add build --transport ssh`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&alias, "name", "", "know it by `ALIAS`")
	cmd.Flags().BoolVar(&install, "install", false, "copy vev there if there is none that will do")
	cmd.Args, cmd.RunE = hostArg(func(ctx context.Context, cmd *cobra.Command, host domain.Host) error {
		policy, err := flags.policy(cmd, domain.HostPolicy{})
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("name") {
			alias, err = domain.AliasOf(host)
		} else {
			err = domain.CheckAlias(alias)
		}
		if err != nil {
			return err
		}
		return c.addHost(ctx, domain.KnownHost{Alias: alias, Address: host, Policy: policy}, install)
	})
	return cmd
}

func (c *cli) addHost(ctx context.Context, k domain.KnownHost, install bool) error {
	m := protocol.Mutation{
		Kind: protocol.AddHost, Host: k.Address.String(), Alias: k.Alias, Transport: k.Policy.Transport, Start: k.Policy.Start, Install: install,
	}
	reached := domain.Host{}
	if install {
		var err error
		if m.Program, err = thisProgram(); err != nil {
			return err
		}
		reached = k.Address
	}
	r := reporter{c: c, steps: install}
	if err := c.operate(ctx, reached, m, r.told); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "added %s\n", k.Alias)
	if err := c.out.Flush(); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot write the answer")
	}
	t, err := c.begin(ctx, domain.Host{Name: k.Alias}, protocol.ExistingOnly)
	if talk.IsNoDaemon(err) {
		return nil // it was reached, and that is all
	}
	if err == nil {
		t.Close()
		return nil
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		late := *e
		late.Msg = k.Alias + " was added, but cannot be used now: " + strings.TrimPrefix(e.Msg, k.Alias+": ")
		return &late
	}
	return err
}
