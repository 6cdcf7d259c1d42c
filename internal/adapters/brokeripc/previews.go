package brokeripc

import (
	"context"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// previewing is a client's wish for pictures, a ports.PreviewRequest. It is the operation's life: under way until it is
// canceled, ended, or the connection is over.
type previewing struct {
	server *Server
	asked  protocol.StartPreview
	cancel context.CancelFunc

	// Guarded by conn.mu.
	over     bool
	sequence uint64
}

var _ ports.PreviewRequest = (*previewing)(nil)

// startPreview begins an operation that lasts, with mu held.
func (s *Server) startPreview(m *protocol.StartPreview) (after func(), err error) {
	if s.broker.Previewed == nil {
		return nil, s.refuse(m.Operation, "previews", func(f *protocol.Failure) protocol.BrokerServerMessage {
			return &protocol.BrokerError{Operation: m.Operation, Failure: *f}
		})
	}
	v, ferr := s.conn.machine.PeerOperation(m.Operation)
	switch {
	case ferr != nil && ferr.Kind == fault.Violation:
		return nil, ferr
	case ferr != nil:
		s.post(&protocol.BrokerError{Operation: m.Operation, Failure: *protocol.FailureOf(ferr)})
		return nil, nil
	case v == brokerwire.Discard:
		return nil, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &previewing{server: s, asked: *m, cancel: cancel}
	if s.previews == nil {
		s.previews = map[protocol.OperationID]*previewing{}
	}
	s.previews[m.Operation] = p
	return func() { s.broker.Previewed(ctx, p) }, nil
}

// cancelPreview ends one, with mu held. One that is not under way has ended meanwhile.
func (s *Server) cancelPreview(id protocol.OperationID) {
	if s.broker.Previewed == nil {
		s.post(&protocol.BrokerError{Operation: id, Failure: *protocol.FailureOf(notServed("previews"))})
		return
	}
	if p := s.previews[id]; p != nil {
		p.finish(&protocol.OperationResult{Operation: id, Outcome: protocol.OutcomeOK})
	}
}

// finish ends it with a result, with mu held; nil: there is nobody to get one.
func (p *previewing) finish(result *protocol.OperationResult) {
	s := p.server
	delete(s.previews, p.asked.Operation)
	p.over = true
	p.cancel()
	s.conn.writing.room.Broadcast()
	if result != nil && s.conn.machine.Finish(p.asked.Operation) {
		s.post(result)
	}
}

// Asked implements ports.PreviewRequest.
func (p *previewing) Asked() protocol.StartPreview { return p.asked }

// Show implements ports.PreviewRequest.
func (p *previewing) Show(content []byte) error {
	c := p.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for !p.over && len(c.writing.unsent) > publishBelow {
		c.writing.room.Wait()
	}
	if p.over {
		return fault.New(fault.Canceled, "the preview is over")
	}
	p.sequence++
	p.server.post(&protocol.PreviewPublication{Operation: p.asked.Operation, Sequence: p.sequence, Content: content})
	return nil
}

// End implements ports.PreviewRequest.
func (p *previewing) End(why protocol.Failure) {
	c := p.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.over {
		p.finish(&protocol.OperationResult{Operation: p.asked.Operation, Outcome: protocol.OutcomeFailed, Failure: &why})
	}
}
