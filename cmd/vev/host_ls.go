package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdHostLs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [--json]",
		Aliases: []string{"list"},
		Short:   "List the machines",
		Long: `List the machines that were added, without going to them, and what is known of the link to
each that is open: its state, what carries it, and why that.

As JSON the answer is an array of objects with name, address, transport (auto, ssh or
quic), start (needed or never), added and link (none, connecting, connected, slow, no
contact, reconnecting or gone); over (ssh or quic), why, last_contact and error where
they are known.`,
		Example: `  vev host ls
  vev host ls --json | jq -r '.[].name'`,
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.listHosts(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

type hostJSON struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	Transport   string `json:"transport"`
	Start       string `json:"start"`
	Added       string `json:"added"`
	Link        string `json:"link"`
	Over        string `json:"over,omitempty"`
	Why         string `json:"why,omitempty"`
	LastContact string `json:"last_contact,omitempty"`
	Error       string `json:"error,omitempty"`
}

func (c *cli) listHosts(ctx context.Context, asJSON bool) error {
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	if len(hosts.Known) == 0 && !asJSON {
		c.say("no machines; vev host add HOST adds one")
		return nil
	}
	known := c.warm(ctx)
	now := time.Now()
	list := make([]hostJSON, 0, len(hosts.Known))
	rows := [][]string{{"NAME", "ADDRESS", "TRANSPORT", "START", "ADDED", "LINK"}}
	for _, k := range hosts.Known {
		link, _ := known.host(k.Alias)
		list = append(list, newHostJSON(k, link))
		rows = append(rows, []string{
			k.Alias, k.Address.String(), k.Policy.Transport.String(), startText(k.Policy.Start), age(now, k.Added), linkText(now, link),
		})
	}
	if asJSON {
		return c.printJSON(list)
	}
	return writeTable(c.out, rows)
}

func newHostJSON(k domain.KnownHost, link catalogue.Host) hostJSON {
	j := hostJSON{
		Name: k.Alias, Address: k.Address.String(), Transport: k.Policy.Transport.String(), Start: startText(k.Policy.Start),
		Added: k.Added.Format(time.RFC3339), Link: link.Link.String(), Why: fault.Clean(link.Why),
	}
	if link.Transport != domain.TransportAuto {
		j.Over = link.Transport.String()
	}
	if !link.Heard.IsZero() {
		j.LastContact = link.Heard.Format(time.RFC3339Nano)
	}
	if link.Failure != nil {
		j.Error = fault.Clean(link.Failure.Error())
	}
	return j
}

// linkText says how a link is, over what and why over that; of one that is not, when there was contact last.
func linkText(now time.Time, h catalogue.Host) string {
	if h.Link == domain.LinkNone {
		return "-"
	}
	says := h.Link.String()
	if h.Transport != domain.TransportAuto {
		says += ", " + h.Transport.String()
	}
	switch {
	case h.Why != "":
		says += ": " + h.Why
	case h.Failure != nil:
		says += ": " + h.Failure.Error()
	}
	if h.Link != domain.LinkConnected && !h.Heard.IsZero() {
		says += ", last contact " + age(now, h.Heard)
	}
	return says
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
