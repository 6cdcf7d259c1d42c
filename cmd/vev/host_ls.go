package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdHostLs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [--json]",
		Aliases: []string{"list"},
		Short:   "List the machines",
		Long: `List the machines that were added, without going to them.

As JSON the answer is an array of objects with name, address, transport (auto, ssh or
quic), start (needed or never) and added.`,
		Example: `  vev host ls
  vev host ls --json | jq -r '.[].name'`,
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return c.listHosts(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

type hostJSON struct {
	Name      string `json:"name"`
	Address   string `json:"address"`
	Transport string `json:"transport"`
	Start     string `json:"start"`
	Added     string `json:"added"`
}

func (c *cli) listHosts(asJSON bool) error {
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	if asJSON {
		out := make([]hostJSON, 0, len(hosts.Known))
		for _, k := range hosts.Known {
			out = append(out, hostJSON{
				k.Alias, k.Address.String(), k.Policy.Transport.String(), startText(k.Policy.Start), k.Added.Format(time.RFC3339),
			})
		}
		return c.printJSON(out)
	}
	if len(hosts.Known) == 0 {
		c.say("no machines; vev host add HOST adds one")
		return nil
	}
	now := time.Now()
	rows := [][]string{{"NAME", "ADDRESS", "TRANSPORT", "START", "ADDED"}}
	for _, k := range hosts.Known {
		rows = append(rows, []string{k.Alias, k.Address.String(), k.Policy.Transport.String(), startText(k.Policy.Start), age(now, k.Added)})
	}
	return writeTable(c.out, rows)
}

// completeHosts completes the names of the machines that were added, in the first most arguments.
func (c *cli) completeHosts(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.hostNames("", args), cobra.ShellCompDirectiveNoFileComp
	}
}

// hostNames are the names that are not among used, each with end behind it and its address as description.
func (c *cli) hostNames(end string, used []string) (names []cobra.Completion) {
	hosts, err := c.hosts()
	if err != nil {
		return nil
	}
	taken := map[string]bool{}
	for _, arg := range used {
		taken[arg] = true
	}
	for _, k := range hosts.Known {
		if !taken[k.Alias] {
			names = append(names, cobra.CompletionWithDesc(k.Alias+end, hostText(k)))
		}
	}
	return names
}

func hostText(k domain.KnownHost) string { return "host  " + k.Address.String() }
