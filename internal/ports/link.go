package ports

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// Link is a broker conversation with another host's broker endpoint, seen from the side that
// asks. Any goroutine may call its methods.
type Link interface {
	// OpenStream asks for a stream and waits for the answer, until ctx ends. first, at most protocol.MaxFirstBytes, are the
	// stream's first bytes: they go with the request where that can be, and are taken for written all the same.
	// Errors are faults: the other side's refusal (Peer is set), Limit, Canceled or Timeout with ctx, or the link's end.
	OpenStream(ctx context.Context, host string, start protocol.StartPolicy, first []byte) (Stream, error)
	// Probe asks the other end for a sign of life and waits for it: nil, and Vitals has a newer round trip. Errors are
	// faults: Canceled or Timeout with ctx, which gives up no more than the waiting; or the link's end.
	Probe(ctx context.Context) error
	// Vitals are what is known of the link now. It never waits.
	Vitals() domain.Vitals
	// Err is why the link has ended, and with it each of its streams; nil before.
	Err() error
	// Close ends the link. It may wait, for a bounded time, for a carriage that takes nothing.
	Close() error
}

// Ask puts a question of ssh's to a person and waits for the answer until ctx ends. The caller sets no id.
// Canceled: the person declined, or is gone; Limit: too much is asked already.
type Ask func(ctx context.Context, q protocol.Prompt) ([]byte, error)

// Sleep tells whether this machine was asleep, which its clock for measuring does not count.
type Sleep interface {
	// Slept is for how long it was, since some moment in the past. It never waits.
	Slept() time.Duration
	// Woke gets a note soon after it woke up, where the system tells; else it is nil. Notes without sleep are possible.
	Woke() <-chan struct{}
}

// OpeningDialer is a LinkDialer that can ask for a link's first stream while the link is made.
type OpeningDialer interface {
	LinkDialer
	// DialOpening is DialLink. The link has asked for o as its first stream if the other end knows that: an OpenStream that says
	// the same as o gets it. What o says may be seen by other users of both machines: it must be Public. Who asks for o this way calls that in any case, since the stream lasts until it is closed.
	DialOpening(ctx context.Context, host string, ask Ask, o *protocol.Opening) (Link, error)
}

// BesideDialer is a LinkDialer that can be led to a host by a link that is there already.
type BesideDialer interface {
	LinkDialer
	// DialBeside is DialLink without ask. What another dialer would learn over ssh it learns from the other end of beside, a link
	// to the same host, where that knows how; else over ssh.
	DialBeside(ctx context.Context, host string, beside Link) (Link, error)
}

// LinkDialer makes links. Each call makes another one; any number may run at once.
type LinkDialer interface {
	// DialLink connects to the named host until ctx ends, which ends nothing afterwards. The fault is NotFound when no such host
	// is known, Unavailable or Timeout when another attempt may succeed. What it must know from a person goes to ask; with nil
	// it does without, or fails as Denied.
	DialLink(ctx context.Context, host string, ask Ask) (Link, error)
	// Attempts says what reaching a host again may cost: an attempt begins every so often, on average,
	// while at most most run at once. Neither is 0.
	Attempts() (every time.Duration, most int)
}
