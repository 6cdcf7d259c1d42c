package main

import (
	"context"
	"sync"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// brokers is the broker that runs, and the one that follows it when it ends: each tells of the sessions of hosts, of all
// without one. Any goroutine may call.
type brokers struct {
	hosts []string

	mu     sync.Mutex
	newest *brokeripc.Client
}

// after is a broker other than the one that has ended, which is nil at first; it is started if need be.
func (b *brokers) after(ctx context.Context, ended *brokeripc.Client) (*brokeripc.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest != nil && b.newest != ended {
		return b.newest, nil
	}
	next, err := dialer(anyHost, protocol.ExistingOnly).Catalogue(ctx, true)
	if err != nil {
		return nil, err
	}
	next.Subscribe(b.hosts, protocol.ReachAll)
	if ended != nil {
		_ = ended.Close() // nothing in it could be lost
	}
	b.newest = next
	return next, nil
}

func (b *brokers) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest != nil {
		_ = b.newest.Close()
	}
}

// Look implements ports.Pictures.
func (b *brokers) Look(ctx context.Context, host domain.Host, id domain.SessionID, size domain.Size) (ports.PictureStream, error) {
	p := &pictures{brokers: b, look: func(from *brokeripc.Client) (ports.PictureStream, error) { return from.Look(ctx, host, id, size) }}
	return p, p.open(ctx)
}

// pictures are those of one session, from one broker after another.
type pictures struct {
	brokers *brokers
	look    func(from *brokeripc.Client) (ports.PictureStream, error)
	from    *brokeripc.Client // of whoever calls Next

	mu     sync.Mutex
	stream ports.PictureStream
	closed bool
}

// open looks through the broker that follows the last one.
func (p *pictures) open(ctx context.Context) (err error) {
	if p.from, err = p.brokers.after(ctx, p.from); err != nil {
		return err
	}
	stream, err := p.look(p.from)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stream = stream
	if p.closed {
		return stream.Close()
	}
	return nil
}

// Next implements ports.PictureStream.
func (p *pictures) Next(ctx context.Context) ([]byte, error) {
	for {
		content, err := p.stream.Next(ctx)
		if err == nil || p.from.Err() == nil {
			return content, err
		}
		if err := p.open(ctx); err != nil {
			return nil, err
		}
	}
}

// Close implements ports.PictureStream.
func (p *pictures) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.stream.Close()
}
