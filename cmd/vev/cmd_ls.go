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

func (c *cli) cmdLs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [HOST] [--json]",
		Aliases: []string{"list"},
		Short:   "List the sessions",
		Long: `List the sessions of this machine or of HOST, which your ssh leads to. One whose program ended while nobody was attached stays, as
exited with its status, until somebody looks at it, kills it, or a day has passed.

As JSON the answer is an array of objects with name, id, state (running or exited),
attached (number of clients), created, last_used, pid, command, cwd, title, cols,
rows and size_policy; exited sessions have status too.`,
		Example: `  vev ls
  vev ls --json
  vev ls desk`,
		Args:              argCount(0, 1),
		ValidArgsFunction: c.completeHosts(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			var host domain.Host
			if len(args) > 0 {
				var err error
				if host, err = domain.ParseHost(args[0]); err != nil {
					return err
				}
			}
			return c.ls(cmd.Context(), host, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

func (c *cli) ls(ctx context.Context, host domain.Host, asJSON bool) error {
	list, err := c.sessions(ctx, host, !asJSON)
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(sessionsJSON(list))
	}
	if len(list) == 0 {
		c.say("no sessions")
		return nil
	}
	now := time.Now()
	rows := [][]string{{"NAME", "STATE", "ATTACHED", "SIZE", "CREATED", "LAST USED", "COMMAND", "TITLE"}}
	for _, s := range list {
		rows = append(rows, []string{
			s.Name, stateText(s), strconv.Itoa(s.Attached), s.Size.String(),
			age(now, s.Created), age(now, s.LastUsed), commandText(s.Command), s.Title,
		})
	}
	return writeTable(c.out, rows)
}

// sessions asks for the list, without directories if brief; without a daemon it is empty and
// none is started.
func (c *cli) sessions(ctx context.Context, host domain.Host, brief bool) ([]domain.SessionInfo, error) {
	t, err := c.begin(ctx, host, protocol.ExistingOnly)
	if talk.IsNoDaemon(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return listOf(t, brief)
}

func listOf(t *talk.Talk, brief bool) ([]domain.SessionInfo, error) {
	answer, err := talk.BodyOf[*protocol.Sessions](t.Ask(0, &protocol.List{Brief: brief}))
	if err != nil {
		return nil, err
	}
	return append([]domain.SessionInfo(nil), answer.List...), nil
}

// sessionJSON has exactly the fields of the contract; status only when the program has ended.
type sessionJSON struct {
	Name     string   `json:"name"`
	ID       string   `json:"id"`
	State    string   `json:"state"`
	Status   *int     `json:"status,omitempty"`
	Attached int      `json:"attached"`
	Created  string   `json:"created"`
	LastUsed string   `json:"last_used"`
	Pid      int      `json:"pid"`
	Command  []string `json:"command"`
	Cwd      string   `json:"cwd"`
	Title    string   `json:"title"`
	Cols     int      `json:"cols"`
	Rows     int      `json:"rows"`
	Policy   string   `json:"size_policy"`
}

func sessionsJSON(list []domain.SessionInfo) []sessionJSON {
	out := make([]sessionJSON, 0, len(list))
	for _, s := range list {
		j := sessionJSON{
			Name: s.Name, ID: s.ID.String(), State: s.State.String(), Attached: s.Attached,
			Created: s.Created.Format(time.RFC3339Nano), LastUsed: s.LastUsed.Format(time.RFC3339Nano),
			Pid: s.Pid, Command: append([]string{}, s.Command...), Cwd: s.Cwd, Title: s.Title,
			Cols: s.Size.Cols, Rows: s.Size.Rows, Policy: s.Policy.String(),
		}
		if s.State == domain.Exited {
			code := s.Exit.ShellCode()
			j.Status = &code
		}
		out = append(out, j)
	}
	return out
}

func stateText(s domain.SessionInfo) string {
	if s.State == domain.Exited {
		return s.State.String() + ", " + s.Exit.String()
	}
	return s.State.String()
}

// age is how long ago t was, in the largest unit that is not zero.
func age(now, t time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h ago"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d ago"
}
