package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
)

func (c *cli) cmdClients() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "clients [NAME] [--json]",
		Short: "List who is attached",
		Long: `List who is attached: to a session or, without a name, to any; HOST: is any there. The number in CLIENT is
what vev detach NAME --client takes.

As JSON the answer is an array of objects with client, session, session_id, cols, rows
(of the client's terminal), read_only, attached, last_active, and as the client says
itself terminal, host and pid (0 if it does not).`,
		Example: `  vev clients
  vev clients work
  vev clients --json
  vev clients desk:`,
		Args:              namedCount(0, 1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, _ []string) error {
			return c.clients(cmd.Context(), a, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

func (c *cli) clients(ctx context.Context, a domain.Address, asJSON bool) error {
	list, err := c.attachedClients(ctx, a)
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(list)
	}
	if len(list) == 0 {
		c.say("nobody is attached")
		return nil
	}
	now := time.Now()
	rows := [][]string{{"SESSION", "CLIENT", "SIZE", "ATTACHED", "LAST ACTIVE", "TERMINAL", "HOST", "PID", ""}}
	for _, a := range list {
		pid, mode := "-", ""
		if a.Pid != 0 {
			pid = strconv.Itoa(a.Pid)
		}
		if a.ReadOnly {
			mode = "read-only"
		}
		rows = append(rows, []string{
			a.Session, clientID(a.Client), domain.Size{Cols: a.Cols, Rows: a.Rows}.String(), age(now, a.Attached), age(now, a.LastActive),
			orDash(a.Terminal), orDash(a.Host), pid, mode,
		})
	}
	return writeTable(c.out, rows)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func clientID(id uint64) string { return strconv.FormatUint(id, 10) }

// attachedClients asks for the clients of a session, or of all; without a daemon there are none, and no session.
func (c *cli) attachedClients(ctx context.Context, a domain.Address) ([]client.Attached, error) {
	if a.Name == "" {
		o, err := c.clientOptions()
		if err != nil {
			return nil, err
		}
		return client.New(o).Clients(ctx, a.Host.String())
	}
	session, err := c.session(a)
	if err != nil {
		return nil, err
	}
	return session.Clients(ctx)
}
