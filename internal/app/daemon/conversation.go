package daemon

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Serve is one session conversation, from its first message to its end. It returns when the
// conversation is over and everything it started has ended; it closes conn. The end of ctx
// closes conn too.
func (d *Daemon) Serve(ctx context.Context, conn ports.SessionServerConn) error {
	d.enter(1)
	defer d.enter(-1)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { <-ctx.Done(); conn.Close() })
	err := d.serve(ctx, conn)
	cancel()
	wg.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (d *Daemon) enter(n int) {
	d.mu.Lock()
	d.conversations += n
	d.mu.Unlock()
	d.notify()
}

func (d *Daemon) serve(ctx context.Context, conn ports.SessionServerConn) error {
	first, err := conn.Receive()
	if err != nil {
		return err
	}
	switch m := first.(type) {
	case *protocol.Attach:
		return d.serveAttach(ctx, conn, m)
	case *protocol.Request:
		r := newRequests(ctx, d, conn)
		defer r.wait()
		if err := r.start(m); err != nil {
			return err
		}
		return r.receive()
	case *protocol.Watch:
		return d.serveWatch(ctx, conn, m)
	}
	return fault.New(fault.Violation, "a conversation cannot begin with %T", first)
}

// serveAttach is a conversation that began with Attach.
func (d *Daemon) serveAttach(ctx context.Context, conn ports.SessionServerConn, m *protocol.Attach) error {
	l := newLink(conn)
	a, reply, err := d.attach(m, l)
	if err != nil {
		return conn.Send(&protocol.Refused{Failure: *protocol.FailureOf(err)})
	}
	if err := conn.Send(reply); err != nil {
		a.disconnect(l)
		return err
	}
	a.s.mu.Lock()
	l.sending = false
	a.s.mu.Unlock()
	a.s.pointAgent()
	defer a.s.pointAgent()
	sent := make(chan struct{})
	r := newRequests(ctx, d, conn)
	r.looksOnly, r.bulk = a.readOnly, a.bulk
	r.wg.Go(func() { defer close(sent); a.send(l) })
	left, err := a.receive(l, r)
	switch {
	case left:
		<-sent // its last act is to tell the end
		a.leave()
	case fault.KindOf(err) == fault.Violation || fault.KindOf(err) == fault.Denied:
		a.tell(l, err, sent)
		a.disconnect(l)
	default:
		a.disconnect(l)
	}
	conn.Close() // unblocks a sender or an answer that waits for the client
	r.wait()
	return err
}

// tell ends the attachment for what the client did wrong and lets the sender say so; a client
// that does not read misses it.
func (a *attachment) tell(l *link, why error, sent <-chan struct{}) {
	a.s.mu.Lock()
	if a.link == l && a.end == nil {
		a.end = &protocol.Ended{Reason: protocol.EndFailed, Failure: protocol.FailureOf(why)}
		a.poke()
	}
	a.s.mu.Unlock()
	timer := time.NewTimer(goodbyeTimeout)
	defer timer.Stop()
	select {
	case <-sent:
	case <-timer.C:
	}
}

// goodbyeTimeout bounds how long a failed conversation is kept to say why.
const goodbyeTimeout = time.Second

// attach finds or makes what m asks for and connects the client at l to it.
func (d *Daemon) attach(m *protocol.Attach, l *link) (*attachment, *protocol.Attached, error) {
	if m.Resume != nil {
		a := d.byToken(m.Resume.Token)
		if a == nil {
			return nil, nil, unknownToken()
		}
		received, err := a.resume(m, l)
		if err != nil {
			return nil, nil, err
		}
		return a, a.attached(received, false), nil
	}
	s, created, err := d.findOrCreate(m)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.attach(m, l)
	if err != nil {
		return nil, nil, err
	}
	return a, a.attached(0, created), nil
}

func (d *Daemon) findOrCreate(m *protocol.Attach) (s *session, created bool, err error) {
	if m.Create == nil || m.Session != "" {
		s, err = d.find(m.Session)
		if err == nil || m.Create == nil || fault.KindOf(err) != fault.NotFound {
			return s, false, err
		}
	}
	create := *m.Create
	if create.Size == (domain.Size{}) {
		create.Size = m.Size
	}
	s, err = d.create(create)
	return s, err == nil, err
}

func (a *attachment) attached(received uint64, created bool) *protocol.Attached {
	a.s.d.mu.Lock()
	name := a.s.name
	a.s.d.mu.Unlock()
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return &protocol.Attached{
		ID: a.s.id, Name: name, Token: a.token, InputReceived: received,
		Size: a.s.size, ReadOnly: a.readOnly, Created: created,
	}
}

// receive handles what the client at l says; left: it has detached in order.
func (a *attachment) receive(l *link, r *requests) (left bool, err error) {
	for {
		m, err := l.conn.Receive()
		if err != nil {
			return false, err
		}
		switch m := m.(type) {
		case *protocol.Input:
			if err = a.input(l, m); a.s.hasAgent {
				a.s.pointAgent() // whoever typed last
			}
		case *protocol.Ack:
			err = a.acked(l, m)
		case *protocol.Resize:
			a.resized(l, m)
		case *protocol.Focus:
			a.focused(l, m.In)
		case *protocol.Request:
			err = r.start(m)
		case *protocol.Cancel:
			r.cancel(m.ID)
		case *protocol.Detach:
			if !a.told() {
				a.detach(protocol.EndDetached)
				continue // the sender says goodbye, the client closes
			}
			return true, nil
		default:
			err = fault.New(fault.Violation, "an attached client sent %T", m)
		}
		if err != nil {
			return false, err
		}
	}
}

// told reports whether the client was sent the attachment's end.
func (a *attachment) told() bool {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.end != nil
}

func (a *attachment) detach(reason protocol.EndReason) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.finish(reason)
}
