package sshstdio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// usageStatus is how vev ends when it does not know what it was started as.
const usageStatus = 2

var _ ports.RoleRunner = (*Dialer)(nil)

// RunRole implements ports.RoleRunner. It returns when ssh has ended.
func (d *Dialer) RunRole(ctx context.Context, name, role string, most int, ask ports.Ask) (line []byte, err error) {
	var ran *carriage
	c, err := d.reach(ctx, name, roleCommand(role), ask, func(ctx context.Context, c *carriage) (err error) {
		ran = c
		if ask != nil { // a person may take longer than a role
			if err := c.await(ctx); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(ctx, protocol.HandshakeTimeout)
		defer cancel()
		line, err = c.line(ctx, most)
		return err
	})
	if err == nil {
		_ = c.Close()
		<-c.exited
		return line, nil
	}
	if ran != nil && ran.greeting.passed && ran.cmd.ProcessState.ExitCode() == usageStatus {
		return nil, fault.Wrap(fault.Unsupported, err, "the vev there does not know %s", role).WithHint("upgrade it")
	}
	return nil, err
}

// line reads the first line that the role prints. ctx's end closes the carriage.
func (c *carriage) line(ctx context.Context, most int) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	line := make([]byte, 0, most+1)
	for {
		n, err := c.Read(line[len(line):cap(line)])
		line = line[:len(line)+n]
		if at := bytes.IndexByte(line, '\n'); at >= 0 {
			return line[:at], nil
		}
		switch {
		case len(line) > most:
			return nil, fault.New(fault.Violation, "the line that vev prints there is longer than %d bytes", most)
		case ctx.Err() != nil:
			return nil, fault.Wrap(fault.Timeout, context.Cause(ctx), "vev says nothing there")
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
			return nil, fault.Wrap(fault.Unavailable, err, "vev ended there")
		case err != nil:
			return nil, err
		}
	}
}
