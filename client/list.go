package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Info is one session, as in a list.
type Info struct {
	Name       string    `json:"name"`
	ID         string    `json:"id"`               // 32 hexadecimal digits; stays when the session is renamed
	State      string    `json:"state"`            // running or exited
	Status     *int      `json:"status,omitempty"` // of the program that exited, as a shell has it
	Attached   int       `json:"attached"`         // clients
	Created    time.Time `json:"created"`
	LastUsed   time.Time `json:"last_used"`
	Pid        int       `json:"pid"` // of the program; 0 once it has ended
	Command    []string  `json:"command"`
	Cwd        string    `json:"cwd"`
	Title      string    `json:"title"`
	Cols       int       `json:"cols"`
	Rows       int       `json:"rows"`
	SizePolicy string    `json:"size_policy"`

	Doing       string    `json:"doing"` // running, prompt, input, attention or exited
	DoingReason string    `json:"doing_reason"`
	DoingSince  time.Time `json:"doing_since"`
	Generation  uint64    `json:"generation"` // grows when another program or command gets the terminal
	Locked      bool      `json:"locked"`     // only attached people may type
}

// InfoOf is for vev's own commands, which know sessions in another form.
func InfoOf(s domain.SessionInfo) Info {
	i := Info{
		Name: s.Name, ID: s.ID.String(), State: s.State.String(), Attached: s.Attached, Created: s.Created, LastUsed: s.LastUsed,
		Pid: s.Pid, Command: append([]string{}, s.Command...), Cwd: s.Cwd, Title: s.Title,
		Cols: s.Size.Cols, Rows: s.Size.Rows, SizePolicy: s.Policy.String(),
		Doing: s.Condition.Activity.String(), DoingReason: s.Condition.Reason, DoingSince: s.Condition.Since,
		Generation: s.Generation, Locked: s.Locked,
	}
	if s.State == domain.Exited {
		status := s.Exit.ShellCode()
		i.Status = &status
	}
	return i
}

// List returns the sessions of a host, "" being this machine. Where no daemon runs there are none, and none is
// started.
func (c *Client) List(ctx context.Context, host string) ([]Info, error) {
	h, err := parseHost(host)
	if err != nil {
		return nil, err
	}
	list := []Info{}
	err = c.with(ctx, h, protocol.ExistingOnly, func(t *talk.Talk) error {
		answer, err := talk.BodyOf[*protocol.Sessions](t.Ask(0, &protocol.List{}))
		if err != nil {
			return err
		}
		for _, s := range answer.List {
			list = append(list, InfoOf(s))
		}
		return nil
	})
	if talk.IsNoDaemon(err) {
		return list, nil
	}
	return list, err
}

// Create says what a new session is.
type Create struct {
	Host       string   // where; "" is this machine
	Name       string   // "" is the lowest free number
	Command    []string // empty: the login shell
	Dir        string   // "" is this process's directory, or the home directory on another machine
	Env        []string // K=V, over this process's environment or that machine's
	Cols, Rows int      // until a terminal attaches; 0 is 80 and 24
	History    int      // lines kept; 0 is the daemon's default
}

// Create makes a session, which runs until its program ends or somebody kills it. It starts what is needed.
func (c *Client) Create(ctx context.Context, o Create) (*Session, error) {
	host, err := parseHost(o.Host)
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		if err := domain.CheckName(o.Name); err != nil {
			return nil, err
		}
	}
	create := protocol.Create{Name: o.Name, Command: domain.Command{Argv: o.Command}, HistoryLines: o.History}
	if create.Size, err = sizeOf(o.Cols, o.Rows); err != nil {
		return nil, err
	}
	if o.History < 0 || o.History > protocol.MaxKeptLines {
		return nil, usage("history is from 0 to %d lines, not %d", protocol.MaxKeptLines, o.History)
	}
	if err := talk.Surround(&create, host, o.Dir, o.Env); err != nil {
		return nil, err
	}
	var s *Session
	err = c.with(ctx, host, protocol.StartIfNeeded, func(t *talk.Talk) error {
		answer, err := talk.BodyOf[*protocol.Sessions](t.Ask(0, &protocol.New{Create: create}))
		if err == nil && len(answer.List) != 1 {
			err = violation("the daemon named %d sessions for a new one", len(answer.List))
		}
		if err == nil {
			s = &Session{c: c, at: domain.Address{Host: host, Name: answer.List[0].Name}}
		}
		return err
	})
	return s, err
}

// sizeOf is the size a caller asks for; zero where it asks for none.
func sizeOf(cols, rows int) (domain.Size, error) {
	if cols == 0 && rows == 0 {
		return domain.Size{}, nil
	}
	size := domain.Size{Cols: cols, Rows: rows}
	if !size.Valid() {
		return size, usage("a terminal of %d columns and %d rows cannot be made: at most %dx%d", cols, rows, domain.MaxCols, domain.MaxRows)
	}
	return size, nil
}
