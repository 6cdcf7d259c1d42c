package talk

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// answerGrace is how much longer than a request's own timeout its answer is waited for: the
// daemon answers a timeout itself, and only a dead link leaves us without that answer.
const answerGrace = 5 * time.Second

// Talk is a conversation of requests, one at a time, and the next one when it is lost. It
// belongs to one goroutine.
type Talk struct {
	ctx  context.Context // ends what is asked
	host domain.Host
	dial ports.SessionDialer
	conn ports.SessionClientConn
	last uint64 // id of the last request
}

// Begin opens a conversation with the daemon that d leads to. Under protocol.ExistingOnly the fault is
// ErrNoDaemon when none runs. Faults name a host that is not this machine. The caller closes it.
func Begin(ctx context.Context, d *Dialer) (*Talk, error) {
	t := &Talk{ctx: ctx, host: d.Host, dial: d}
	return t, At(d.Host, t.open())
}

// BeginAsking is Begin and the first Ask; after an error there is no conversation. What changes nothing goes with what opens
// the conversation: it takes a round trip less.
func BeginAsking(ctx context.Context, d *Dialer, timeout time.Duration, body protocol.RequestBody) (*Talk, protocol.ResultBody, error) {
	t := &Talk{ctx: ctx, host: d.Host, dial: d}
	said, err := onlyLooks(body), error(nil)
	if said {
		t.last = 1
		t.conn, err = d.DialSaying(ctx, &protocol.Request{ID: t.last, Timeout: timeout, Body: body})
	} else {
		err = t.open()
	}
	var answer protocol.ResultBody
	if err == nil {
		answer, err = t.askAgain(timeout, body, said)
	}
	if err != nil {
		t.Close()
		return nil, nil, At(d.Host, err)
	}
	return t, answer, nil
}

func (t *Talk) open() (err error) {
	t.conn, err = t.dial.Dial(t.ctx)
	return err
}

// Close ends the conversation.
func (t *Talk) Close() {
	if t.conn != nil {
		_ = t.conn.Close()
	}
}

// maxRepeats bounds how often one request is asked again.
const maxRepeats = 5

// Ask sends one request and waits for its result. Timeout 0 is protocol.RequestTimeout. The
// body is valid until the next Ask.
//
// It asks again when that is safe: a daemon that refuses because it is ending has done nothing,
// and a request that changes nothing may be repeated after its answer was lost. The lost answer
// of any other is a fault of kind Unknown. Faults name a host that is not this machine.
func (t *Talk) Ask(timeout time.Duration, body protocol.RequestBody) (protocol.ResultBody, error) {
	answer, err := t.askAgain(timeout, body, false)
	return answer, At(t.host, err)
}

// askAgain asks until there is an answer or nothing more to be done; said: the request was made once already.
func (t *Talk) askAgain(timeout time.Duration, body protocol.RequestBody, said bool) (protocol.ResultBody, error) {
	deadline := time.Now().Add(timeout)
	answer, err := t.once(timeout, body, said)
	pause := FirstPause
	for range maxRepeats {
		kind := fault.KindOf(err)
		if kind != fault.Unavailable && !(kind == fault.Unknown && onlyLooks(body)) {
			break
		}
		t.Close()
		if !Sleep(t.ctx, pause) {
			return nil, err
		}
		pause *= 2
		if err := t.open(); err != nil {
			return nil, err
		}
		if timeout != 0 {
			timeout = max(time.Until(deadline), time.Millisecond)
		}
		answer, err = t.once(timeout, body, false)
	}
	return answer, err
}

// onlyLooks reports whether a request changes nothing.
func onlyLooks(body protocol.RequestBody) bool {
	switch body.(type) {
	case *protocol.List, *protocol.Clients, *protocol.Capture, *protocol.History, *protocol.Wait, *protocol.Await, *protocol.ReadRun, *protocol.Stats:
		return true
	}
	return false
}

func (t *Talk) once(timeout time.Duration, body protocol.RequestBody, said bool) (protocol.ResultBody, error) {
	if !said {
		t.last++
		if err := t.conn.Send(&protocol.Request{ID: t.last, Timeout: timeout, Body: body}); err != nil {
			return nil, lost(err)
		}
	}
	if timeout == 0 {
		timeout = protocol.RequestTimeout
	}
	conn := t.conn
	late := time.AfterFunc(timeout+answerGrace, func() { _ = conn.Close() })
	defer late.Stop()
	defer context.AfterFunc(t.ctx, func() { _ = conn.Close() })()
	for {
		msg, err := conn.Receive()
		if err != nil && t.ctx.Err() != nil {
			return nil, givenUp(t.ctx)
		}
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

// givenUp is why a request whose context ended has no answer.
func givenUp(ctx context.Context) error {
	kind := fault.Canceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = fault.Timeout
	}
	return fault.Wrap(kind, context.Cause(ctx), "the answer was not waited for").WithHint("%s", hintUnknown)
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

// BodyOf is the answer as the type its request must have.
func BodyOf[T protocol.ResultBody](body protocol.ResultBody, err error) (T, error) {
	typed, ok := body.(T)
	if err == nil && !ok {
		err = fault.New(fault.Violation, "the daemon gave another answer than was asked for")
	}
	return typed, err
}

// At has a fault name the host it came from, if that is not this machine.
func At(host domain.Host, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if host.Local() || !ok || IsNoDaemon(err) {
		return err
	}
	named := *e
	named.Msg = host.String() + ": " + e.Msg
	return &named
}

// NoSession is what the daemon of a's host would say if there were one.
func NoSession(a domain.Address) error {
	if a.Name == "" {
		return At(a.Host, fault.New(fault.NotFound, "there are no sessions").WithHint("%s makes one", strings.TrimSpace("vev new "+a.String())))
	}
	return At(a.Host, fault.New(fault.NotFound, "no session %q", fault.Clean(a.Name)).
		WithHint("there are no sessions; vev new %s makes one", fault.Clean(a.String())))
}
