package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/shell"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// runOptions are those of vev run.
type runOptions struct {
	timeout    time.Duration
	raw, json  bool
	generation uint64
	author     string
}

func (c *cli) cmdRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run NAME [--timeout DUR] [--json | --raw] -- CMD...",
		Short: "Run a command in a session's shell",
		Long: `Type a command at the prompt of a session's shell, wait for its end, print its output
and exit with its status. Several words are joined by one blank; the shell of the
session reads them, with its directory, variables and functions.

It works in bash, zsh, fish and sh, whether or not vev shell-init is in use, and in
any shell that marks its commands (OSC 133), also behind ssh. A session that is
not at a prompt, or at whose prompt somebody has begun to type, is left alone.

Output is text, as the session's screen shows it; with --raw it comes as the
program wrote it. Ctrl-C interrupts the command, pressed twice it leaves. After
the timeout the exit code is 4 and the command goes on.

As JSON the answer is one object with session, command, output, status, signal of
nothing else: took_ms, timed_out, exited (the shell itself ended), dropped (bytes of
output that came too fast to be kept) and generation.`,
		Example: `  vev run work -- make test
  vev run work --timeout 10s -- 'cd /srv; git status --short | wc -l'
  vev run desk:work --json -- uname -a | jq -r .output`,
		Args:              namedCount(2, -1, 1),
		ValidArgsFunction: c.completeSessions(firstOnly),
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			switch {
			case o.timeout <= 0 || o.timeout > protocol.MaxWait:
				return usage(cmd, "run: --timeout is more than 0 and at most %s", protocol.MaxWait)
			case o.raw && o.json:
				return usage(cmd, "run: --json and --raw exclude each other")
			}
			return c.runCommand(cmd.Context(), a, strings.Join(args[1:], " "), &o)
		}),
	}
	f := cmd.Flags()
	f.DurationVar(&o.timeout, "timeout", protocol.MaxWait, "wait for `DUR` at the most")
	f.BoolVar(&o.json, "json", false, "answer as JSON")
	f.BoolVar(&o.raw, "raw", false, "print the output as the program wrote it")
	f.Uint64Var(&o.generation, "expect-generation", 0, "only while the session's generation is `N`")
	authorFlag(cmd, &o.author)
	return cmd
}

// commandJSON is the answer of vev run --json.
type commandJSON struct {
	Session    string `json:"session"`
	Command    string `json:"command"`
	Output     string `json:"output"`
	Status     *int   `json:"status"`
	TookMS     int64  `json:"took_ms"`
	TimedOut   bool   `json:"timed_out"`
	Exited     bool   `json:"exited"`
	Dropped    uint64 `json:"dropped"`
	Generation uint64 `json:"generation"`
}

func (c *cli) runCommand(ctx context.Context, a domain.Address, command string, o *runOptions) error {
	deadline := time.Now().Add(o.timeout)
	t, err := c.beginAt(ctx, a)
	if err != nil {
		return err
	}
	defer t.Close()
	started, err := talk.BodyOf[*protocol.RunStarted](t.Ask(min(o.timeout, protocol.RequestTimeout), &protocol.RunCommand{
		Session: a.Name, Command: command, Generation: o.generation, Author: o.author,
	}))
	if err != nil {
		return err
	}
	r := &follower{c: c, t: t, a: a, id: started.Run, text: shell.NewText(started.Size), o: o, deadline: deadline}
	answer := commandJSON{Session: a.String(), Command: command, Generation: started.Generation}
	stop := c.interrupting(ctx, a, o.author)
	defer stop()
	end, err := r.follow()
	answer.Dropped, answer.TookMS = r.dropped, time.Since(deadline.Add(-o.timeout)).Milliseconds()
	if fault.KindOf(err) == fault.Timeout {
		answer.TimedOut = true
		err = fault.New(fault.Timeout, "the command has not ended within %s; it goes on", o.timeout).
			WithHint("vev key %s C-c interrupts it", a)
	} else if err != nil {
		return err
	} else {
		answer.Exited, answer.TookMS = end.Exited, end.Took.Milliseconds()
		if end.HasStatus {
			answer.Status = &end.Status
		}
		err = runStatus(end)
	}
	if o.json {
		answer.Output = string(r.output)
		if jsonErr := c.printJSON(answer); jsonErr != nil {
			return jsonErr
		}
	}
	if r.dropped > 0 {
		c.say("vev: output came too fast: bytes are missing")
	}
	return err
}

// runStatus is the command's end as this command's.
func runStatus(end *protocol.RunOutput) error {
	switch {
	case !end.HasStatus:
		return fault.New(fault.Unknown, "the shell did not tell the command's status")
	case end.Status != 0:
		return exitStatus(end.Status & 0xff)
	}
	return nil
}

// follower is a command whose output is being read.
type follower struct {
	c        *cli
	t        *talk.Talk
	a        domain.Address
	id       uint64
	o        *runOptions
	deadline time.Time
	text     *shell.Text
	output   []byte // for JSON
	offset   uint64
	dropped  uint64
}

// follow prints the output until its end, or the timeout.
func (r *follower) follow() (*protocol.RunOutput, error) {
	for {
		left := max(time.Until(r.deadline), time.Millisecond)
		piece, err := talk.BodyOf[*protocol.RunOutput](r.t.Ask(left, &protocol.ReadRun{Session: r.a.Name, Run: r.id, Offset: r.offset}))
		if err != nil {
			r.print(nil, true)
			return nil, err
		}
		r.dropped += piece.Offset - r.offset
		r.offset = piece.Offset + uint64(len(piece.Data))
		r.print(piece.Data, piece.Ended)
		if piece.Ended {
			return piece, nil
		}
	}
}

func (r *follower) print(data []byte, last bool) {
	if !r.o.raw {
		out := r.text.Write(nil, data)
		if last {
			out = r.text.End(out)
		}
		data = out
	}
	if r.o.json {
		r.output = append(r.output, data...)
		return
	}
	_, _ = r.c.out.Write(data)
	_ = r.c.out.Flush()
}

// interrupting presses Ctrl-C in the session where it is pressed here, once: the next one ends this process.
func (c *cli) interrupting(ctx context.Context, a domain.Address, author string) (stop func()) {
	pressed := make(chan os.Signal, 1)
	signal.Notify(pressed, os.Interrupt)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-pressed:
			signal.Stop(pressed)
			_, _ = c.act(ctx, a, 0, &protocol.Keys{Session: a.Name, Names: []string{"C-c"}, Author: author})
		case <-done:
		}
	}()
	return func() {
		signal.Stop(pressed)
		close(done)
		<-ended
	}
}
