package ports

import (
	"context"
	"io"

	"github.com/vev-term/vev/internal/protocol"
)

// SessionClientConn is a session conversation seen from its client, after the preamble.
// One goroutine receives; any may send.
type SessionClientConn interface {
	// Send writes one message; it waits while the carriage takes none. Unblocked by Close.
	Send(protocol.SessionClientMessage) error
	// Receive waits for the next message. The message and the slices in it are valid until the next
	// call: whoever keeps some of it, or gives it to another goroutine, copies (strings may be kept).
	// io.EOF: the other side ended in order. A *fault.Error of kind Violation ends the conversation.
	Receive() (protocol.SessionServerMessage, error)
	Close() error
}

// Pender is what a SessionClientConn may be besides. Its receiver asks it before it does work that the next message
// would make it do again.
type Pender interface {
	// Pending reports whether the next message was received whole: Receive would not wait. It never waits itself.
	Pending() bool
}

// LinkTeller is what a SessionClientConn may be besides: one that goes over a link to another machine.
type LinkTeller interface {
	// Reports tells how the link is, the newest only. It is never closed; nil: nothing is ever told.
	Reports() <-chan protocol.LinkReport
}

// SessionServerConn is a session conversation seen from its daemon, after the preamble.
type SessionServerConn interface {
	Send(protocol.SessionServerMessage) error
	// SendNow sends what next returns, where neither the carriage nor another sender makes the caller wait; false: they
	// would, and next was not called. next may return nil, and must not wait for a sender.
	SendNow(next func() protocol.SessionServerMessage) (bool, error)
	Receive() (protocol.SessionClientMessage, error)
	Close() error
}

// SessionDialer begins session conversations with one daemon. Dial finds or starts what is
// between; it may be called again after a conversation was lost. It retries what is safe to
// retry until ctx ends, and returns a fault of kind Unavailable or Timeout then.
type SessionDialer interface {
	Dial(ctx context.Context) (SessionClientConn, error)
}

// SayingDialer is what a SessionDialer may be besides.
type SayingDialer interface {
	SessionDialer
	// DialSaying is Dial, and says the conversation's first message, at once where that saves a round trip. A message that must
	// not be said twice waits until the conversation is there.
	DialSaying(ctx context.Context, first protocol.SessionClientMessage) (SessionClientConn, error)
}

// Stream is a logical stream: an ordered byte pipe in both directions with credit of its own.
// One goroutine reads, one writes, any may close.
type Stream interface {
	// Read returns received bytes, io.EOF after an orderly close, the failure after another.
	Read(p []byte) (int, error)
	// Write waits for credit and for the carriage. Unblocked by Close and by the peer's close.
	Write(p []byte) (int, error)
	// Close ends the stream in order: what was written is delivered.
	Close() error
	// Abort ends the stream with a failure; both directions drop what is under way.
	Abort(protocol.Failure) error
}

// BrokerConn is one client's broker conversation seen from the broker, after Register.
type BrokerConn interface {
	// Accept waits for the client's next OpenStream. Every other request has been answered by
	// the conversation itself. io.EOF: the client has gone.
	Accept(ctx context.Context) (StreamRequest, error)
	// Close ends the conversation and all its streams, giving the client the reason.
	Close(reason protocol.Failure) error
	// Numbers is what the conversation holds and has done.
	Numbers() protocol.ConnNumbers
}

// Subscription is a client that has asked for the catalogue. Whoever serves it publishes from one goroutine.
type Subscription interface {
	// Asked is what it is about.
	Asked() protocol.Subscribe
	// Ask is how the client's person is asked, nil where there is none.
	Ask() Ask
	// Publish gives the client a SnapshotPart or SnapshotDelta of at most MaxPublishBytes; it waits while the client takes
	// nothing. Canceled: the subscription is over. Unblocked by that.
	Publish(protocol.BrokerServerMessage) error
	// Missed gets a token when the client has missed something and needs a snapshot.
	Missed() <-chan struct{}
	// Over is closed when the client has had enough, has subscribed anew, or is gone.
	Over() <-chan struct{}
}

// MaxPublishBytes bounds one message of a subscription.
const MaxPublishBytes = 128 << 10

// SessionConverse begins a session conversation on a carriage to a daemon, which the conversation owns from then on: on an
// error it has been closed. ctx counts for the preamble.
type SessionConverse func(ctx context.Context, carriage io.ReadWriteCloser) (SessionClientConn, error)

// StreamRequest is an OpenStream that waits for its answer: exactly one of Open, Hand and Refuse.
type StreamRequest interface {
	Host() string
	Start() protocol.StartPolicy
	// First are the first bytes of the stream, which Open's does not have; nil: it has them all.
	First() []byte
	// Public reports whether other users of both machines may see what First says.
	Public() bool
	// Ask is how the client's person is asked, nil where there is none.
	Ask() Ask
	Open() (Stream, error)
	// Hand grants the stream by giving the client the connection itself, where the client's
	// carriage can take it; ok is false where not, and nothing was answered then. The stream
	// carries no bytes: it ends when the client has done with the connection. The caller closes
	// its own hold of conn.
	Hand(conn io.ReadWriteCloser) (s Stream, ok bool, err error)
	Refuse(protocol.Failure) error
	// Report tells the client, if it wants to know, how the link under the stream is, from Open until the stream's end. It
	// never waits: a report that has not left yet gives way to the next one.
	Report(protocol.LinkReport)
}

// DaemonDialer gives a byte carriage to the daemon of this machine, starting it where the
// policy allows. The caller closes it.
type DaemonDialer interface {
	DialDaemon(ctx context.Context, start protocol.StartPolicy) (io.ReadWriteCloser, error)
}
