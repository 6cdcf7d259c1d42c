package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// answerGrace is how much longer than a request's own timeout its answer is waited for: the
// daemon answers a timeout itself, and only a dead link leaves us without that answer.
const answerGrace = 5 * time.Second

// talk is a conversation of requests, one at a time, and the next one when it is lost. It
// belongs to one goroutine.
type talk struct {
	ctx  context.Context // of the command
	host domain.Host
	dial ports.SessionDialer
	conn ports.SessionClientConn
	last uint64 // id of the last request
}

// begin opens a conversation with the daemon of a host. Under protocol.ExistingOnly the fault is
// errNoDaemon when none runs. The caller closes it.
func (c *cli) begin(ctx context.Context, host domain.Host, start protocol.StartPolicy) (*talk, error) {
	t := &talk{ctx: ctx, host: host, dial: c.asking(host, start)}
	return t, at(host, t.open())
}

// beginAt is begin for what needs a session to be there: without a daemon there is none.
func (c *cli) beginAt(ctx context.Context, a domain.Address) (*talk, error) {
	t, err := c.begin(ctx, a.Host, protocol.ExistingOnly)
	if isNoDaemon(err) {
		err = noSession(a)
	}
	return t, err
}

func (t *talk) open() (err error) {
	t.conn, err = t.dial.Dial(t.ctx)
	return err
}

func (t *talk) close() {
	if t.conn != nil {
		_ = t.conn.Close()
	}
}

// maxRepeats bounds how often one request is asked again.
const maxRepeats = 5

// ask sends one request and waits for its result. Timeout 0 is protocol.RequestTimeout. The
// body is valid until the next ask.
//
// It asks again when that is safe: a daemon that refuses because it is ending has done nothing,
// and a request that changes nothing may be repeated after its answer was lost. The lost answer
// of any other is a fault of kind Unknown. Faults name a host that is not this machine.
func (t *talk) ask(timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	answer, err := t.askAgain(timeout, body)
	return answer, at(t.host, err)
}

func (t *talk) askAgain(timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	deadline := time.Now().Add(timeout)
	answer, err := t.once(timeout, body)
	pause := firstPause
	for range maxRepeats {
		kind := fault.KindOf(err)
		if kind != fault.Unavailable && !(kind == fault.Unknown && onlyLooks(body)) {
			break
		}
		t.close()
		if !sleep(t.ctx, pause) {
			return nil, err
		}
		pause *= 2
		if err := t.open(); err != nil {
			return nil, err
		}
		if timeout != 0 {
			timeout = max(time.Until(deadline), time.Millisecond)
		}
		answer, err = t.once(timeout, body)
	}
	return answer, err
}

// onlyLooks reports whether a request changes nothing.
func onlyLooks(body protocol.RequestBody) bool {
	switch body.(type) {
	case *protocol.List, *protocol.Clients, *protocol.Capture, *protocol.History, *protocol.Wait, *protocol.Stats:
		return true
	}
	return false
}

func (t *talk) once(timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	t.last++
	if err := t.conn.Send(&protocol.Request{ID: t.last, Timeout: timeout, Body: body}); err != nil {
		return nil, lost(err)
	}
	if timeout == 0 {
		timeout = protocol.RequestTimeout
	}
	late := time.AfterFunc(timeout+answerGrace, func() { _ = t.conn.Close() })
	defer late.Stop()
	for {
		msg, err := t.conn.Receive()
		if err != nil {
			return nil, lost(err)
		}
		switch m := msg.(type) {
		case *protocol.Result:
			if m.ID == t.last {
				return result(m)
			}
		case *protocol.Refused:
			return nil, m.Failure.Fault()
		}
	}
}

// result is what a Result says, as Go has it.
func result(m *protocol.Result) (protocol.ResultBody, error) {
	switch {
	case m.Outcome == protocol.OutcomeOK:
		return m.Body, nil
	case m.Failure != nil:
		return nil, m.Failure.Fault()
	case m.Outcome == protocol.OutcomeUnknown:
		return nil, fault.New(fault.Unknown, "the outcome is not known").WithHint("%s", hintUnknown)
	}
	return nil, fault.New(fault.Internal, "the daemon gave no reason for a failure")
}

const hintUnknown = "vev ls shows what there is now"

// lost says that a conversation ended between a request and its answer.
func lost(err error) error {
	if kind := fault.KindOf(err); kind == fault.Usage || kind == fault.Limit {
		return err // never sent: it breaks a limit of the protocol
	}
	if errors.Is(err, io.EOF) {
		return fault.New(fault.Unknown, "the connection ended before the answer").WithHint("%s", hintUnknown)
	}
	return fault.Wrap(fault.Unknown, err, "the connection was lost before the answer").WithHint("%s", hintUnknown)
}

// bodyOf is the answer as the type its request must have.
func bodyOf[T protocol.ResultBody](body protocol.ResultBody, err error) (T, error) {
	typed, ok := body.(T)
	if err == nil && !ok {
		err = fault.New(fault.Violation, "the daemon gave another answer than was asked for")
	}
	return typed, err
}

// act runs one request that needs the session at a to be there; the request names it.
func (c *cli) act(ctx context.Context, a domain.Address, timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	t, err := c.beginAt(ctx, a)
	if err != nil {
		return nil, err
	}
	defer t.close()
	answer, err := t.ask(timeout, body)
	if isNoDaemon(err) { // it has gone meanwhile, and the session with it
		return nil, noSession(a)
	}
	return answer, err
}
