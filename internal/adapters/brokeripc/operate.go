package brokeripc

import (
	"context"
	"crypto/rand"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Operations on the broker's hosts. At the broker: message -> machine -> Broker.Operate, outside the lock; its
// Finish is the one result. At the client: Operate waits for that, and tells what comes before it.

// maxSteps bounds the steps that are over and that nobody has taken note of yet: a broker that tells of more breaks
// the protocol. What is no step says how far the one under way is: the newest takes the place of the one before.
const maxSteps = 32

// operated is an operation that the client waits for. Guarded by conn.mu.
type operated struct {
	note  chan struct{} // something is new; holds one note for any number
	told  []protocol.Progress
	over  bool
	fails error
}

func (o *operated) tell() {
	select {
	case o.note <- struct{}{}:
	default:
	}
}

// Operate has the broker do something about its hosts and waits for how that ends; m's id is set. told, or nil, hears of
// each step, on this goroutine. Nil is ok. The error is a fault: the broker's (Peer is set) when it failed; Unavailable or
// Limit when nothing was begun; Unknown when it is not known how it ended, be it that the broker does not know, ctx ended, or
// the connection did.
func (c *Client) Operate(ctx context.Context, m protocol.Mutation, told func(protocol.Progress)) error {
	o := &operated{note: make(chan struct{}, 1)}
	if err := c.beginOperation(&m, o); err != nil {
		return err
	}
	defer c.endOperation(m.Operation)
	for {
		var given error
		select {
		case <-o.note:
		case <-ctx.Done():
			given = unknown(context.Cause(ctx))
		}
		c.conn.mu.Lock()
		news, over, err := o.told, o.over, o.fails
		o.told = nil
		c.conn.mu.Unlock()
		for _, p := range news {
			if told != nil {
				told(p)
			}
		}
		switch {
		case over:
			return err
		case given != nil:
			return given
		}
	}
}

func (c *Client) beginOperation(m *protocol.Mutation, o *operated) error {
	_, _ = rand.Read(m.Operation[:]) // never fails
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return n.err
	}
	envelope, err := brokerwire.AppendClient(nil, m)
	if err != nil {
		return err
	}
	if err := n.machine.Operation(m.Operation); err != nil {
		return err
	}
	c.operating[m.Operation] = o
	n.reading.urgent++
	n.post(envelope, nil)
	n.offerTurn()
	return nil
}

func (c *Client) endOperation(id protocol.OperationID) {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.reading.urgent--
	c.conn.machine.Finish(id)
	delete(c.operating, id)
}

func unknown(cause error) error {
	return fault.Wrap(fault.Unknown, cause, "the broker did not say how it ended").WithHint("vev host ls shows what there is now")
}

// progressed notes what the broker tells of an operation, with conn.mu held.
func (c *Client) progressed(m *protocol.Progress) error {
	v, err := c.conn.machine.PeerProgress(m.Operation)
	o := c.operating[m.Operation]
	if err != nil || v == brokerwire.Discard || o == nil {
		return orNil(err)
	}
	if last := len(o.told) - 1; last >= 0 && o.told[last].Step == "" {
		o.told = o.told[:last]
	}
	if len(o.told) == maxSteps {
		return fault.New(fault.Violation, "more than %d steps of an operation", maxSteps)
	}
	o.told = append(o.told, *m)
	o.tell()
	return nil
}

// finished ends an operation with its result, with conn.mu held.
func (c *Client) finished(m *protocol.OperationResult) error {
	v, err := c.conn.machine.PeerResult(m.Operation)
	if err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	o := c.operating[m.Operation]
	o.over, o.fails = true, outcome(m)
	o.tell()
	return nil
}

// outcome is what a result says, as Go has it.
func outcome(m *protocol.OperationResult) error {
	switch {
	case m.Outcome == protocol.OutcomeOK:
		return nil
	case m.Failure == nil:
		return unknown(nil)
	}
	f := m.Failure.Fault()
	if m.Outcome == protocol.OutcomeUnknown {
		f.Kind = fault.Unknown
	}
	return f
}

// operate hands a mutation on, outside the lock.
func (s *Server) operate(m *protocol.Mutation) (after func(), err error) {
	if s.broker.Operate == nil {
		return nil, s.refuse(m.Operation, "hosts other than this machine", func(f *protocol.Failure) protocol.BrokerServerMessage {
			return &protocol.OperationResult{Operation: m.Operation, Outcome: protocol.OutcomeFailed, Failure: f}
		})
	}
	v, ferr := s.conn.machine.PeerOperation(m.Operation)
	switch {
	case ferr != nil && ferr.Kind == fault.Violation:
		return nil, ferr
	case ferr != nil:
		s.post(&protocol.OperationResult{Operation: m.Operation, Outcome: protocol.OutcomeFailed, Failure: protocol.FailureOf(ferr)})
		return nil, nil
	case v == brokerwire.Discard:
		return nil, nil
	}
	return func() { s.broker.Operate(&operation{server: s, mutation: *m}) }, nil
}

// operation is a mutation that waits for its result, a ports.OperationRequest.
type operation struct {
	server   *Server
	mutation protocol.Mutation
}

var _ ports.OperationRequest = (*operation)(nil)

func (o *operation) Mutation() protocol.Mutation { return o.mutation }
func (o *operation) Gone() <-chan struct{}       { return o.server.conn.over }
func (o *operation) Ask() ports.Ask              { return o.server.person() }

// Progress implements ports.OperationRequest.
func (o *operation) Progress(p protocol.Progress) {
	c := o.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Operation = o.mutation.Operation
	if c.err == nil && c.machine.Pending(p.Operation) {
		o.server.post(&p)
	}
}

// Finish implements ports.OperationRequest.
func (o *operation) Finish(err error) {
	c := o.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.machine.Finish(o.mutation.Operation) || c.err != nil {
		return
	}
	r := &protocol.OperationResult{Operation: o.mutation.Operation, Failure: protocol.FailureOf(err)}
	switch {
	case err == nil:
	case fault.KindOf(err) == fault.Unknown:
		r.Outcome = protocol.OutcomeUnknown
	default:
		r.Outcome = protocol.OutcomeFailed
	}
	o.server.post(r)
}
