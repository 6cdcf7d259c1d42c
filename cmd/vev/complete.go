package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

// completeTimeout is how long a shell's Tab may wait for the names of the sessions.
const completeTimeout = 500 * time.Millisecond

// How many of a command's arguments are session names.
const (
	firstOnly = 1
	anyNumber = 1 << 30
)

// completeSessions completes session names in the first most arguments, and the names of hosts that
// a session's name may follow, without starting anything: what cannot be asked at once is not offered.
func (c *cli) completeSessions(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := c.sessionNames(cmd.Context(), args)
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
		ids = append(ids, cobra.CompletionWithDesc(clientID(a.ID), printable(a.Size.String()+"  "+a.Origin.Terminal+"  "+a.Origin.Host)))
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
