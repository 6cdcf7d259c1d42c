package talk

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Names of the services: of their sockets, locks and logs.
const (
	BrokerService = "broker"
	DaemonService = "daemon"
)

// EnvAgent is where ssh finds its agent.
const EnvAgent = "SSH_AUTH_SOCK"

// Pauses between two attempts to begin a conversation, doubled each time.
const (
	FirstPause = 2 * time.Millisecond
	LastPause  = 100 * time.Millisecond
)

// maxRefusals bounds how often a broker may say that it cannot lead to the daemon now: one that
// is ending says so once, one that cannot start a daemon says it every time.
const maxRefusals = 3

// ErrNoDaemon says that no daemon runs and that none was to be started. Its kind ends a
// reconnecting client: what it was attached to is gone.
var ErrNoDaemon = &fault.Error{Kind: fault.NotFound, Msg: "no session daemon is running", Hint: "vev new starts one"}

// IsNoDaemon reports whether err is, or wraps, ErrNoDaemon.
func IsNoDaemon(err error) bool { return errors.Is(err, ErrNoDaemon) }

// Dialer begins session conversations with a host's daemon, through the broker, which it starts
// when there is a reason to.
type Dialer struct {
	Host     domain.Host
	Start    protocol.StartPolicy
	Person   ports.Ask // answers what ssh asks; nil: nobody does
	Software string    // what we call ourselves in a preamble
	Program  string    // what a broker is started from; "": this program
}

var _ ports.SayingDialer = (*Dialer)(nil)

// Dial implements ports.SessionDialer: DialSaying without a message.
func (d *Dialer) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	return d.DialSaying(ctx, nil)
}

