package mcp

import (
	"context"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain/fault"
)

type runIn struct {
	Session string  `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Command string  `json:"command" jsonschema:"for the session's shell to read: with its directory, variables and functions"`
	Timeout float64 `json:"timeout_seconds,omitempty" jsonschema:"60 if left out; after it the command goes on"`
}

type runOut struct {
	Output   string `json:"output"`
	Cut      bool   `json:"cut,omitempty" jsonschema:"older output was left out"`
	Status   *int   `json:"status" jsonschema:"null: it has not ended, or the shell did not tell"`
	TimedOut bool   `json:"timed_out,omitempty" jsonschema:"the command goes on: wait for it, or press C-c"`
	Exited   bool   `json:"exited,omitempty" jsonschema:"the shell itself ended"`
	TookMS   int64  `json:"took_ms"`
}

// running adds what runs commands.
func (s *Server) running() {
	tool(s, writes, "run", "Run a command in a session's shell and answer with its output and status. Refused unless the shell is at a prompt.",
		func(j *jsonschema.Schema) {
			named(j)
			text(j, "command", 1, MaxText)
			number(j, "timeout_seconds", 0.001, MaxWait.Seconds())
		}, func(in runIn) string { return in.Session }, s.run)
}

func (s *Server) run(ctx context.Context, c *client.Client, in runIn) (runOut, error) {
	session, err := s.writable(ctx, c, in.Session)
	if err != nil {
		return runOut{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(in.Timeout))
	defer cancel()
	var output tail
	r, err := session.Run(ctx, client.Command{Line: in.Command, Output: &output})
	if err != nil && !(r.TimedOut && fault.KindOf(err) == fault.Timeout) {
		return runOut{}, err
	}
	out := runOut{Status: r.Status, TimedOut: r.TimedOut, Exited: r.Exited, TookMS: r.TookMS}
	out.Output, out.Cut = newest(strings.ToValidUTF8(string(output.kept), "\uFFFD"))
	out.Cut = out.Cut || output.cut || r.Dropped > 0
	return out, nil
}

// tail keeps the end of what is written to it: what an answer can carry.
type tail struct {
	kept []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - 2*MaxAnswer; over > 0 {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-MaxAnswer:]...)
		t.cut = true
	}
	return len(p), nil
}
