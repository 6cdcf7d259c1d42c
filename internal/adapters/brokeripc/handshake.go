package brokeripc

import (
	"context"
	"errors"
	"io"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// handshake runs talk, which speaks on rw, under ctx and protocol.HandshakeTimeout. When
// either ends, and on any failure, rw is closed, which ends talk.
func handshake(ctx context.Context, rw io.Closer, talk func() error) error {
	ctx, cancel := context.WithTimeout(ctx, protocol.HandshakeTimeout)
	defer cancel()
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
