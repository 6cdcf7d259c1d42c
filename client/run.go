package client

import (
	"context"
	"io"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/shell"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Command is what Run runs.
type Command struct {
	Line   string    // for the session's shell to read, with its directory, variables and functions
	Raw    bool      // output as the program wrote it, not as its terminal showed it
	Output io.Writer // gets the output as it comes; nil: it is in the Result
}

// Result is how a command went.
type Result struct {
	Session    string `json:"session"`
	Command    string `json:"command"`
	Output     string `json:"output"`
	Status     *int   `json:"status"` // nil: it has not ended, or the shell did not tell
	TookMS     int64  `json:"took_ms"`
	TimedOut   bool   `json:"timed_out"` // it goes on
	Exited     bool   `json:"exited"`    // the shell itself ended
	Dropped    uint64 `json:"dropped"`   // bytes of output that came too fast to be kept
	Generation uint64 `json:"generation"`
}

// Run types a command at the prompt of the session's shell and waits for its end: in bash, zsh, fish and sh, and in any shell that
// marks its commands (OSC 133). A session that is not at a prompt, or at whose prompt somebody has begun to type, is left alone:
// the error is of kind Conflict. When the context's deadline passes the error is of kind Timeout, the result is what
// there is of it, and the command goes on; Press(ctx, "C-c") interrupts it.
func (s *Session) Run(ctx context.Context, c Command) (Result, error) {
	r := runner{s: s, c: c, result: Result{Session: s.Address(), Command: c.Line}}
	began, limit := time.Now(), inWords(remaining(ctx))
	err := s.with(ctx, func(t *talk.Talk) error { return r.run(ctx, t) })
	if r.result.TookMS == 0 {
		r.result.TookMS = time.Since(began).Milliseconds()
	}
	switch late := err != nil && fault.KindOf(err) == fault.Timeout; {
	case late && r.began:
		r.result.TimedOut = true
		err = fault.New(fault.Timeout, "the command has not ended within %s; it goes on", limit).
			WithHint("vev key %s C-c interrupts it", s.Address())
	case late:
		err = fault.New(fault.Timeout, "%s did not come to a prompt within %s; nothing was typed", s.Address(), limit).
			WithHint("vev wait %s --prompt waits longer", s.Address())
	}
	r.result.Output = string(r.output)
	return r.result, err
}

// inWords is a time limit as whoever gave it will have said it, a moment ago.
func inWords(limit time.Duration) time.Duration {
	if limit > time.Second/2 {
		return limit.Round(100 * time.Millisecond)
	}
	return limit.Round(10 * time.Millisecond)
}

// runner is a command whose output is read.
type runner struct {
	s      *Session
	c      Command
	text   *shell.Text
	began  bool
	output []byte
	offset uint64
	result Result
}

func (r *runner) run(ctx context.Context, t *talk.Talk) error {
	started, err := talk.BodyOf[*protocol.RunStarted](t.Ask(min(remaining(ctx), protocol.RequestTimeout), &protocol.RunCommand{
		Session: r.s.at.Name, Command: r.c.Line, Generation: r.s.only.Generation, Author: r.s.c.o.Author,
	}))
	if err != nil {
		return err
	}
	r.began, r.result.Generation, r.text = true, started.Generation, shell.NewText(started.Size)
	id := started.Run
	for {
		piece, err := talk.BodyOf[*protocol.RunOutput](t.Ask(remaining(ctx), &protocol.ReadRun{Session: r.s.at.Name, Run: id, Offset: r.offset}))
		if err != nil {
			_ = r.put(nil, true)
			return err
		}
		r.result.Dropped += piece.Offset - r.offset
		r.offset = piece.Offset + uint64(len(piece.Data))
		if err := r.put(piece.Data, piece.Ended); err != nil {
			return err
		}
		if piece.Ended {
			r.ended(piece)
			return nil
		}
	}
}

func (r *runner) ended(last *protocol.RunOutput) {
	r.result.Exited, r.result.TookMS = last.Exited, last.Took.Milliseconds()
	if last.HasStatus {
		status := last.Status
		r.result.Status = &status
	}
}

// put hands output on.
func (r *runner) put(data []byte, last bool) error {
	if !r.c.Raw {
		out := r.text.Write(nil, data)
		if last {
			out = r.text.End(out)
		}
		data = out
	}
	if r.c.Output == nil {
		r.output = append(r.output, data...)
		return nil
	}
	_, err := r.c.Output.Write(data)
	return err
}

// remaining is how long a request may take by ctx.
func remaining(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(protocol.MaxWait, max(time.Until(deadline), time.Millisecond))
	}
	return protocol.MaxWait
}
