package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Attached is one client of a session: a terminal that shows it.
type Attached struct {
	Client     uint64    `json:"client"` // its number among all of the machine, never given twice: for DetachClient
	Session    string    `json:"session"`
	SessionID  string    `json:"session_id"`
	Cols       int       `json:"cols"` // of the client's terminal
	Rows       int       `json:"rows"`
	ReadOnly   bool      `json:"read_only"`
	Attached   time.Time `json:"attached"`
	LastActive time.Time `json:"last_active"` // it attached, typed or got the focus
	Terminal   string    `json:"terminal"`    // what the client says itself, as the next two: "" and 0 if it does not
	Host       string    `json:"host"`
	Pid        int       `json:"pid"`
}

func attachedOf(c *domain.ClientInfo) Attached {
	return Attached{
		Client: c.ID, Session: c.SessionName, SessionID: c.Session.String(), Cols: c.Size.Cols, Rows: c.Size.Rows,
		ReadOnly: c.ReadOnly, Attached: c.Attached, LastActive: c.LastActive,
		Terminal: c.Origin.Terminal, Host: c.Origin.Host, Pid: c.Origin.Pid,
	}
}

// Clients returns who is attached to any session of a host, "" being this machine.
func (c *Client) Clients(ctx context.Context, host string) ([]Attached, error) {
	h, err := parseHost(host)
	if err != nil {
		return nil, err
	}
	var list []Attached
	err = c.with(ctx, h, protocol.ExistingOnly, func(t *talk.Talk) (err error) {
		list, err = attached(t, "")
		return err
	})
	if talk.IsNoDaemon(err) {
		return []Attached{}, nil
	}
	return list, err
}

// Clients returns who is attached to the session, in the order in which they came.
func (s *Session) Clients(ctx context.Context) (list []Attached, err error) {
	err = s.with(ctx, func(t *talk.Talk) (err error) {
		list, err = attached(t, s.at.Name)
		return err
	})
	return list, err
}

func attached(t *talk.Talk, session string) ([]Attached, error) {
	answer, err := talk.BodyOf[*protocol.ClientList](t.Ask(0, &protocol.Clients{Session: session}))
	if err != nil {
		return nil, err
	}
	list := make([]Attached, 0, len(answer.List))
	for i := range answer.List {
		list = append(list, attachedOf(&answer.List[i]))
	}
	return list, nil
}

// Detach detaches every client of the session; its program goes on.
func (s *Session) Detach(ctx context.Context) error {
	_, err := s.ask(ctx, 0, &protocol.DetachAll{Session: s.at.Name})
	return err
}

// DetachClient detaches the client with that number. The error is of kind NotFound if the session has none.
func (s *Session) DetachClient(ctx context.Context, client uint64) error {
	_, err := s.ask(ctx, 0, &protocol.DetachClient{Session: s.at.Name, Client: client})
	return err
}

// Resize gives the session a size that stays whatever terminals attach; 0 and 0 is the size that it has.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	size, err := sizeOf(cols, rows)
	if err != nil {
		return err
	}
	_, err = s.ask(ctx, 0, &protocol.SetSize{Session: s.at.Name, Policy: domain.SizeFixed, Size: size})
	return err
}

// FollowSize has the session's size follow its clients' terminals: the one used last (latest), all (smallest), any (largest), or
// none any more (fixed).
func (s *Session) FollowSize(ctx context.Context, policy string) error {
	p, err := domain.ParseSizePolicy(policy)
	if err != nil {
		return err
	}
	_, err = s.ask(ctx, 0, &protocol.SetSize{Session: s.at.Name, Policy: p})
	return err
}
