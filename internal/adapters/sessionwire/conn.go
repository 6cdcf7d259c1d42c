package sessionwire

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// conn is what both ends have in common: the carriage, its frames, and the order of messages.
type conn struct {
	carriage io.ReadWriteCloser // set by handshake, never changed
	agreed   protocol.Agreed    // likewise
	peer     string             // likewise: who is at the other end, for messages

	// slot is held by the one goroutine that writes. A channel, so that a writer that waits for
	// the carriage blocks others where Close and virtual time can reach them.
	slot chan struct{}
	done chan struct{} // closed by Close
	gone atomic.Bool   // Close was called

	// Owned by the holder of slot.
	w      *streamframe.Writer
	packer *packer   // of a server whose client unpacks, or nil
	short  *squeezer // of a server whose client expands, or nil
	broken error     // a write failed: what the peer has is not known

	// Owned by the receiver.
	r      *streamframe.Reader
	failed error // what ended receiving; it stays

	// Guarded by mu, a leaf: nothing blocks while it is held.
	mu    sync.Mutex
	state state
}

// handshake runs the preamble under protocol.HandshakeTimeout and ctx, and returns the
// connection; on failure the carriage is closed.
func handshake(ctx context.Context, carriage io.ReadWriteCloser, peer string,
	shake func(rd *streamframe.Reader) (*protocol.Agreed, error),
) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, protocol.HandshakeTimeout)
	defer cancel()
	release := closeWith(ctx, carriage)
	deadline, _ := ctx.Deadline()
	brief := descriptor.Of(carriage)
	rd := streamframe.NewReader(brief)
	agreed, err := streamframe.Within(carriage, deadline, func() (*protocol.Agreed, error) { return shake(rd) })
	if closed := release(); closed {
		return nil, contextFault(ctx, peer)
	}
	if err != nil {
		carriage.Close()
		return nil, handshakeFault(err, peer)
	}
	return &conn{
		carriage: carriage, agreed: *agreed, peer: peer,
		slot: make(chan struct{}, 1), done: make(chan struct{}),
		w: streamframe.NewWriter(brief), r: rd,
	}, nil
}

// closeWith closes the carriage when ctx ends: not every carriage keeps deadlines, and none
// knows a context. release ends that, joined, and reports whether it has happened.
func closeWith(ctx context.Context, carriage io.Closer) (release func() (closed bool)) {
	settled, watched := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-ctx.Done():
			carriage.Close()
			watched <- true
		case <-settled:
			watched <- false
		}
	}()
	return func() bool {
		close(settled)
		return <-watched
	}
}

// contextFault is the end of ctx as a fault.
func contextFault(ctx context.Context, peer string) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return fault.Wrap(fault.Timeout, context.Cause(ctx), "the %s did not complete the preamble in time", peer)
	}
	return fault.Wrap(fault.Canceled, context.Cause(ctx), "the preamble with the %s was given up", peer)
}

// handshakeFault gives a broken carriage a kind; faults of the preamble have theirs.
func handshakeFault(err error, peer string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the connection to the %s ended before its preamble", peer)
}

// send writes the one envelope that encode appends, in the order of conversation. rest is the
// kind of our own mistakes that are not about limits. It returns the size that the envelope had
// on its way.
func (c *conn) send(k kind, rest fault.Kind, encode func([]byte) ([]byte, error)) (bytes int, err error) {
	select {
	case <-c.done:
		return 0, c.closed()
	case c.slot <- struct{}{}:
	}
	defer func() { <-c.slot }()
	if err := c.unfit(); err != nil {
		return 0, err
	}
	var m leaving
	err = c.w.WriteWith(func(dst []byte) ([]byte, error) { return c.append(&m, dst, k, encode) })
	return c.outcome(&m, err, rest)
}

// sendNow is send for a goroutine that must not wait, and holds the slot, which it gives back. What the carriage does not
// take at once is written by a goroutine that has the slot meanwhile, and ends when that is done or with Close.
func (c *conn) sendNow(carriage syscall.RawConn, k kind, rest fault.Kind, encode func([]byte) ([]byte, error)) (bytes int, err error) {
	if err := c.unfit(); err != nil {
		<-c.slot
		return 0, err
	}
	var m leaving
	left, err := c.w.WriteNow(carriage, func(dst []byte) ([]byte, error) { return c.append(&m, dst, k, encode) })
	bytes, err = c.outcome(&m, err, rest)
	if len(left) == 0 {
		<-c.slot
		return bytes, err
	}
	go func() {
		defer func() { <-c.slot }()
		if err := c.w.Finish(left); err != nil {
			c.broken = c.lost(err)
		}
	}()
	return bytes, err
}

// unfit is why nothing can be sent any more, or nil, under the slot.
func (c *conn) unfit() error {
	if c.gone.Load() {
		return c.closed()
	}
	return c.broken
}

