package quic

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// link is a connection to a proxy: the broker conversation on its control stream, and a QUIC stream for each logical one.
type link struct {
	conn *quicgo.Conn
	way  *way
	peer *peer

	begun     chan struct{} // closed when the next two are set
	control   ports.Link    // the conversation
	failed    error         // why there is none
	beginning sync.WaitGroup
	stop      context.CancelFunc // of the beginning, where that is under way still; else nil

	serial  uint64 // later links of the proxy have higher ones
	traffic traffic
	repeats *repeats
	room    *room
	use     sync.Once
	closing sync.Once
}

var _ ports.Link = (*link)(nil)

// OpenStream implements ports.Link.
func (l *link) OpenStream(ctx context.Context, host string, start protocol.StartPolicy, first []byte) (ports.Stream, error) {
	if err := l.Err(); err != nil {
		return nil, l.refused(err)
	}
	qs, err := l.conn.OpenStream()
	var full *quicgo.StreamLimitReachedError
	switch {
	case errors.As(err, &full):
		return nil, fault.Wrap(fault.Limit, err, "%d streams are open, the limit of a connection", protocol.MaxStreams).
			WithHint("close one first")
	case err != nil:
		return nil, l.refused(lost(err))
	}
	s := newStream(qs, &l.traffic)
	s.room = l.room
	l.repeats.enter(s)
	if err := l.ask(ctx, s, host, start, first); err != nil {
		_ = s.Abort(*protocol.FailureOf(err))
		return nil, l.refused(err)
	}
	l.use.Do(func() { l.peer.inUse(l) })
	return s, nil
}

// refused is why a stream was not granted. A proxy that does not know this process's key any more says so only now: it is
// forgotten, and the next attempt is another matter.
func (l *link) refused(err error) error {
	if why := l.peer.why(l.conn, err); l.peer.gone(why) {
		l.peer.dead(l.peer)
		return fault.Wrap(fault.Unavailable, why, "the proxy there does not know this broker any more")
	}
	return err
}

// ask waits for the proxy's answer to a stream, whose first bytes need not.
func (l *link) ask(ctx context.Context, s *stream, host string, start protocol.StartPolicy, first []byte) error {
	stop := context.AfterFunc(ctx, func() { _ = s.SetReadDeadline(time.Unix(1, 0)) })
	head, err := appendOpen(s.number(), host, start)
	if err == nil {
		_, err = s.Write(append(head, first...))
		// Who refuses reads no further, which may end the write: the answer says why.
		answer := readAnswer(s, s.number())
		if f, ok := errors.AsType[*fault.Error](answer); err == nil || ok && f.Peer {
			err = answer
		}
	}
	switch {
	case !stop():
		return gaveUp(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(fault.Unavailable, err, "the stream was closed before it was granted")
	}
	return err
}

// gaveUp is the end of a context as a fault.
func gaveUp(ctx context.Context) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return fault.Wrap(fault.Timeout, context.Cause(ctx), "no answer over QUIC in time")
	}
	return fault.Wrap(fault.Canceled, context.Cause(ctx), "the request was given up")
}

// Probe implements ports.Link.
func (l *link) Probe(ctx context.Context) error {
	select {
	case <-l.begun:
	case <-ctx.Done():
		return gaveUp(ctx)
	}
	if l.failed != nil {
		return l.failed
	}
	return l.control.Probe(ctx)
}

// Vitals implements ports.Link.
func (l *link) Vitals() domain.Vitals {
	s := l.conn.ConnectionStats()
	return domain.Vitals{
		Transport: domain.TransportQUIC, RTT: s.SmoothedRTT, Heard: l.way.socket.lastHeard(),
		Sent: s.PacketsSent, Lost: s.PacketsLost,
	}
}

// Err implements ports.Link.
func (l *link) Err() error {
	select {
	case <-l.begun:
		if l.failed != nil {
			return l.failed
		}
		if err := l.control.Err(); err != nil {
			return err
		}
	default:
	}
	if l.conn.Context().Err() != nil {
		return lost(context.Cause(l.conn.Context()))
	}
	return nil
}

// Close implements ports.Link.
func (l *link) Close() error {
	l.closing.Do(func() {
		if l.stop != nil {
			l.stop()
			l.beginning.Wait()
		}
		if l.failed == nil {
			_ = l.control.Close()
		}
		_ = l.conn.CloseWithError(codeDone, "")
		l.repeats.wait()
		l.peer.network.leave(l)
		l.peer.left(l)
		l.way.close()
	})
	return nil
}

// yield ends a link whose place another one has taken: who waits on it goes on there.
func (l *link) yield() { _ = l.conn.CloseWithError(codeReplaced, "") }

// way is a socket and what speaks QUIC on it, for one connection. So that needs no connection id on the way back: each new
// address of this side would use up one, and the library does not get them back.
type way struct {
	socket    socket
	transport *quicgo.Transport
}

func newWay(n Net) (*way, error) {
	s, err := openSocket(n, Ports{})
	if err != nil {
		return nil, err
	}
	return &way{s, &quicgo.Transport{Conn: s, ConnectionIDGenerator: noID{}}}, nil
}

func (w *way) close() {
	_ = w.transport.Close()
	_ = w.socket.Close()
}

// noID gives a connection the id of no bytes.
type noID struct{}

func (noID) GenerateConnectionID() (quicgo.ConnectionID, error) { return quicgo.ConnectionID{}, nil }
func (noID) ConnectionIDLen() int                               { return 0 }
