package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Session is a session by its address. It need not exist: each call finds out. Any goroutine may use it.
type Session struct {
	c    *Client
	at   domain.Address
	only Guard
}

// Session returns the session at an address, NAME or HOST:NAME, without asking whether it is there. The error is of kind Usage.
func (c *Client) Session(address string) (*Session, error) {
	a, err := domain.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	if a.Name == "" {
		return nil, usage("%q names no session", address)
	}
	return &Session{c: c, at: a}, nil
}

// Address is NAME or HOST:NAME.
func (s *Session) Address() string { return s.at.String() }

// Host is where it runs; "" is this machine.
func (s *Session) Host() string { return s.at.Host.String() }

// ByID is the session with an id, as Info has it, on the same host: whatever is called what meanwhile.
func (s *Session) ByID(id string) (*Session, error) {
	if _, ok := domain.ParseSessionID(id); !ok {
		return nil, usage("%q is no session's id", id)
	}
	return &Session{c: s.c, at: domain.Address{Host: s.at.Host, Name: id}}, nil
}

// ask asks for one thing.
func (s *Session) ask(ctx context.Context, timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	var answer protocol.ResultBody
	err := s.with(ctx, func(t *talk.Talk) (err error) {
		answer, err = t.Ask(timeout, body)
		return err
	})
	return answer, err
}

// with has f ask for several things.
func (s *Session) with(ctx context.Context, f func(*talk.Talk) error) error {
	err := s.c.with(ctx, s.at.Host, protocol.ExistingOnly, f)
	if talk.IsNoDaemon(err) {
		return talk.NoSession(s.at)
	}
	return err
}

// Info is what a list says about the session.
func (s *Session) Info(ctx context.Context) (Info, error) {
	answer, err := talk.BodyOf[*protocol.Sessions](s.ask(ctx, 0, &protocol.List{}))
	if err != nil {
		return Info{}, err
	}
	for _, row := range answer.List {
		if row.Name == s.at.Name || row.ID.String() == s.at.Name {
			return InfoOf(row), nil
		}
	}
	return Info{}, talk.At(s.at.Host, fault.New(fault.NotFound, "no session %q", fault.Clean(s.at.Name)))
}

// Kill ends the session: its program is hung up on, and killed if it does not end.
func (s *Session) Kill(ctx context.Context) error {
	_, err := s.ask(ctx, 0, &protocol.Kill{Session: s.at.Name})
	return err
}

// Rename gives the session another name. s leads to the old one still.
func (s *Session) Rename(ctx context.Context, name string) error {
	if err := domain.CheckName(name); err != nil {
		return err
	}
	_, err := s.ask(ctx, 0, &protocol.Rename{Session: s.at.Name, Name: name})
	return err
}

func usage(format string, args ...any) error { return fault.New(fault.Usage, format, args...) }

func violation(format string, args ...any) error { return fault.New(fault.Violation, format, args...) }
