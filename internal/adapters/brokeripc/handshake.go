package brokeripc

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// lateCarriage is one that may take long until it leads anywhere, since a person is asked first. What is written before that
// waits in it.
type lateCarriage interface {
	// OnBegin has f called by the Read that finds it leads somewhere. It is called before the first Read.
	OnBegin(f func())
}

// handshake runs talk, which speaks on rw, under ctx and protocol.HandshakeTimeout. When
// either ends, and on any failure, rw is closed, which ends talk. The time of a late carriage begins when that does.
func handshake(ctx context.Context, rw io.Closer, talk func() error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var limit *time.Timer
	begin := func() {
		limit = time.AfterFunc(protocol.HandshakeTimeout, func() { cancel(context.DeadlineExceeded) })
	}
	if late, ok := rw.(lateCarriage); ok {
		late.OnBegin(begin)
	} else {
		begin()
	}
	defer func() {
		if limit != nil {
			limit.Stop()
		}
	}()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = rw.Close() // the failure below says more
		close(closed)
	})
	err := talk()
	if !stop() {
		<-closed
		if context.Cause(ctx) == context.DeadlineExceeded {
			return fault.Wrap(fault.Timeout, err, "the other side did not answer the preamble in time")
		}
		return fault.Wrap(fault.Canceled, context.Cause(ctx), "connecting was given up")
	}
	if err == nil {
		return nil
	}
	_ = rw.Close()
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the connection ended before it was set up")
}
