package copycmd

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// maxSaid is how much of a failing command's words is told.
	maxSaid = 200
	// waitDelay is how long a killed command's children may hold its standard error open.
	waitDelay = 200 * time.Millisecond
)

// Command is a program and its arguments, not empty.
type Command []string

// Copy runs the command and gives it text; it is killed when ctx ends. Any goroutine may call.
func (c Command) Copy(ctx context.Context, text []byte) error {
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	cmd.Stdin = bytes.NewReader(text)
	said := &head{}
	cmd.Stderr = said
	cmd.WaitDelay = waitDelay
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() == context.DeadlineExceeded:
		return fault.Wrap(fault.Timeout, err, "copy_command %s did not end in time", c[0])
	}
	what, _, _ := strings.Cut(strings.TrimSpace(string(said.kept)), "\n")
	if what == "" {
		what = err.Error()
	}
	return fault.Wrap(fault.Unavailable, err, "copy_command %s: %s", c[0], fault.Clean(what)).
		WithHint("vev doctor shows where it is set")
}

// head keeps the begin of what is written.
type head struct{ kept []byte }

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), maxSaid-len(h.kept))]...)
	return len(p), nil
}
