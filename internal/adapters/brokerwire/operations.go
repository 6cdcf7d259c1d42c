package brokerwire

import (
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// operations remembers which operation ids wait for their result and which of late had it.
// Both are bounded: the first refuses, the second forgets its oldest.
type operations struct {
	pending map[protocol.OperationID]struct{}
	done    map[protocol.OperationID]struct{}
	ring    []protocol.OperationID // of done, in order; next is the oldest once it is full
	next    int
}

func (o *operations) begin(id protocol.OperationID) *fault.Error {
	if _, ok := o.pending[id]; ok {
		return fault.New(fault.Conflict, "operation %x is already under way", id)
	}
	if _, ok := o.done[id]; ok {
		return fault.New(fault.Conflict, "operation %x was already answered", id)
	}
	if len(o.pending) >= protocol.MaxPendingOps {
		return fault.New(fault.Limit, "%d operations are under way, the limit of a connection", protocol.MaxPendingOps)
	}
	if o.pending == nil {
		o.pending = make(map[protocol.OperationID]struct{})
	}
	o.pending[id] = struct{}{}
	return nil
}

func (o *operations) finish(id protocol.OperationID) bool {
	if _, ok := o.pending[id]; !ok {
		return false
	}
	delete(o.pending, id)
	if o.done == nil {
		o.done = make(map[protocol.OperationID]struct{})
	}
	o.done[id] = struct{}{}
	if len(o.ring) < protocol.RememberedOps {
		o.ring = append(o.ring, id)
		return true
	}
	delete(o.done, o.ring[o.next])
	o.ring[o.next] = id
	o.next = (o.next + 1) % len(o.ring)
	return true
}

// PeerOperation is a request with an operation id at the broker. Its error of another kind
// than Violation is the operation's answer; nothing is pending then.
func (m *Machine) PeerOperation(id protocol.OperationID) (Verdict, *fault.Error) {
	switch m.conn {
	case ConnNew:
		return m.early()
	case ConnClosed:
		return Discard, nil
	case ConnClosing:
		return Discard, fault.New(fault.Unavailable, "the broker is ending")
	}
	if err := m.ops.begin(id); err != nil {
		return Discard, err
	}
	return Proceed, nil
}

// Operation begins an operation of the client's own.
func (m *Machine) Operation(id protocol.OperationID) *fault.Error {
	if m.conn != ConnRegistered {
		return fault.New(fault.Unavailable, "the connection is %s", m.conn)
	}
	return m.ops.begin(id)
}

// Finish notes that an operation's result was sent, or that the client waits no more. False:
// it was not under way.
func (m *Machine) Finish(id protocol.OperationID) bool { return m.ops.finish(id) }

// Pending reports whether an operation waits for its result.
func (m *Machine) Pending(id protocol.OperationID) bool {
	_, ok := m.ops.pending[id]
	return ok
}

// PeerProgress is news at the client of an operation that waits for its result, or did.
func (m *Machine) PeerProgress(id protocol.OperationID) (Verdict, *fault.Error) {
	switch _, done := m.ops.done[id]; {
	case m.conn == ConnNew:
		return m.early()
	case m.conn == ConnClosed || done:
		return Discard, nil
	case !m.Pending(id):
		return Discard, violation("news of operation %x, which was never begun", id)
	}
	return Proceed, nil
}

// PeerResult is an operation's result at the client.
func (m *Machine) PeerResult(id protocol.OperationID) (Verdict, *fault.Error) {
	switch m.conn {
	case ConnNew:
		return m.early()
	case ConnClosed:
		return Discard, nil
	}
	if m.ops.finish(id) {
		return Proceed, nil
	}
	if _, ok := m.ops.done[id]; ok {
		return Discard, nil
	}
	return Discard, violation("a result of operation %x, which was never begun", id)
}

// PeerPublication is what a client is told while an operation is under way.
func (m *Machine) PeerPublication(id protocol.OperationID) (Verdict, *fault.Error) {
	switch m.conn {
	case ConnNew:
		return m.early()
	case ConnClosed:
		return Discard, nil
	}
	if _, ok := m.ops.pending[id]; ok {
		return Proceed, nil
	}
	if _, ok := m.ops.done[id]; ok {
		return Discard, nil
	}
	return Discard, violation("a publication of operation %x, which was never begun", id)
}