// DialSaying tries until the preamble is through, or protocol.HandshakeTimeout passes. What was cut
// off before is tried again: the other side had not begun anything, it was about to end or has
// just ended. See ports.SessionDialer.
func (d *Dialer) DialSaying(ctx context.Context, first protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	timeout := protocol.HandshakeTimeout
	if d.Person != nil {
		timeout += protocol.PromptTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	refused := 0
	for pause := FirstPause; ; pause = min(2*pause, LastPause) {
		conn, err := d.once(ctx, first)
		cut, ok := errors.AsType[*cutError](err)
		if !ok {
			return conn, err
		}
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Peer {
			if refused++; refused == maxRefusals {
				return nil, cut.cause
			}
		}
		if !Sleep(ctx, pause) {
			return nil, fault.Wrap(fault.Unavailable, cut.cause, "cannot reach the session daemon").
				WithHint("vev doctor shows what runs")
		}
	}
}

// opening is what is sent with the request for a stream, and what of first is left to say then: what is too
// long, and what must not be said twice. direct: the stream will be the daemon's own connection; what is relayed may come from afar.
func (d *Dialer) opening(first protocol.SessionClientMessage, direct bool) (*sessionwire.Opening, protocol.SessionClientMessage, error) {
	features := protocol.FeatureNone
	if !direct {
		features = protocol.FeaturePacked | protocol.FeatureSqueezed
	}
	if mayRepeat(first) {
		o, err := sessionwire.Open(d.Software, features, first)
		if fault.KindOf(err) != fault.Limit || err == nil {
			return o, nil, err
		}
	}
	o, err := sessionwire.Open(d.Software, features, nil)
	return o, first, err
}

// mayRepeat reports whether a message may be said twice, as in an attempt that has failed, or one that goes over two links. One
// that makes a session would make a second one, one that takes a session the first conversation's own place.
func mayRepeat(m protocol.SessionClientMessage) bool {
	switch m := m.(type) {
	case *protocol.Attach:
		return m.Create == nil && !m.Take
	case *protocol.Request:
		return onlyLooks(m.Body)
	}
	return false
}

// mayBeSeen reports whether other users of both machines may see a conversation's first message, and so a command line may
// have it: one that says no more than a session's name as `ssh HOST tmux attach -t NAME` would, how large the terminal is, and
// which process of which machine asks. Whatever holds text that was typed, a token, a command, or anything of an environment is
// for the two ends alone; and so is what nobody has thought of here.
func mayBeSeen(first protocol.SessionClientMessage) bool {
	m, ok := first.(*protocol.Attach)
	if !ok {
		return false
	}
	seen := protocol.Attach{
		Session: m.Session, ReadOnly: m.ReadOnly, Take: m.Take, Size: m.Size,
		Origin: domain.Origin{Host: m.Origin.Host, Pid: m.Origin.Pid},
	}
	return *m == seen
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

// once walks the way once: broker.sock, broker conversation, stream, session preamble, and what first is left to say.
func (d *Dialer) once(ctx context.Context, first protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	// A broker on this machine hands over the daemon's connection; where one does not, it is next to it all the same.
	all := first
	opening, first, err := d.opening(all, d.Host.Local())
	if err != nil {
		return nil, err
	}
	asked := &protocol.Opening{Host: d.Host.String(), Start: d.Start, First: opening.Bytes(), Public: mayBeSeen(all)}
	broker, err := d.broker(ctx, true, asked)
	if err != nil {
		return nil, err
	}
	stop := func() {}
	if d.Person != nil {
		stop = answering(ctx, broker, d.Person)
	}
	stream, err := broker.Open(ctx, asked)
	stop()
	if err != nil {
		err = d.refusal(err, broker.Err() != nil)
		_ = broker.Close()
		return nil, err
	}
	// The stream goes in as it is: it may be the daemon's own connection, with all a socket can.
	conn, err := opening.Client(ctx, stream)
	if err != nil {
		_ = broker.Close()
		return nil, cut(err)
	}
	b := &brokered{ClientConn: conn, broker: broker}
	if s, ok := stream.(*brokeripc.Stream); ok {
		b.reports = s.Reports()
	}
	if first != nil {
		if err := b.Send(first); err != nil {
			_ = b.Close()
			return nil, err
		}
	}
	return b, nil
}

// brokered is a session conversation that is the only thing its broker conversation is for:
// both end together.
type brokered struct {
	*sessionwire.ClientConn
	broker  *brokeripc.Client
	reports <-chan protocol.LinkReport // nil: of a link to another machine alone
}

var _ ports.LinkTeller = (*brokered)(nil)

// Reports implements ports.LinkTeller.
func (b *brokered) Reports() <-chan protocol.LinkReport { return b.reports }

func (b *brokered) Close() error {
	err := b.ClientConn.Close()
	_ = b.broker.Close() // there is nothing left in it that could be lost
	return err
}

// Broker begins a conversation with the broker and starts it when there is a reason to: to
// start a daemon, to reach another machine, or because one runs and only the broker can lead to it. The caller closes it.
func (d *Dialer) Broker(ctx context.Context) (*brokeripc.Client, error) {
	return d.broker(ctx, true, nil)
}

// Catalogue begins a conversation with the broker to ask for the catalogue, whatever the host: again where the one that answers
// is about to end, for protocol.HandshakeTimeout at the most. The broker is started if start is set; else the fault is
// Unavailable where there is none. The caller closes it.
func (d *Dialer) Catalogue(ctx context.Context, start bool) (*brokeripc.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, protocol.HandshakeTimeout)
	defer cancel()
	far := *d
	far.Start = protocol.StartIfNeeded // the broker, and for that no daemon must run
	for pause := FirstPause; ; pause = min(2*pause, LastPause) {
		broker, err := far.broker(ctx, start, nil)
		if cut, ok := errors.AsType[*cutError](err); !ok {
			return broker, err
		} else if !start || !Sleep(ctx, pause) {
			return nil, cut.cause
		}
	}
}

// broker is Broker, and asks for a stream with that, which may be nil.
func (d *Dialer) broker(ctx context.Context, start bool, o *protocol.Opening) (*brokeripc.Client, error) {
	dir, err := rundir.Open()
	if err != nil {
		return nil, err
	}
	if agent := os.Getenv(EnvAgent); agent != "" && !d.Host.Local() {
		_ = dir.OfferAgent(agent) // ssh says what it lacks
	}
	begin, err := brokeripc.BeginHere(d.Software, d.Person != nil, o)
	if err != nil {
		return nil, err
	}
	dial := begin.Dial
	socket, err := dir.Dial(ctx, BrokerService)
	if start && fault.KindOf(err) == fault.Unavailable {
		if d.Host.Local() && d.Start == protocol.ExistingOnly && !Running(dir, DaemonService) {
			return nil, ErrNoDaemon
		}
		// It begins with what is asked of it, to reach another machine above all, and listens beside that.
		var said bool
		socket, said, err = dir.DialOrStartSaying(ctx, rundir.Service{Name: BrokerService, Program: d.Program}, begin.Bytes())
		if said {
			dial = begin.DialSaid
		}
	}
	if err != nil {
		return nil, err
	}
	broker, err := dial(ctx, socket)
	if err != nil {
		return nil, cut(err)
	}
	return broker, nil
}

// Running reports whether a process holds the life lock of a service.
func Running(dir *rundir.Dir, name string) bool {
	return fault.KindOf(dir.Look(name)) == fault.Conflict
}

// refusal tells apart why a stream was not opened: no daemon, a broker that is ending, or a
// reason to show. The broker has tried all there is to reach another machine: what it says counts.
func (d *Dialer) refusal(err error, lost bool) error {
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return ErrNoDaemon
	case !d.Host.Local() && !lost:
		return err
	}
	return cut(err)
}

// Sleep waits; false: ctx ended first.
func Sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answering has a person answer what comes over a broker conversation, until stop.
func answering(ctx context.Context, broker *brokeripc.Client, person ports.Ask) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case q := <-broker.Prompts():
				answer, err := person(ctx, *q)
				broker.Reply(&protocol.PromptReply{Prompt: q.Prompt, Answer: answer, Cancel: err != nil})
				clear(answer)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}
