package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	firstBackoff = 20 * time.Millisecond // doubled after each attempt but the first, which is made at once
	lastBackoff  = time.Second
	// steadyAfter is how long a conversation lasts that counts as one: the next loss is a new one.
	steadyAfter = 100 * time.Millisecond
	// maxViolations of the protocol in a row, without a state between them, and the client gives up: a full state in a
	// new epoch mends what was lost, but not a peer that means something else.
	maxViolations = 3
)

// link is the conversation with the daemon and, after its loss, the next one. One goroutine runs follow: it receives,
// draws and acknowledges; nothing is handed over between.
type link struct {
	*client
	token      protocol.Token
	began      time.Time // of the conversation
	backoff    time.Duration
	violations int
	held       int                     // states applied and not painted
	heldBytes  int                     // their data
	ended      *protocol.Ended         // what the daemon said last
	next       ports.SessionClientConn // that was begun over another link, until it is attached
}

// follow attaches and stays attached until the daemon or ctx ends it.
func (l *link) follow(ctx context.Context) outcome {
	first := l.o.Attach
	conn, attached, err := l.attach(ctx, &first)
	if err != nil {
		return outcome{err: err}
	}
	l.id, l.created, l.readOnly = attached.ID, attached.Created, attached.ReadOnly
	l.scroll.of(l.id)
	l.screen.composer.readOnly = l.readOnly
	if l.screen.inline != nil {
		l.screen.inline.session, l.screen.inline.whole = l.id.String(), l.created
	}
	if err := l.begin(conn, attached); err != nil {
		return outcome{err: err}
	}
	if err := l.enter(ctx); err != nil {
		conn.Send(&protocol.Detach{})
		conn.Close()
		return outcome{err: err}
	}
	for {
		heeding := l.heed(ctx, conn)
		err := l.receive(ctx, conn)
		l.out.end(conn)
		conn.Close()
		l.next = heeding.end()
		if l.ended != nil {
			l.drop()
			return ending(l.ended)
		}
		if conn, err = l.reconnect(ctx, err); err != nil {
			l.drop()
			return outcome{err: err}
		}
	}
}

// ending is the outcome of what the daemon said last.
func ending(m *protocol.Ended) outcome {
	out := outcome{reason: m.Reason, exit: m.Exit}
	if m.Reason == protocol.EndFailed {
		failure := m.Failure
		if failure == nil {
			failure = &protocol.Failure{Text: "the daemon ended the attachment and gave no reason"}
		}
		out.err = failure.Fault()
	}
	return out
}

