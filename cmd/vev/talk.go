package main

import (
	"context"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func dialer(host domain.Host, start protocol.StartPolicy) *talk.Dialer {
	return &talk.Dialer{Host: host, Start: start, Software: software()}
}

// asking is a dialer that has the person at the terminal answer what ssh asks.
func (c *cli) asking(host domain.Host, start protocol.StartPolicy) *talk.Dialer {
	d := dialer(host, start)
	if !host.Local() {
		d.Person = c.person()
	}
	return d
}

func (c *cli) begin(ctx context.Context, host domain.Host, start protocol.StartPolicy) (*talk.Talk, error) {
	return talk.Begin(ctx, c.asking(host, start))
}

// beginAt is begin for what needs a session to be there: without a daemon there is none.
func (c *cli) beginAt(ctx context.Context, a domain.Address) (*talk.Talk, error) {
	t, err := c.begin(ctx, a.Host, protocol.ExistingOnly)
	if talk.IsNoDaemon(err) {
		err = talk.NoSession(a)
	}
	return t, err
}

// session is a session for what package client does.
func (c *cli) session(a domain.Address) (*client.Session, error) { return c.sessionAs(a, "") }

// sessionAs is session for what an author types.
func (c *cli) sessionAs(a domain.Address, author string) (*client.Session, error) {
	o, err := c.clientOptions()
	if err != nil {
		return nil, err
	}
	o.Author = author
	return client.New(o).Session(a.String())
}

func (c *cli) clientOptions() (client.Options, error) {
	program, err := rundir.Executable()
	o := client.Options{Program: program, Software: software()}
	if person := c.person(); person != nil {
		o.Answer = func(ctx context.Context, q client.Question) ([]byte, error) {
			return person(ctx, protocol.Prompt{Host: q.Host, Text: q.Text, Echo: q.Echo})
		}
	}
	return o, err
}
