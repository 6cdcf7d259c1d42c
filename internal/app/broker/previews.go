package broker

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/streambus"
)

// maxSources bounds the previews that are watched at daemons at once, of all clients: the next is refused.
const maxSources = 256

// previews are the pictures that clients look at. Clients that ask for the same of a session share one source: a Watch
// conversation with its daemon, which publishes on the bus. Each client has the newest alone of that (LatestOnly), so one that
// takes nothing holds up nobody and then sees what is now.
type previews struct {
	b    *Broker
	bus  *streambus.Bus
	all  sync.WaitGroup  // sources, and clients that are served
	end  context.Context // of all of them
	stop context.CancelFunc

	// mu is a leaf: under it nothing waits.
	mu      sync.Mutex
	closed  bool
	sources map[pictureKey]*source
	made    uint64 // sources, ever
}

// pictureKey is what pictures are shared by.
type pictureKey struct {
	host    string
	session domain.SessionID
	size    domain.Size
}

// source is one Watch conversation for pictures.
type source struct {
	key   pictureKey
	topic string
	ctx   context.Context // ends with why there are no more pictures
	fail  context.CancelCauseFunc

	viewers int // guarded by previews.mu
}

func newPreviews(b *Broker) *previews {
	bus, err := streambus.NewInMemory(streambus.Config{
		ReplayCapacity: 1, ReplayTopics: maxSources, ReplayBytes: 2 * protocol.MaxPreviewBytes, MaxPayloadBytes: protocol.MaxPreviewBytes,
	})
	if err != nil {
		panic(err) // constants that do not make sense
	}
	end, stop := context.WithCancel(context.Background())
	return &previews{b: b, bus: bus, end: end, stop: stop, sources: map[pictureKey]*source{}}
}

// close ends everything and returns when nothing of it runs any more.
func (p *previews) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	p.bus.Close()
	p.all.Wait()
}

// Previewed serves a client that asks for pictures, until ctx ends or there are no more. It does not wait for that.
func (b *Broker) Previewed(ctx context.Context, req ports.PreviewRequest) {
	p := b.previews
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		req.End(farewell)
		return
	}
	p.all.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(p.end, cancel)
		defer stop()
		if err := p.serve(ctx, req); err != nil {
			req.End(*protocol.FailureOf(err))
		}
	})
}

// serve shows the client each picture that is the newest when it takes one.
func (p *previews) serve(ctx context.Context, req ports.PreviewRequest) error {
	asked := req.Asked()
	key := pictureKey{asked.Host, asked.Session, domain.Size{Cols: int(asked.Cols), Rows: int(asked.Rows)}}
	if !key.size.Valid() {
		return fault.New(fault.Usage, "a preview of size %s, it must be within 1x1 and %dx%d", key.size, domain.MaxCols, domain.MaxRows)
	}
	s, err := p.enter(key)
	if err != nil {
		return err
	}
	defer p.leave(s)
	sub, err := p.bus.Subscribe(s.ctx, streambus.SubscribeOptions{Topic: s.topic, Overflow: streambus.LatestOnly, Replay: 1})
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if err := req.Show(m.Payload); err != nil {
			return err
		}
	}
}

// enter finds the source of a picture, or begins one.
func (p *previews) enter(key pictureKey) (*source, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sources[key]
	switch {
	case s != nil:
	case p.closed:
		return nil, errEnding()
	case len(p.sources) == maxSources:
		return nil, fault.New(fault.Limit, "%d previews are watched already, the most there can be", maxSources)
	default:
		p.made++
		s = &source{key: key, topic: "preview/" + strconv.FormatUint(p.made, 10)}
		s.ctx, s.fail = context.WithCancelCause(p.end)
		p.sources[key] = s
		p.all.Go(func() { p.run(s) })
	}
	s.viewers++
	return s, nil
}

// leave ends the source that nobody looks at any more.
func (p *previews) leave(s *source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.viewers--; s.viewers == 0 {
		p.drop(s)
		s.fail(errUnwanted)
	}
}

// drop makes the next client begin another source, with mu held.
func (p *previews) drop(s *source) {
	if p.sources[s.key] == s {
		delete(p.sources, s.key)
	}
}

// run publishes the pictures of a source until there are no more.
func (p *previews) run(s *source) {
	err := p.watch(s)
	p.mu.Lock()
	p.drop(s)
	p.mu.Unlock()
	s.fail(because(s.ctx, err))
}

// watch is the source's conversation.
func (p *previews) watch(s *source) error {
	conn, err := p.dial(s)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it has told all it had
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	interval := protocol.LeastPreviewInterval
	if s.key.host != protocol.LocalHost {
		interval = protocol.FarPreviewInterval
	}
	watch := &protocol.WatchPreviews{Session: s.key.session, Size: s.key.size, Interval: interval}
	if err := conn.Send(&protocol.Watch{Previews: watch}); err != nil {
		return err
	}
	for {
		m, err := conn.Receive()
		if err != nil {
			return err
		}
		if err := p.publish(s, m); err != nil {
			return err
		}
	}
}

// publish takes what a daemon says of pictures.
func (p *previews) publish(s *source, m protocol.SessionServerMessage) error {
	switch m := m.(type) {
	case *protocol.Refused:
		return m.Failure.Fault()
	case *protocol.Watching:
		switch {
		case m.Previews == nil:
			return fault.New(fault.Unsupported, "the daemon does not know previews").WithHint("upgrade the host's vev")
		case m.Previews.Failure != nil:
			return m.Previews.Failure.Fault()
		}
		return nil
	case *protocol.Preview:
		if m.Ended {
			return fault.New(fault.NotFound, "the session is gone")
		}
		_, err := p.bus.Publish(s.ctx, streambus.Frame{
			Topic: s.topic, Payload: m.Content, Priority: streambus.Bulk, Reliability: streambus.BestEffort,
		})
		return err
	}
	return fault.New(fault.Violation, "%T came in a watch of pictures", m)
}

// dial begins a session conversation with the daemon that has the session.
func (p *previews) dial(s *source) (ports.SessionClientConn, error) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, protocol.HandshakeTimeout, noAnswer())
	defer cancel()
	var carriage io.ReadWriteCloser
	var err error
	if s.key.host == protocol.LocalHost {
		carriage, err = p.b.o.Daemon.DialDaemon(ctx, protocol.ExistingOnly)
	} else {
		carriage, err = p.b.open(ctx, wish{host: s.key.host, start: protocol.ExistingOnly})
	}
	if err != nil {
		return nil, err
	}
	return p.b.o.Converse(ctx, carriage)
}
