package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Pauses between two attempts to begin a conversation, doubled each time.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 100 * time.Millisecond
)

// maxRefusals bounds how often a broker may say that it cannot lead to the daemon now: one that
// is ending says so once, one that cannot start a daemon says it every time.
const maxRefusals = 3

// errNoDaemon says that no daemon runs and that none was to be started. Its kind ends a
// reconnecting client: what it was attached to is gone.
var errNoDaemon = fault.New(fault.NotFound, "no session daemon is running").WithHint("vev new starts one")

func isNoDaemon(err error) bool { return errors.Is(err, errNoDaemon) }

// dialer begins session conversations with a host's daemon, through the broker.
type dialer struct {
	host   domain.Host
	start  protocol.StartPolicy
	person ports.Ask // answers what ssh asks; nil: nobody does
}

var _ ports.SessionDialer = (*dialer)(nil)

func (c *cli) dialer(host domain.Host, start protocol.StartPolicy) *dialer {
	return &dialer{host: host, start: start}
}

// asking is a dialer that has the person at the terminal answer what ssh asks.
func (c *cli) asking(host domain.Host, start protocol.StartPolicy) *dialer {
	d := c.dialer(host, start)
	if !host.Local() {
		d.person = c.person()
	}
	return d
}

// Dial tries until the preamble is through, or protocol.HandshakeTimeout passes. What was cut
// off before is tried again: the other side had not begun anything, it was about to end or has
// just ended. See ports.SessionDialer.
func (d *dialer) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	timeout := protocol.HandshakeTimeout
	if d.person != nil {
		timeout += protocol.PromptTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	refused := 0
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, err := d.once(ctx)
		cut, ok := errors.AsType[*cutError](err)
		if !ok {
			return conn, err
		}
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Peer {
			if refused++; refused == maxRefusals {
				return nil, cut.cause
			}
		}
		if !sleep(ctx, pause) {
			return nil, fault.Wrap(fault.Unavailable, cut.cause, "cannot reach the session daemon").
				WithHint("vev doctor shows what runs")
		}
	}
}

// cutError is a conversation that ended before its preamble was answered.
type cutError struct{ cause error }

func (e *cutError) Error() string { return e.cause.Error() }
func (e *cutError) Unwrap() error { return e.cause }

// cut marks an error of a set-up if it means that the other side went away.
func cut(err error) error {
	if fault.KindOf(err) == fault.Unavailable {
		return &cutError{err}
	}
	return err
}

// once walks the way once: broker.sock, broker conversation, stream, session preamble.
func (d *dialer) once(ctx context.Context) (ports.SessionClientConn, error) {
	broker, err := d.broker(ctx)
	if err != nil {
		return nil, err
	}
	stop := func() {}
	if d.person != nil {
		stop = answering(ctx, broker, d.person)
	}
	stream, err := broker.OpenStream(ctx, d.host.String(), d.start)
	stop()
	if err != nil {
		err = d.refusal(err, broker.Err() != nil)
		_ = broker.Close()
		return nil, err
	}
	// The stream goes in as it is: it may be the daemon's own connection, with all a socket can.
	features := protocol.FeatureNone
	if _, local := stream.(syscall.Conn); !local {
		features = protocol.FeaturePacked // what is relayed may come from afar
	}
	conn, err := sessionwire.Client(ctx, stream, software(), features)
	if err != nil {
		_ = broker.Close()
		return nil, cut(err)
	}
	return &brokered{ClientConn: conn, broker: broker}, nil
}

// brokered is a session conversation that is the only thing its broker conversation is for:
// both end together.
type brokered struct {
	*sessionwire.ClientConn
	broker *brokeripc.Client
}

func (b *brokered) Close() error {
	err := b.ClientConn.Close()
	_ = b.broker.Close() // there is nothing left in it that could be lost
	return err
}

// broker begins a conversation with the broker and starts it when there is a reason to: to
// start a daemon, to reach another machine, or because one runs and only the broker can lead to it.
func (d *dialer) broker(ctx context.Context) (*brokeripc.Client, error) {
	dir, err := rundir.Open()
	if err != nil {
		return nil, err
	}
	if agent := os.Getenv(envAgent); agent != "" && !d.host.Local() {
		_ = dir.OfferAgent(agent) // ssh says what it lacks
	}
	socket, err := dir.Dial(ctx, brokerService)
	if fault.KindOf(err) == fault.Unavailable {
		if d.host.Local() && d.start == protocol.ExistingOnly && !running(dir, daemonService) {
			return nil, errNoDaemon
		}
		socket, err = dir.DialOrStart(ctx, rundir.Service{Name: brokerService})
	}
	if err != nil {
		return nil, err
	}
	dial := brokeripc.Dial
	if d.person != nil {
		dial = brokeripc.DialAnswering
	}
	broker, err := dial(ctx, socket, software())
	if err != nil {
		return nil, cut(err)
	}
	return broker, nil
}

// running reports whether a process holds the life lock of a service.
func running(dir *rundir.Dir, name string) bool {
	life, err := dir.TryLock(name)
	if err == nil {
		err = life.Unlock()
	}
	return fault.KindOf(err) == fault.Conflict
}

// refusal tells apart why a stream was not opened: no daemon, a broker that is ending, or a
// reason to show. The broker has tried all there is to reach another machine: what it says counts.
func (d *dialer) refusal(err error, lost bool) error {
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return errNoDaemon
	case !d.host.Local() && !lost:
		return err
	}
	return cut(err)
}

// sleep waits; false: ctx ended first.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
