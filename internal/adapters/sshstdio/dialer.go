package sshstdio

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Converse begins a broker conversation on a carriage.
type Converse = func(ctx context.Context, carriage io.ReadWriteCloser) (ports.Link, error)

// Dialer makes links with ssh, as PATH has it. Any goroutine may call its methods.
type Dialer struct {
	// Converse begins the broker conversation on a carriage, which is its own from there on: it
	// closes it on failure, when ctx ends, and with the link. The carriage has SetReadDeadline,
	// SyscallConn, of its write side, and OnBegin. Set before the first call, never changed.
	Converse Converse
	// Begin prepares such a conversation that asks for a stream as it begins: what it writes first, and the rest. Set as
	// Converse, for DialOpening alone.
	Begin func(o *protocol.Opening) (first []byte, converse Converse)
	// Env are KEY=VALUE that ssh gets over this process's environment. Set as Converse.
	Env []string
	// Questions makes what one ssh asks go to ask, until done is called or ctx ends, and says what ssh needs in its
	// environment for that. Nil: nobody is asked. Set as Converse.
	Questions func(ctx context.Context, host string, ask ports.Ask) (env []string, done func())

	shared shared
}

var _ ports.OpeningDialer = (*Dialer)(nil)

// DialLink implements ports.LinkDialer for hosts as domain.ParseHost reads them. Beside its faults:
// Usage is a name that cannot be read, Denied means that ssh does not trust the host or the host
// not us, Unsupported that a program is missing here or there. It returns when ssh has ended, if
// there is no link.
func (d *Dialer) DialLink(ctx context.Context, name string, ask ports.Ask) (ports.Link, error) {
	return d.link(ctx, name, remoteCommand, ask, d.Converse)
}

// DialOpening implements ports.OpeningDialer: what is asked for is there with the command that starts the helper, and stands in
// it for all to see.
func (d *Dialer) DialOpening(ctx context.Context, name string, ask ports.Ask, o *protocol.Opening) (ports.Link, error) {
	first, converse := d.Begin(o)
	return d.link(ctx, name, commandAhead(first), ask, converse)
}

func (d *Dialer) link(ctx context.Context, name, command string, ask ports.Ask, converse Converse) (ports.Link, error) {
	var conversation ports.Link
	c, err := d.reach(ctx, name, command, ask, func(ctx context.Context, c *carriage) (err error) {
		conversation, err = converse(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &link{conversation, c}, nil
}

// talk is what a command is started for. It gives up when ctx ends.
type talk = func(ctx context.Context, c *carriage) error

// reach starts an ssh that runs a command on a host, and talks to that. On failure ssh has ended.
func (d *Dialer) reach(ctx context.Context, name, command string, ask ports.Ask, to talk) (*carriage, error) {
	host, err := domain.ParseHost(name)
	if err != nil {
		return nil, err
	}
	ctx, a, done := d.attempt(ctx, host, ask, command)
	defer done()
	a.own = !d.shared.begin(name) && !a.asks
	c, err := a.dial(ctx, to)
	refused := a.own && fault.KindOf(err) == fault.Denied && err != nil
	d.shared.end(name, refused, err == nil)
	if refused {
		return nil, fault.Wrap(fault.Unavailable, err, "the connection that ssh shares is silent")
	}
	return c, err
}

// attempt prepares an ssh whose questions go to ask, until done is called. The context ends also when one is declined.
func (d *Dialer) attempt(ctx context.Context, host domain.Host, ask ports.Ask, command string) (asking context.Context, a attempt, done func()) {
	a = attempt{host: host, command: command, env: d.Env, asks: ask != nil && d.Questions != nil}
	if !a.asks {
		return ctx, a, func() {}
	}
	asking, cancel := context.WithCancelCause(ctx)
	more, closed := d.Questions(asking, host.String(), orCancel(ask, cancel))
	a.env = slices.Concat(a.env, more)
	return asking, a, func() {
		closed()
		cancel(nil)
	}
}

// attempt is one ssh.
type attempt struct {
	host    domain.Host
	command string   // at the other end
	env     []string // over this process's
	asks    bool     // there is somebody who answers what it asks
	own     bool     // it shares no connection with others
}

func (a attempt) dial(ctx context.Context, to talk) (*carriage, error) {
	c, err := start(a)
	if err != nil {
		return nil, err
	}
	if err = to(ctx, c); err != nil {
		return nil, c.failed(ctx, a.host, err)
	}
	return c, nil
}

// failed ends ssh and says why err came about.
func (c *carriage) failed(ctx context.Context, host domain.Host, err error) error {
	_ = c.Close()
	<-c.exited
	if cause := context.Cause(ctx); cause != nil {
		if cause == errDeclined {
			return errDeclined
		}
		return fault.Wrap(fault.Canceled, cause, "connecting was given up")
	}
	return c.explain(host, err)
}

var errDeclined error = &fault.Error{Kind: fault.Canceled, Msg: "ssh asked something and got no answer"}

// orCancel is ask, but gives the dial up without an answer: ssh would ask again.
func orCancel(ask ports.Ask, cancel context.CancelCauseFunc) ports.Ask {
	return func(ctx context.Context, q protocol.Prompt) ([]byte, error) {
		answer, err := ask(ctx, q)
		if err != nil {
			cancel(errDeclined)
		}
		return answer, err
	}
}

const (
	// attemptEvery is long enough that an ssh, which takes a second and more on a far link, is seldom
	// one too many: a server counts the connections that end before they have logged in, and refuses
	// an address that has many.
	attemptEvery = time.Second
	maxAttempts  = 3
)

// Attempts implements ports.LinkDialer.
func (d *Dialer) Attempts() (every time.Duration, most int) { return attemptEvery, maxAttempts }

// link is a conversation and the ssh it is carried by.
type link struct {
	ports.Link
	carriage *carriage
}

// Vitals implements ports.Link.
func (l *link) Vitals() domain.Vitals {
	v := l.Link.Vitals()
	v.Transport = domain.TransportSSH
	return v
}

// Close ends the conversation and then ssh; it waits for both.
func (l *link) Close() error {
	err := l.Link.Close()
	_ = l.carriage.Close()
	<-l.carriage.exited
	return err
}
