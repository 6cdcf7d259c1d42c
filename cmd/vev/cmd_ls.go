package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdLs() *cobra.Command {
	var asJSON, all, wanting bool
	cmd := &cobra.Command{
		Use:     "ls [HOST] [--all] [--wants] [--json]",
		Aliases: []string{"list"},
		Short:   "List the sessions",
		Long: `List the sessions of this machine or of HOST, which your ssh leads to. One whose program ended while nobody was attached stays, as
exited with its status, until somebody looks at it, kills it, or a day has passed.

With --all, those of every host that vev knows, for at most a few seconds; on a terminal each
as soon as it is known. A host that does not answer by then is named with the reason and its last contact, what was listed of it before is
marked with its age, and the exit code is 1.

As JSON the answer is an array of objects with name, id, state (running or exited),
attached (number of clients), created, last_used, pid, command, cwd, title, cols,
rows and size_policy, doing (running, prompt, input, attention or exited) with
doing_reason and doing_since where that is known, generation and locked; exited sessions have status too. Of HOST and with --all they have host
("" is this machine), and stale where the host could not be asked. A host that could not be asked
is an object of its own with host, state "unreachable", kind, error, hint and last_contact.

With --wants only those are listed that want a person: by a bell, a notification, or
a program that says it is blocked.`,
		Example: `  vev ls
  vev ls --json
  vev ls --wants
  vev ls desk
  vev ls --all`,
		Args:              argCount(0, 1),
		ValidArgsFunction: c.completeHosts(firstOnly),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage(cmd, "ls: --all or a host, not both")
			case all:
				return c.lsAll(cmd.Context(), wanting, asJSON)
			case len(args) == 0:
				return c.ls(cmd.Context(), wanting, asJSON)
			}
			host, err := domain.ParseHost(args[0])
			if err != nil {
				return err
			}
			return c.lsHost(cmd.Context(), host, wanting, asJSON)
		},
	}
	cmd.Flags().BoolVar(&wanting, "wants", false, "only those that want a person")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list those of every host")
	return cmd
}

func (c *cli) ls(ctx context.Context, wanting, asJSON bool) error {
	list, err := c.sessions(ctx, domain.Host{}, !asJSON)
	if err != nil {
		return err
	}
	return c.showSessions(list, nil, wanting, asJSON)
}

// lsHost lists another machine's sessions: those that the broker knows, if a link leads there, else those that its daemon
// tells, reached with ssh's questions and all.
func (c *cli) lsHost(ctx context.Context, host domain.Host, wanting, asJSON bool) error {
	name := host.String()
	known, err := c.list(ctx, question{hosts: []string{name}, reach: protocol.ReachWarm, wait: protocol.ProbeTimeout + listGrace})
	if err == nil {
		if h, _ := known.host(name); h.State == catalogue.Current {
			return c.showSessions(known.of(name), &name, wanting, asJSON)
		}
	}
	list, err := c.sessions(ctx, host, !asJSON)
	if err != nil {
		return err
	}
	return c.showSessions(list, &name, wanting, asJSON)
}

// showSessions shows those of one machine, named or this one.
func (c *cli) showSessions(list []domain.SessionInfo, host *string, wanting, asJSON bool) error {
	if wanting {
		list = wants(list)
	}
	if asJSON {
		out := make([]any, 0, len(list))
		for i := range list {
			out = append(out, newSessionJSON(&list[i], host))
		}
		return c.printJSON(out)
	}
	if len(list) == 0 {
		c.say("no sessions")
		return nil
	}
	now := time.Now()
	rows := [][]string{sessionHead}
	for i := range list {
		rows = append(rows, sessionRow(now, &list[i], stateText(list[i])))
	}
	return writeTable(c.out, rows)
}

var sessionHead = []string{"NAME", "STATE", "ATTACHED", "SIZE", "CREATED", "LAST USED", "COMMAND", "TITLE"}

func sessionRow(now time.Time, s *domain.SessionInfo, state string) []string {
	return []string{
		s.Name, state, strconv.Itoa(s.Attached), s.Size.String(),
		age(now, s.Created), age(now, s.LastUsed), commandText(s.Command), s.Title,
	}
}

// sessions asks for the list, without directories if brief; without a daemon it is empty and
// none is started.
func (c *cli) sessions(ctx context.Context, host domain.Host, brief bool) ([]domain.SessionInfo, error) {
	// The conversation ends with the process: in order, that takes a twentieth of the command.
	_, body, err := talk.BeginAsking(ctx, c.asking(host, protocol.ExistingOnly), 0, &protocol.List{Brief: brief})
	if talk.IsNoDaemon(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	answer, err := talk.BodyOf[*protocol.Sessions](body, nil)
	if err != nil {
		return nil, err
	}
	return answer.List, nil // valid until the next request, and there is none
}

func listOf(t *talk.Talk, brief bool) ([]domain.SessionInfo, error) {
	answer, err := talk.BodyOf[*protocol.Sessions](t.Ask(0, &protocol.List{Brief: brief}))
	if err != nil {
		return nil, err
	}
	return append([]domain.SessionInfo(nil), answer.List...), nil
}

// sessionJSON is a session, with its host where one was asked for.
type sessionJSON struct {
	Host *string `json:"host,omitempty"`
	client.Info
	Stale bool `json:"stale,omitempty"`
}

func newSessionJSON(s *domain.SessionInfo, host *string) *sessionJSON {
	return &sessionJSON{Host: host, Info: client.InfoOf(*s)}
}

func stateText(s domain.SessionInfo) string {
	if s.State == domain.Exited {
		return s.State.String() + ", " + s.Exit.String()
	}
	switch c := s.Condition; c.Activity {
	case domain.AtPrompt:
		return "at prompt"
	case domain.AtInput:
		return "waits for input"
	case domain.Attention:
		return "wants you: " + c.Reason
	case domain.Working, domain.Ended:
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
