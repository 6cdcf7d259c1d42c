package client

import (
	"context"
	"errors"
	"os/exec"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Error is a failure with its Kind, what was wrong (Msg) and what to do next (Hint).
type Error = fault.Error

// Kind says who can do something about a failure.
type Kind = fault.Kind

// The kinds of failures.
const (
	Internal     = fault.Internal     // a mistake of vev's
	Usage        = fault.Usage        // the call is wrong: change it
	NotFound     = fault.NotFound     // no such session or host
	Conflict     = fault.Conflict     // it exists already, or is in a state that forbids this
	Denied       = fault.Denied       // not yours, or not with these rights
	Unavailable  = fault.Unavailable  // cannot be reached now: try again
	Limit        = fault.Limit        // a bound was met: the message names it
	Incompatible = fault.Incompatible // the two versions do not meet
	Violation    = fault.Violation    // the other side broke the protocol
	Canceled     = fault.Canceled     // the context was canceled, or somebody declined
	Timeout      = fault.Timeout      // a deadline passed
	Unsupported  = fault.Unsupported  // the other side does not know this
	Unknown      = fault.Unknown      // the answer was lost: it may have happened
)

// KindOf is the kind of err, Internal if it has none.
func KindOf(err error) Kind { return fault.KindOf(err) }

// Options of a Client. The zero value is good.
type Options struct {
	// Program is the vev executable that a broker is started from when none runs; "" is the one in PATH.
	Program string
	// Software is what the program calls itself in logs and to the other side, at most 64 bytes; "" is the package's name.
	Software string
	// Author is who types, for the log of what programs have typed, at most MaxAuthor bytes; "" is Software.
	Author string
	// Answer answers what ssh asks when a machine is reached: a password, a passphrase, whether a host key is known. Nil declines.
	Answer func(ctx context.Context, q Question) ([]byte, error)
}

// Question is what ssh asks.
type Question struct {
	Host string
	Text string
	Echo bool // whether the answer may be seen while it is typed
}

// Client reaches sessions. Any goroutine may use it.
type Client struct{ o Options }

// New returns a client. It dials nothing.
func New(o Options) *Client {
	if o.Software == "" {
		o.Software = "vev/client"
	}
	if o.Author == "" {
		o.Author = o.Software
	}
	return &Client{o: o}
}

// As is the client for what another author types.
func (c *Client) As(author string) *Client {
	o := c.o
	o.Author = author
	return &Client{o: o}
}

// dialer leads to the daemon of a host.
func (c *Client) dialer(host domain.Host, start protocol.StartPolicy) (*talk.Dialer, error) {
	d := &talk.Dialer{Host: host, Start: start, Software: c.o.Software, Program: c.o.Program}
	if d.Program == "" {
		path, err := exec.LookPath("vev")
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return nil, fault.Wrap(fault.Unavailable, err, "cannot find vev").WithHint("install it, or set Options.Program")
		}
		d.Program = path
	}
	if c.o.Answer != nil && !host.Local() {
		d.Person = func(ctx context.Context, q protocol.Prompt) ([]byte, error) {
			return c.o.Answer(ctx, Question{Host: q.Host, Text: q.Text, Echo: q.Echo})
		}
	}
	return d, nil
}

// with has f ask the daemon of a host; without a daemon the error is talk.ErrNoDaemon.
func (c *Client) with(ctx context.Context, host domain.Host, start protocol.StartPolicy, f func(*talk.Talk) error) error {
	d, err := c.dialer(host, start)
	if err != nil {
		return err
	}
	t, err := talk.Begin(ctx, d)
	if err != nil {
		return err
	}
	defer t.Close()
	return f(t)
}

// parseHost reads a host; "" is this machine.
func parseHost(host string) (domain.Host, error) {
	if host == "" {
		return domain.Host{}, nil
	}
	return domain.ParseHost(host)
}
