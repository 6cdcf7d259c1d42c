package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
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
		return c.printJSON(clientsJSON(list))
	}
	if len(list) == 0 {
		c.say("nobody is attached")
		return nil
	}
	now := time.Now()
	rows := [][]string{{"SESSION", "CLIENT", "SIZE", "ATTACHED", "LAST ACTIVE", "TERMINAL", "HOST", "PID", ""}}
	for _, a := range list {
		pid, mode := "-", ""
		if a.Origin.Pid != 0 {
			pid = strconv.Itoa(a.Origin.Pid)
		}
		if a.ReadOnly {
			mode = "read-only"
		}
		rows = append(rows, []string{
			a.SessionName, clientID(a.ID), a.Size.String(), age(now, a.Attached), age(now, a.LastActive),
			orDash(a.Origin.Terminal), orDash(a.Origin.Host), pid, mode,
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
func (c *cli) attachedClients(ctx context.Context, a domain.Address) ([]domain.ClientInfo, error) {
	t, err := c.begin(ctx, a.Host, protocol.ExistingOnly)
	if talk.IsNoDaemon(err) && a.Name == "" {
		return nil, nil
	}
	if talk.IsNoDaemon(err) {
		return nil, talk.NoSession(a)
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	answer, err := talk.BodyOf[*protocol.ClientList](t.Ask(0, &protocol.Clients{Session: a.Name}))
	if err != nil {
		return nil, err
	}
	return answer.List, nil
}

// clientJSON has exactly the fields of the contract.
type clientJSON struct {
	Client     uint64 `json:"client"`
	Session    string `json:"session"`
	SessionID  string `json:"session_id"`
	Cols       int    `json:"cols"`
	Rows       int    `json:"rows"`
	ReadOnly   bool   `json:"read_only"`
	Attached   string `json:"attached"`
	LastActive string `json:"last_active"`
	Terminal   string `json:"terminal"`
	Host       string `json:"host"`
	Pid        int    `json:"pid"`
}

func clientsJSON(list []domain.ClientInfo) []clientJSON {
	out := make([]clientJSON, 0, len(list))
	for _, a := range list {
		out = append(out, clientJSON{
			Client: a.ID, Session: a.SessionName, SessionID: a.Session.String(), Cols: a.Size.Cols, Rows: a.Size.Rows,
			ReadOnly: a.ReadOnly, Attached: a.Attached.Format(time.RFC3339Nano), LastActive: a.LastActive.Format(time.RFC3339Nano),
			Terminal: a.Origin.Terminal, Host: a.Origin.Host, Pid: a.Origin.Pid,
		})
	}
	return out
}
