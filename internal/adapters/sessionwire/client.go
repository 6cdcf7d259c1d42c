package sessionwire

import (
	"bytes"
	"context"
	"io"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

var (
	_ ports.SessionClientConn = (*ClientConn)(nil)
	_ ports.Pender            = (*ClientConn)(nil)
)

// ClientConn is a session conversation seen from its client. One goroutine receives; any may
// send and close.
type ClientConn struct {
	*conn
	// Owned by the receiver.
	dec    serverDecoder
	packed unpacker
	short  squeezer
}

// Client speaks the preamble on carriage as a session client, with the features it offers, and
// returns the conversation, which owns the carriage from now on: on an error it has been closed, maybe twice. The preamble
// has protocol.HandshakeTimeout, less where ctx ends earlier; ctx counts for nothing later.
// Errors are Incompatible (versions do not meet), Timeout, Canceled (ctx), Unavailable (the
// carriage ended) or Violation.
func Client(ctx context.Context, carriage io.ReadWriteCloser, software string, features uint64) (*ClientConn, error) {
	hello := offer(software, features)
	return client(ctx, carriage, func(rd *streamframe.Reader) (*protocol.Agreed, error) {
		return streamframe.ClientHandshake(rd, carriage, hello)
	})
}

func client(ctx context.Context, carriage io.ReadWriteCloser, shake func(*streamframe.Reader) (*protocol.Agreed, error)) (*ClientConn, error) {
	c, err := handshake(ctx, carriage, "session server", shake)
	if err != nil {
		return nil, err
	}
	return &ClientConn{conn: c, dec: serverDecoder{lean: maySqueeze(c.agreed)}}, nil
}

func offer(software string, features uint64) protocol.Hello {
	hello := protocol.NewHello(protocol.SessionClient, software)
	hello.Features = features
	return hello
}

// Opening is how a client's side of a conversation begins: its preamble, and behind that the first message if that need not
// wait for the answer.
type Opening struct {
	bytes []byte
	hello protocol.Hello
	state state // behind the message
}

// Open makes an opening with the features it offers. first is an Attach, Request or Watch that leaves the
// opening within protocol.MaxFirstBytes, or nil. The error is Limit or Usage: the message cannot be sent so.
func Open(software string, features uint64, first protocol.SessionClientMessage) (*Opening, error) {
	o := &Opening{hello: offer(software, features)}
	var behind []streamframe.Encode
	if first != nil {
		var v verdict
		if o.state, v = o.state.step(clientKind(first)); v != accept {
			return nil, fault.New(fault.Usage, "no conversation begins with %s", clientKind(first))
		}
		behind = append(behind, func(dst []byte) ([]byte, error) { return appendClient(dst, first) })
	}
	var b bytes.Buffer
	if err := streamframe.Offer(&b, o.hello, behind...); err != nil {
		return nil, refusedToSend(err, fault.Usage)
	}
	if b.Len() > protocol.MaxFirstBytes {
		return nil, refusedToSend(tooLong("an opening", b.Len(), protocol.MaxFirstBytes), fault.Usage)
	}
	o.bytes = b.Bytes()
	return o, nil
}

// Bytes are what the carriage has to have got before Client is called; not to be changed.
func (o *Opening) Bytes() []byte { return o.bytes }

// Client is the function Client for a carriage that has got the opening.
func (o *Opening) Client(ctx context.Context, carriage io.ReadWriteCloser) (*ClientConn, error) {
	c, err := client(ctx, carriage, func(rd *streamframe.Reader) (*protocol.Agreed, error) {
		return streamframe.Answered(rd, o.hello)
	})
	if err == nil {
		c.state = o.state // nobody else has it yet
	}
	return c, err
}

// Send writes one message and returns when the carriage has it. What breaks a limit is refused
// with fault.Limit, what is wrong in itself with fault.Usage; nothing was sent then and the
// conversation goes on. After Ended, a Detach is sent and what the daemon would drop is dropped
// here, without an error; new requests, and everything after Refused or Close, get Canceled.
// After a lost connection the error is Unavailable. Unblocked by Close.
func (c *ClientConn) Send(m protocol.SessionClientMessage) error {
	_, err := c.send(clientKind(m), fault.Usage, func(dst []byte) ([]byte, error) { return appendClient(dst, m) })
	return err
}

// Receive waits for the next message, which is valid until the next call. io.EOF: the server
// ended the stream between two frames. Any error stays: later calls return it again. Unblocked
// by Close.
func (c *ClientConn) Receive() (protocol.SessionServerMessage, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	m, err := c.receive()
	if err != nil {
		return nil, c.fail(err)
	}
	return m, nil
}

// Pending implements ports.Pender, for the receiver.
func (c *ClientConn) Pending() bool { return c.failed == nil && c.r.Pending() }

func (c *ClientConn) receive() (protocol.SessionServerMessage, error) {
	frame, err := c.frame()
	if err != nil {
		return nil, err
	}
	if frame, err = c.whole(frame); err != nil {
		return nil, err
	}
	m, err := c.dec.decode(frame)
	if err != nil {
		return nil, err
	}
	if before, v := c.step(serverKind(m)); v != accept {
		return nil, broken("%s came in a conversation that is %s", serverKind(m), before)
	}
	return m, nil
}

// frame reads one envelope. Which ceiling it has is in its first byte, and is held to before
// anything is allocated.
func (c *ClientConn) frame() ([]byte, error) {
	n, err := c.r.Next(int(c.agreed.MaxEnvelope))
	if err != nil {
		return nil, err
	}
	if limit := c.ceiling(kindAttached); n > limit {
		head, err := c.r.Peek(1)
		if err != nil {
			return nil, err
		}
		if head[0] != tagPacked<<3|2 && !mayBeLong(head[0]) {
			return nil, tooLong("a control envelope", n, limit)
		}
	}
	return c.r.Body()
}

// mayBeLong reports whether an envelope that begins with b may be longer than a control envelope.
func mayBeLong(b byte) bool { return b == tagOutput<<3|2 || b == tagResult<<3|2 }

// whole returns the envelope that a frame holds packed or squeezed, and any other as it is.
func (c *ClientConn) whole(frame []byte) ([]byte, error) {
	if body, ok, err := isOf(tagPacked, frame); err != nil {
		return nil, err
	} else if ok {
		return c.unpack(body)
	}
	body, ok, err := isOf(tagSqueezed, frame)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return frame, nil
	case !maySqueeze(c.agreed):
		return nil, broken("a squeezed envelope came, and nothing of the kind was agreed")
	}
	return c.short.expand(body)
}

// unpack returns the envelope in a Packed message.
func (c *ClientConn) unpack(body []byte) ([]byte, error) {
	if !mayPack(c.agreed) {
		return nil, broken("a packed envelope came, and nothing of the kind was agreed")
	}
	frame, err := c.packed.unpack(body, int(c.agreed.MaxEnvelope))
	if err != nil {
		return nil, err
	}
	if limit := c.ceiling(kindAttached); len(frame) > limit && !mayBeLong(frame[0]) {
		return nil, tooLong("a control envelope", len(frame), limit)
	}
	return frame, nil
}
