package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdHostSet() *cobra.Command {
	var flags policyFlags
	cmd := &cobra.Command{
		Use:   "set HOST [--transport auto|ssh|quic] [--start needed|never]",
		Short: "Say how a machine is reached",
		Long: `Change what holds for a machine on the list; what is not given stays. auto begins with
ssh and moves to QUIC where that works; ssh and quic stay with one. With --start
never no command starts a daemon there: only what runs is reached.`,
		Example: `  vev host set desk --transport ssh
  vev host set desk --start never`,
		ValidArgsFunction: c.completeHosts(firstOnly),
	}
	flags.add(cmd)
	cmd.Args, cmd.RunE = hostArg(func(ctx context.Context, cmd *cobra.Command, host domain.Host) error {
		if cmd.Flags().NFlag() == 0 {
			return usage(cmd, "set: nothing to set")
		}
		hosts, err := c.hosts()
		if err != nil {
			return err
		}
		alias := hosts.Named(host.String())
		known, _ := hosts.Find(alias)
		policy, err := flags.policy(cmd, known.Policy)
		if err != nil {
			return err
		}
		m := protocol.Mutation{Kind: protocol.UpdateHostPolicy, Host: alias, Transport: policy.Transport, Start: policy.Start}
		if err := c.operate(ctx, domain.Host{}, m, reporter{c: c}.told); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s: transport %s, start %s\n", alias, policy.Transport, startText(policy.Start))
		return nil
	})
	return cmd
}
