package brokeripc

import (
	"context"
	"crypto/rand"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

var _ ports.Pictures = (*Client)(nil)

// pictures is a client's preview, a ports.PictureStream.
type pictures struct {
	client *Client
	id     protocol.OperationID
	fresh  chan struct{} // cap 1: content or err is new

	// Guarded by conn.mu.
	newest   []byte // not taken yet, or nil
	sequence uint64 // of the last that came
	err      error  // no more come
	closed   bool
}

// Look implements ports.Pictures. The error is Limit, or the connection's end; that the session or host is not known,
// the stream tells.
func (c *Client) Look(_ context.Context, host domain.Host, session domain.SessionID, size domain.Size) (ports.PictureStream, error) {
	p := &pictures{client: c, fresh: make(chan struct{}, 1)}
	_, _ = rand.Read(p.id[:]) // never fails
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return nil, n.err
	}
	if err := n.machine.Operation(p.id); err != nil {
		return nil, err
	}
	if c.looks == nil {
		c.looks = map[protocol.OperationID]*pictures{}
	}
	c.looks[p.id] = p
	n.reading.urgent++
	n.post(brokerwire.AppendClient(nil, &protocol.StartPreview{
		Operation: p.id, Host: host.String(), Session: session, Cols: uint32(size.Cols), Rows: uint32(size.Rows),
	}))
	n.offerTurn()
	return p, nil
}

// Next implements ports.PictureStream.
func (p *pictures) Next(ctx context.Context) ([]byte, error) {
	for {
		content, err := p.take()
		if content != nil || err != nil {
			return content, err
		}
		select {
		case <-p.fresh:
		case <-ctx.Done():
			return nil, canceled(ctx)
		}
	}
}

// take is the newest picture, if it was not taken before; the end comes behind it.
func (p *pictures) take() ([]byte, error) {
	p.client.conn.mu.Lock()
	defer p.client.conn.mu.Unlock()
	content := p.newest
	p.newest = nil
	switch {
	case p.closed:
		return nil, fault.New(fault.Canceled, "the preview was closed")
	case content != nil:
		return content, nil
	}
	return nil, p.err
}

// Close implements ports.PictureStream.
func (p *pictures) Close() error {
	n := p.client.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	n.reading.urgent--
	delete(p.client.looks, p.id)
	if n.err == nil && n.machine.Finish(p.id) { // its result is discarded
		n.post(brokerwire.AppendClient(nil, &protocol.CancelPreview{Operation: p.id}))
	}
	p.notify()
	return nil
}

func (p *pictures) notify() {
	select {
	case p.fresh <- struct{}{}:
	default:
	}
}

// picture takes one in, with mu held: it replaces one that was not taken.
func (c *Client) picture(m *protocol.PreviewPublication) error {
	v, err := c.conn.machine.PeerPublication(m.Operation)
	if err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	p := c.looks[m.Operation]
	switch {
	case p == nil:
		return fault.New(fault.Violation, "a picture came of an operation that is no preview")
	case m.Sequence <= p.sequence:
		return fault.New(fault.Violation, "picture %d came after picture %d", m.Sequence, p.sequence)
	}
	p.sequence = m.Sequence
	p.newest = append(make([]byte, 0, len(m.Content)), m.Content...)
	p.notify()
	return nil
}

// end notes why no more come, with mu held.
func (p *pictures) end(why error) {
	p.err = why
	p.notify()
}
