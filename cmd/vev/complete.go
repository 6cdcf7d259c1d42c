package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/protocol"
)

// completeTimeout is how long a shell's Tab may wait for the names of the sessions.
const completeTimeout = 500 * time.Millisecond

// How many of a command's arguments are session names.
const (
	firstOnly = 1
	anyNumber = 1 << 30
)

// completeSessions completes the addresses of sessions in the first most arguments, and the names of hosts that
// a session's name may follow, without starting anything: what cannot be asked at once is not offered.
func (c *cli) completeSessions(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		names := append(c.sessionNames(ctx, args), c.addresses(ctx, args)...)
		hosts := c.hostNames(":", nil)
		if beginsOne(begun, hosts) && !beginsOne(begun, names) {
			return hosts, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return append(names, hosts...), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginsOne reports whether what was typed is the begin of a completion.
func beginsOne(begun string, all []cobra.Completion) bool {
	return slices.ContainsFunc(all, func(c cobra.Completion) bool { return strings.HasPrefix(c, begun) })
}

// addresses are those of the sessions on hosts that links lead to, without those among used.
func (c *cli) addresses(ctx context.Context, used []string) []cobra.Completion {
	var found []cobra.Completion
	for _, s := range c.warm(ctx).sessions {
		if s.Host == protocol.LocalHost {
			continue
		}
		if address := addressOf(&s); !slices.Contains(used, address) {
			found = append(found, cobra.CompletionWithDesc(address, printable(stateText(s.SessionInfo)+"  "+commandText(s.Command))))
		}
	}
	return found
}

// addressOf is how a person names a session of the catalogue.
func addressOf(s *catalogue.Session) string {
	host, err := domain.ParseHost(s.Host)
	if err != nil {
		return s.Name
	}
	return domain.Address{Host: host, Name: s.Name}.String()
}

// warmPatience is how long is waited for hosts that a link leads to and whose list is not known yet.
const warmPatience = 250 * time.Millisecond

// warm is what the broker knows without dialing, empty where it cannot be asked; it starts nothing.
func (c *cli) warm(ctx context.Context) *listing {
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	known, err := c.list(ctx, question{reach: protocol.ReachWarm, wait: warmPatience})
	if err != nil {
		return &listing{}
	}
	return known
}

// clientIDs lists the clients of the session that args name, with a description each.
func (c *cli) clientIDs(ctx context.Context, args []string) []cobra.Completion {
	a := domain.Address{Name: surroundingSession()}
	if len(args) > 0 {
		var err error
		if a, err = domain.ParseAddress(args[0]); err != nil || !a.Host.Local() {
			return nil // what is elsewhere cannot be asked at once
		}
	}
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	list, err := c.attachedClients(ctx, a)
	if err != nil {
		return nil
	}
	var ids []cobra.Completion
	for _, a := range list {
		ids = append(ids, cobra.CompletionWithDesc(clientID(a.Client), printable(domain.Size{Cols: a.Cols, Rows: a.Rows}.String()+"  "+a.Terminal+"  "+a.Host)))
	}
	return ids
}

// sessionNames lists the names that are not among used, with a description each.
func (c *cli) sessionNames(ctx context.Context, used []string) []cobra.Completion {
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	list, err := c.sessions(ctx, domain.Host{}, true)
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, s := range list {
		if !slices.Contains(used, s.Name) {
			names = append(names, cobra.CompletionWithDesc(s.Name, printable(stateText(s)+"  "+commandText(s.Command))))
		}
	}
	return names
}