// leaving is a message that is being sent.
type leaving struct {
	bytes   int   // of the envelope on its way
	refused error // by us: the carriage is whole
}

// append takes the step last before the bytes leave, so that a message that cannot be sent does not count as said.
func (c *conn) append(m *leaving, dst []byte, k kind, encode func([]byte) ([]byte, error)) ([]byte, error) {
	b, err := encode(dst)
	if err == nil {
		err = c.checkLength(k, len(b)-len(dst))
	}
	if err == nil {
		err = c.say(k)
	}
	m.refused = err
	if err == nil {
		b, err = c.shorten(k, b, len(dst))
	}
	m.bytes = len(b) - len(dst)
	return b, err
}

// outcome is what the sender is told of err, under the slot. rest is the kind of our own mistakes that are not about limits.
func (c *conn) outcome(m *leaving, err error, rest fault.Kind) (bytes int, _ error) {
	switch {
	case err == nil:
		return m.bytes, nil
	case m.refused == nil:
		c.broken = c.lost(err)
		return 0, c.broken
	case m.refused == errLate:
		return 0, nil
	case m.refused == errOver:
		return 0, m.refused
	}
	return 0, refusedToSend(m.refused, rest)
}

// shorten squeezes or packs the envelope at the end of b, from at on, where that is agreed. Only states are squeezed: they
// resemble each other, and a short talk need not have the memory.
func (c *conn) shorten(k kind, b []byte, at int) ([]byte, error) {
	switch n := len(b) - at; {
	case c.short != nil && k == kindOutput && n <= protocol.MaxSqueezedBytes:
		return c.short.squeeze(b, at), nil
	case c.packer != nil && n >= packBelow:
		return c.packer.pack(b, at)
	}
	return b, nil
}

var (
	// errOver answers what is said after the end of a conversation.
	errOver error = &fault.Error{Kind: fault.Canceled, Msg: "the conversation is over"}
	// errLate keeps back what the other end would discard. A client's goroutines learn of the
	// end one after the other: what one says meanwhile is not a mistake.
	errLate = errors.New("late")
)

// say steps the conversation by a message of our own.
func (c *conn) say(k kind) error {
	before, v := c.step(k)
	switch v {
	case accept:
		return nil
	case discard:
		if before == stateEnded && k >= kindInput {
			return errLate
		}
		return errOver
	}
	if before >= stateEnded {
		return errOver
	}
	return broken("%s was to be said in a conversation that is %s", k, before)
}

// step moves the conversation and returns where it was.
func (c *conn) step(k kind) (before state, v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.state
	c.state, v = before.step(k)
	return before, v
}

func (c *conn) checkLength(k kind, n int) error {
	if limit := c.ceiling(k); n > limit {
		return tooLong(k.String(), n, limit)
	}
	return nil
}

// ceiling is the longest envelope of a kind.
func (c *conn) ceiling(k kind) int {
	if k == kindOutput || k == kindResult {
		return int(c.agreed.MaxEnvelope)
	}
	return min(protocol.MaxControlBytes, int(c.agreed.MaxEnvelope))
}

// fail ends receiving for good and returns what the caller sees.
func (c *conn) fail(err error) error {
	if b, ok := err.(*breach); ok {
		err = received(b)
	}
	switch {
	case c.gone.Load():
		c.failed = c.closed()
	case err == io.EOF: // between two frames
		c.failed = io.EOF
	case fault.KindOf(err) == fault.Violation:
		c.failed = err
	default:
		c.failed = c.lost(err)
	}
	return c.failed
}

// lost is the end of the carriage, whatever it gives as its reason: what matters to the caller
// is that another conversation may be begun. A reason's hint stays; a Conflict that the other
// side ended it with is one that another conversation would not mend.
func (c *conn) lost(err error) error {
	if c.gone.Load() {
		return c.closed()
	}
	lost := fault.Wrap(fault.Unavailable, err, "the connection to the %s was lost", c.peer)
	if reason, ok := errors.AsType[*fault.Error](err); ok {
		if reason.Peer && reason.Kind == fault.Conflict {
			return reason
		}
		lost.Hint = reason.Hint
	}
	return lost
}

func (c *conn) closed() error {
	return fault.New(fault.Canceled, "the conversation with the %s was closed", c.peer)
}

// Close ends the conversation at once and releases whoever sends or receives. The first call
// returns what closing the carriage gave, later ones nil.
func (c *conn) Close() error {
	if !c.gone.CompareAndSwap(false, true) {
		return nil
	}
	close(c.done)
	return c.carriage.Close()
}

// Agreed is what the preamble settled: version, ceilings, features and the peer's software.
func (c *conn) Agreed() protocol.Agreed { return c.agreed }
