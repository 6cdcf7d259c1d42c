package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/hostfile"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdHost() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Add, check and set up other machines",
		Long: `Keep a list of the machines that you use, each by a name of its own: desk:work is then
the session work there, whatever its address. A machine need not be added to be
used: every command takes what ssh takes.`,
		Example: `  vev host add ann@desk.example.org --name desk
  vev host ls
  vev host check desk`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{
		c.cmdHostAdd(), c.cmdHostSet(), c.cmdHostRm(), c.cmdHostLs(), c.cmdHostCheck(), c.cmdHostInstall(),
	} {
		sub.DisableFlagsInUseLine = true
		cmd.AddCommand(sub)
	}
	return cmd
}

// policyFlags are the flags of what can be set for a host.
type policyFlags struct{ transport, start string }

const (
	startNeeded = "needed"
	startNever  = "never"
)

func (p *policyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.transport, "transport", domain.TransportAuto.String(), "reach it by `HOW`: auto, ssh or quic")
	cmd.Flags().StringVar(&p.start, "start", startNeeded, "start a daemon there when `WHEN`: needed or never")
	complete := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	_ = cmd.RegisterFlagCompletionFunc("transport", complete("auto", "ssh", "quic")) // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("start", complete(startNeeded, startNever))
}

// policy is what the flags that were given make of old.
func (p *policyFlags) policy(cmd *cobra.Command, old domain.HostPolicy) (domain.HostPolicy, error) {
	var err error
	if cmd.Flags().Changed("transport") {
		if old.Transport, err = domain.ParseTransport(p.transport); err != nil {
			return old, err
		}
	}
	if cmd.Flags().Changed("start") {
		switch p.start {
		case startNeeded:
			old.Start = domain.StartIfNeeded
		case startNever:
			old.Start = domain.ExistingOnly
		default:
			return old, fault.New(fault.Usage, "--start %s cannot be", p.start).WithHint("it is needed or never")
		}
	}
	return old, nil
}

func startText(s domain.StartPolicy) string {
	if s == domain.ExistingOnly {
		return startNever
	}
	return startNeeded
}

// hostArg takes exactly one argument, a host.
func hostArg(run func(ctx context.Context, cmd *cobra.Command, host domain.Host) error) (cobra.PositionalArgs, func(*cobra.Command, []string) error) {
	return argCount(1, 1), func(cmd *cobra.Command, args []string) error {
		host, err := domain.ParseHost(args[0])
		if err != nil {
			return err
		}
		return run(cmd.Context(), cmd, host)
	}
}

// hosts is the list as it is kept. It starts nothing.
func (c *cli) hosts() (domain.Hosts, error) {
	dir, err := rundir.Open()
	if err != nil {
		return domain.Hosts{}, err
	}
	hosts, notice, err := hostfile.In(dir.State()).Load()
	if notice != nil {
		c.notice(notice)
	}
	return hosts, err
}

// notice says what somebody should know although nothing failed.
func (c *cli) notice(f *fault.Error) {
	c.say("vev: " + fault.Clean(f.Msg))
	if f.Hint != "" {
		c.say("hint: " + fault.Clean(f.Hint))
	}
}

// operate has the broker carry out an operation that reaches host, or with the zero value none, and waits for its end. told
// hears of each step.
func (c *cli) operate(ctx context.Context, host domain.Host, m protocol.Mutation, told func(protocol.Progress)) error {
	return c.asking(host, protocol.StartIfNeeded).Operate(ctx, m, told)
}

// thisProgram is the path of this vev, for the broker to copy.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "this program cannot be found")
	}
	return path, nil
}
