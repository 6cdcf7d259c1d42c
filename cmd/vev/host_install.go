package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdHostInstall() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Copy vev to a machine",
		Long: `Copy this vev to a machine, which need not be on the list, as ~/.local/bin/vev, over ssh.
That is where commands look first, so it need not be in PATH there.

For a machine of another kind the file vev-OS-ARCH is copied, such as vev-linux-arm64,
which must be beside this vev or in ../share/vev from there. The copy is tried before
it takes its place, in one step; what runs there goes on with what it was.`,
		Example:           "  vev host install desk",
		ValidArgsFunction: c.completeHosts(firstOnly),
	}
	cmd.Args, cmd.RunE = hostArg(func(ctx context.Context, _ *cobra.Command, host domain.Host) error {
		program, err := thisProgram()
		if err != nil {
			return err
		}
		m := protocol.Mutation{Kind: protocol.Reconcile, Host: host.String(), Install: true, Program: program}
		return c.operate(ctx, host, m, reporter{c: c, steps: true}.told)
	})
	return cmd
}
