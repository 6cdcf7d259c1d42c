package sessionwire

import (
	"context"
	"io"
	"syscall"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

var _ ports.SessionServerConn = (*ServerConn)(nil)

// ServerConn is a session conversation seen from its daemon. One goroutine receives; any may
// send and close.
type ServerConn struct {
	*conn
	dec clientDecoder   // owned by the receiver
	now syscall.RawConn // of a carriage that can be written without waiting, or nil
}

// Server speaks the preamble on carriage as a session server and returns the conversation,
// which owns the carriage from now on: on an error it has been closed, after the peer was told
// why where it could be told. The preamble has protocol.HandshakeTimeout. Errors as of Client.
func Server(carriage io.ReadWriteCloser, software string) (*ServerConn, error) {
	c, err := handshake(context.Background(), carriage, "session client", func(rd *streamframe.Reader) (*protocol.Agreed, error) {
		hello := protocol.NewHello(protocol.SessionServer, software)
		hello.Features = protocol.FeaturePacked | protocol.FeatureSqueezed
		return streamframe.ServerHandshake(rd, carriage, hello)
	})
	if err != nil {
		return nil, err
	}
	if mayPack(c.agreed) {
		c.packer = new(packer)
	}
	if maySqueeze(c.agreed) {
		c.short = new(squeezer)
	}
	s := &ServerConn{conn: c}
	if socket, ok := carriage.(syscall.Conn); ok {
		s.now, _ = socket.SyscallConn() // nil with the error: the carriage is closed
	}
	return s, nil
}

// Send writes one message and returns when the carriage has it. What breaks a limit is refused
// with fault.Limit, what is wrong in itself with fault.Internal; nothing was sent then and the
// conversation goes on. After Ended or Refused, or Close, the error is Canceled; after a lost
// connection, Unavailable. Of an Output it sets Wire. Unblocked by Close.
func (c *ServerConn) Send(m protocol.SessionServerMessage) error {
	n, err := c.send(serverKind(m), fault.Internal, func(dst []byte) ([]byte, error) { return c.encode(dst, m) })
	if out, ok := m.(*protocol.Output); ok {
		out.Wire = n
	}
	return err
}

// SendNow sends what next returns, for a goroutine that must not wait. It reports false, and has not called next, where the
// carriage cannot be written without waiting or somebody else is sending; next returns nil when there is nothing to send
// after all. What the carriage does not take at once goes in its own time, before anything else. Errors as of Send.
func (c *ServerConn) SendNow(next func() protocol.SessionServerMessage) (bool, error) {
	if c.now == nil {
		return false, nil
	}
	select {
	case c.slot <- struct{}{}:
	default:
		return false, nil
	}
	m := next()
	if m == nil {
		<-c.slot
		return true, nil
	}
	n, err := c.sendNow(c.now, serverKind(m), fault.Internal, func(dst []byte) ([]byte, error) { return c.encode(dst, m) })
	if out, ok := m.(*protocol.Output); ok {
		out.Wire = n
	}
	return true, err
}

func (c *ServerConn) encode(dst []byte, m protocol.SessionServerMessage) ([]byte, error) {
	if out, ok := m.(*protocol.Output); ok && c.short != nil {
		return appendLean(dst, out)
	}
	return appendServer(dst, m)
}

// Receive waits for the next message, which is valid until the next call. io.EOF: the client
// ended the stream between two frames. A Violation says what the client broke; the caller tells
// it (Ended or Refused) and closes. Any error stays: later calls return it again. Unblocked by
// Close.
func (c *ServerConn) Receive() (protocol.SessionClientMessage, error) {
	for c.failed == nil {
		m, err := c.receive()
		if err != nil {
			return nil, c.fail(err)
		}
		if m != nil {
			return m, nil
		}
	}
	return nil, c.failed
}

// receive returns no message where one came after the end.
func (c *ServerConn) receive() (protocol.SessionClientMessage, error) {
	frame, err := c.r.ReadFrame(c.ceiling(kindAttach))
	if err != nil {
		return nil, err
	}
	if streamframe.IsPreamble(frame) {
		return nil, broken("a second preamble came")
	}
	m, err := c.dec.decode(frame)
	if err != nil {
		return nil, err
	}
	switch before, v := c.step(clientKind(m)); v {
	case discard:
		return nil, nil
	case refuse:
		return nil, broken("%s came in a conversation that is %s", clientKind(m), before)
	}
	return m, nil
}
