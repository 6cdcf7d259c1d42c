package brokeripc

import (
	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// publishBelow is how much may wait for the carriage before the next part of the catalogue is given to it: what is
// published never brings a connection near maxUnsent.
const publishBelow = 64 << 10

// subscription is what a client has subscribed to, a ports.Subscription.
type subscription struct {
	server *Server
	asked  protocol.Subscribe
	over   chan struct{} // closed with conn.mu held
	missed chan struct{} // cap 1: a snapshot is asked for
}

var _ ports.Subscription = (*subscription)(nil)

// catalogue answers what a client asks for about the catalogue, with mu held.
func (s *Server) catalogue(m any) (after func()) {
	if s.broker.Subscribed == nil {
		s.post(&protocol.BrokerError{Failure: *protocol.FailureOf(notServed("the catalogue"))})
		return nil
	}
	switch m := m.(type) {
	case *protocol.Subscribe:
		return s.subscribe(m)
	case *protocol.Resync:
		s.resync()
	case *protocol.Unsubscribe:
		s.unsubscribe()
	}
	return nil
}

// subscribe begins a subscription, in the place of the one there is, with mu held.
func (s *Server) subscribe(m *protocol.Subscribe) (after func()) {
	s.unsubscribe()
	sub := &subscription{server: s, asked: *m, over: make(chan struct{}), missed: make(chan struct{}, 1)}
	s.sub = sub
	return func() { s.broker.Subscribed(sub) }
}

// unsubscribe ends the subscription there is, with mu held.
func (s *Server) unsubscribe() {
	if s.sub != nil {
		close(s.sub.over)
		s.sub = nil
		s.conn.writing.room.Broadcast()
	}
}

// resync has a snapshot sent, with mu held. What asks for one without a subscription has ended that meanwhile.
func (s *Server) resync() {
	if s.sub == nil {
		return
	}
	select {
	case s.sub.missed <- struct{}{}:
	default:
	}
}

// Asked implements ports.Subscription.
func (p *subscription) Asked() protocol.Subscribe { return p.asked }

// Ask implements ports.Subscription.
func (p *subscription) Ask() ports.Ask {
	if !p.server.answers {
		return nil
	}
	return p.server.ask
}

// Missed implements ports.Subscription.
func (p *subscription) Missed() <-chan struct{} { return p.missed }

// Over implements ports.Subscription.
func (p *subscription) Over() <-chan struct{} { return p.over }

// Publish implements ports.Subscription.
func (p *subscription) Publish(m protocol.BrokerServerMessage) error {
	b, err := brokerwire.AppendServer(nil, m)
	if err != nil {
		return err
	}
	c := p.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for p.server.sub == p && len(c.writing.unsent) > publishBelow {
		c.writing.room.Wait()
	}
	if p.server.sub != p {
		return fault.New(fault.Canceled, "the subscription is over")
	}
	c.post(b, nil)
	return nil
}