// attach dials and says m, with the terminal's size; dial and answer have protocol.HandshakeTimeout together, but that who
// can be asked is asked after it was tried without.
func (l *link) attach(ctx context.Context, m *protocol.Attach) (ports.SessionClientConn, protocol.Attached, error) {
	limit := protocol.HandshakeTimeout
	if l.o.Asker != nil {
		limit += protocol.HandshakeTimeout + protocol.PromptTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m.Size = l.size()
	asked := time.Now()
	conn, said, err := l.dial(ctx, m)
	if err != nil {
		return nil, protocol.Attached{}, err
	}
	if !said || !l.o.Far { // on this machine the dial is processes that start and wait for each other
		asked = time.Now()
	}
	ctx, end := context.WithTimeout(ctx, protocol.HandshakeTimeout)
	defer end()
	answered, closed := make(chan struct{}), make(chan struct{})
	l.spawn(func() {
		defer close(closed)
		select {
		case <-ctx.Done():
			conn.Close()
		case <-answered:
		}
	})
	attached, err := l.ask(conn, m, said)
	close(answered)
	<-closed
	if err == nil && ctx.Err() == nil {
		rtt := time.Since(asked)
		if said && rtt >= longestDial {
			rtt = -1
		}
		l.contact.begin(time.Now(), rtt)
		if m.Size != l.size() {
			signal(l.resized)
		}
		return conn, attached, nil
	}
	conn.Close()
	if cause := ctx.Err(); cause == context.DeadlineExceeded {
		err = fault.Wrap(fault.Timeout, err, "the daemon did not answer within %s", protocol.HandshakeTimeout)
	} else if cause != nil {
		err = fault.Wrap(fault.Canceled, err, "the attach was given up")
	}
	return nil, protocol.Attached{}, err
}

// dial gives a conversation; said: m was said already.
func (l *link) dial(ctx context.Context, m *protocol.Attach) (conn ports.SessionClientConn, said bool, err error) {
	if next := l.next; next != nil {
		l.next = nil
		return next, false, nil
	}
	if d, ok := l.o.Dialer.(ports.SayingDialer); ok {
		conn, err = d.DialSaying(ctx, m)
		return conn, true, err
	}
	conn, err = l.o.Dialer.Dial(ctx)
	return conn, false, err
}

// drop closes a conversation that nobody needs.
func (l *link) drop() {
	if l.next != nil {
		l.next.Close()
	}
}

// ask waits for the answer to m, which it says if that was not done yet.
func (l *link) ask(conn ports.SessionClientConn, m *protocol.Attach, said bool) (protocol.Attached, error) {
	if !said {
		if err := conn.Send(m); err != nil {
			return protocol.Attached{}, lost(err)
		}
	}
	answer, err := conn.Receive()
	if err != nil {
		return protocol.Attached{}, lost(err)
	}
	switch answer := answer.(type) {
	case *protocol.Attached:
		return *answer, nil
	case *protocol.Refused:
		err := answer.Failure.Fault()
		if m.Resume != nil && err.Kind == fault.NotFound {
			err = errForgotten
		}
		return protocol.Attached{}, err
	}
	return protocol.Attached{}, fault.New(fault.Violation, "the daemon answered an attach with %T", answer)
}

// lost is the fault of a conversation that ended before its time.
func lost(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the connection to the daemon was lost")
}

// begin goes on with the input on conn, which the daemon has attached.
func (l *link) begin(conn ports.SessionClientConn, attached protocol.Attached) error {
	l.token, l.began, l.held = attached.Token, time.Now(), 0
	l.measured()
	l.name.Store(&attached.Name)
	err := l.out.begin(conn, attached.InputReceived)
	if err != nil {
		conn.Close()
	}
	return err
}

// receive draws what comes on conn until it ends; l.ended is set when the daemon said so.
func (l *link) receive(ctx context.Context, conn ports.SessionClientConn) error {
	pender, _ := conn.(ports.Pender)
	for {
		m, err := conn.Receive()
		if err != nil {
			return lost(err)
		}
		now := time.Now()
		if l.contact.hear(now) {
			signal(l.notices.wake)
		}
		switch m := m.(type) {
		case *protocol.Output:
			err = l.output(m, pender, now)
		case *protocol.Result:
			l.out.answered(m)
			err = l.catchUp() // it may be what a state was left for
		case *protocol.Ended:
			err = l.settle()
			l.rest(ctx)
			ended := *m
			l.ended = &ended
			l.end(ending(l.ended)) // before anything that may wait
			l.confirm(conn)
		default:
			err = fault.New(fault.Violation, "%T came in an attachment", m)
		}
		if terminal, ok := errors.AsType[*terminalError](err); ok {
			// The daemon is still to be told, and to be heard.
			l.end(outcome{err: terminal, local: true})
		} else if err != nil {
			return err
		}
		if l.ended != nil {
			return nil
		}
	}
}

func (l *link) output(m *protocol.Output, pender ports.Pender, now time.Time) error {
	at, measured, err := l.out.received(m.Echo, m.InputAcked, m.New > 0, now)
	if err != nil {
		return err
	}
	if measured {
		l.measured()
	}
	if m.New == 0 && len(m.Events) == 0 && len(m.Panes) == 0 && l.held == 0 {
		// It acknowledges input, and need not wait for the screen.
		l.guesser.settled(at)
		if l.guesser.active.Load() {
			signal(l.guesser.wake)
		}
		return nil
	}
	l.held++
	for i := range m.Panes {
		l.heldBytes += len(m.Panes[i].Data)
	}
	more := pender != nil && l.held < protocol.MaxOutputWindow && pender.Pending()
	ack, painted, err := l.screen.show(m, at, more)
	if err != nil {
		return err
	}
	l.renamed(m.Events)
	if !painted {
		return nil
	}
	l.out.applied(ack, l.heldBytes)
	l.held, l.heldBytes = 0, 0
	return nil
}

// measured passes the link's round trip on.
func (l *link) measured() {
	if rtt, known := l.contact.rtt(); known {
		l.guesser.measured(rtt)
	}
}

// confirm tells the daemon that its last word was heard, which it keeps until then.
func (l *link) confirm(conn ports.SessionClientConn) {
	conn.Send(&protocol.Detach{}) // the end, whether or not it arrives
}

// settle paints what was left for a later state, when there is none.
func (l *link) settle() error {
	if l.held == 0 {
		return nil
	}
	return l.screen.repaint()
}

// catchUp paints, and acknowledges, what was left for a message that brought no state.
func (l *link) catchUp() error {
	if l.held == 0 {
		return nil
	}
	ack, err := l.screen.catchUp()
	if err != nil {
		return err
	}
	l.out.applied(ack, l.heldBytes)
	l.held, l.heldBytes = 0, 0
	return nil
}

func (l *link) renamed(events []protocol.Event) {
	for _, e := range events {
		if r, ok := e.Body.(protocol.Renamed); ok {
			l.name.Store(&r.Name)
		}
	}
}

// reconnect resumes the attachment after cause ended its conversation. It gives up only when the daemon, or ctx, says so.
func (l *link) reconnect(ctx context.Context, cause error) (ports.SessionClientConn, error) {
	if e, ok := errors.AsType[*fault.Error](cause); ok && e.Peer && e.Kind == fault.Conflict {
		return nil, cause // who carried it has ended it
	}
	l.contact.end()
	l.notices.disconnected()
	if time.Since(l.began) >= steadyAfter || l.next != nil {
		l.backoff, l.violations = 0, 0
	}
	for {
		if fault.KindOf(cause) == fault.Violation {
			if l.violations++; l.violations == maxViolations {
				return nil, cause
			}
		}
		if err := l.pause(ctx); err != nil {
			return nil, err
		}
		var conn ports.SessionClientConn
		if conn, cause = l.resume(ctx); cause == nil {
			l.notices.connected()
			return conn, nil
		}
		if final(cause) {
			return nil, gone(cause)
		}
	}
}

func (l *link) resume(ctx context.Context) (ports.SessionClientConn, error) {
	conn, attached, err := l.attach(ctx, &protocol.Attach{
		Resume: &protocol.Resume{Token: l.token, EventSeq: l.screen.resume()},
	})
	if err != nil {
		return nil, err
	}
	return conn, l.begin(conn, attached)
}

// pause waits before an attempt: not before the first one, then twice as long each time, somewhat random so that the
// clients of one broker do not come all at once.
func (l *link) pause(ctx context.Context) error {
	wait := l.backoff
	l.backoff = min(max(2*wait, firstBackoff), lastBackoff)
	if wait > 0 {
		wait = wait/2 + rand.N(wait/2)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Canceled, context.Cause(ctx), "reconnecting was given up")
	}
}

// final reports whether another attempt cannot help.
func final(err error) bool {
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Denied, fault.Conflict, fault.Usage, fault.Incompatible, fault.Unsupported, fault.Canceled:
		return true
	case fault.Internal, fault.Unavailable, fault.Limit, fault.Violation, fault.Timeout, fault.Unknown:
	}
	return false
}

// errForgotten is what it means when a daemon does not know an attachment that there was.
var errForgotten = &fault.Error{
	Kind: fault.NotFound, Msg: "the session has ended", Hint: "it was killed, or its daemon was restarted; vev ls shows what runs now",
}

// gone says what it means when there is no daemon any more.
func gone(err error) error {
	if fault.KindOf(err) != fault.NotFound || errors.Is(err, errForgotten) {
		return err
	}
	return fault.New(fault.NotFound, "the session ended: its daemon is gone").WithHint("vev ls shows what runs now")
}

// size is the terminal's size now, within what the protocol allows.
func (c *client) size() domain.Size {
	size, err := c.o.Terminal.Size()
	if err != nil {
		return domain.DefaultSize
	}
	return domain.Size{Cols: min(max(size.Cols, 1), domain.MaxCols), Rows: min(max(size.Rows, 1), domain.MaxRows)}
}
