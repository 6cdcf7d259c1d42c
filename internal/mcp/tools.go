package mcp

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain/fault"
)

// tools adds them all.
func (s *Server) tools() {
	s.looking()
	s.ofSessions()
	s.typing()
	s.running()
	s.watching()
}

type none struct{}

type listIn struct {
	Host string `json:"host,omitempty" jsonschema:"the machine, as the user's ssh names it; this one if left out"`
}

type listed struct {
	client.Info
	Address  string `json:"address" jsonschema:"what the other tools take"`
	Writable bool   `json:"writable" jsonschema:"whether this server may write to it"`
}

type listOut struct {
	Sessions []listed `json:"sessions"`
}

type captureIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
	History int    `json:"history,omitempty" jsonschema:"lines that scrolled off, to read before the screen"`
}

type captureOut struct {
	Text      string        `json:"text" jsonschema:"one line a row"`
	Cut       bool          `json:"cut,omitempty" jsonschema:"older text was left out"`
	Cols      int           `json:"cols"`
	Rows      int           `json:"rows"`
	Cursor    client.Cursor `json:"cursor"`
	Alternate bool          `json:"alternate" jsonschema:"a full-screen program"`
	Title     string        `json:"title"`
	Cwd       string        `json:"cwd"`
}

type waitIn struct {
	Session string  `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Text    string  `json:"text,omitempty" jsonschema:"a regular expression (RE2) that a line of the screen, or a newer one, matches"`
	Idle    float64 `json:"idle_seconds,omitempty" jsonschema:"no output for so long"`
	Exit    bool    `json:"exit,omitempty" jsonschema:"the program's end"`
	Prompt  bool    `json:"prompt,omitempty" jsonschema:"its shell waits for a command"`
	Input   bool    `json:"input,omitempty" jsonschema:"a program waits for what is typed"`
	Timeout float64 `json:"timeout_seconds,omitempty" jsonschema:"60 if left out"`
}

type waitOut struct {
	Met    string  `json:"met,omitempty" jsonschema:"which condition; none: the timeout passed"`
	Match  *string `json:"match,omitempty" jsonschema:"the line that matched text"`
	Status *int    `json:"status,omitempty" jsonschema:"of the program that has ended"`
	State  string  `json:"state,omitempty" jsonschema:"what the session does: running, prompt, input, attention or exited"`
}

// looking adds what only looks.
func (s *Server) looking() {
	tool(s, looks, "list", "List the sessions of a machine.", func(j *jsonschema.Schema) {
		text(j, "host", 0, 256)
	}, func(listIn) string { return "" }, func(ctx context.Context, c *client.Client, in listIn) (listOut, error) {
		list, err := c.List(ctx, in.Host)
		out := listOut{Sessions: make([]listed, 0, len(list))}
		for _, info := range list {
			out.Sessions = append(out.Sessions, s.listed(in.Host, info))
		}
		return out, err
	})
	tool(s, looks, "clients", "List who is attached to a session: people who look at it.", named,
		func(in sessionIn) string { return in.Session }, clients)
	tool(s, looks, "capture", "Read the screen of a session as text, and history above it.", func(j *jsonschema.Schema) {
		named(j)
		number(j, "history", 0, MaxHistory)
	}, func(in captureIn) string { return in.Session }, s.capture)
	tool(s, looks, "wait", "Wait for the first of: a text, silence, the program's end, a prompt, a program that reads input. Answers at once when it is met; use it instead of polling.",
		func(j *jsonschema.Schema) {
			named(j)
			text(j, "text", 0, 1024)
			number(j, "idle_seconds", 0, MaxWait.Seconds())
			number(j, "timeout_seconds", 0.001, MaxWait.Seconds())
		}, func(in waitIn) string { return in.Session }, s.wait)
}

func (s *Server) listed(host string, info client.Info) listed {
	address := info.Name
	if host != "" {
		address = host + ":" + info.Name
	}
	return listed{Info: info, Address: address, Writable: !s.o.ReadOnly && s.mayWrite(host, info)}
}

type clientsOut struct {
	Clients []client.Attached `json:"clients"`
}

func clients(ctx context.Context, c *client.Client, in sessionIn) (clientsOut, error) {
	session, err := c.Session(in.Session)
	if err != nil {
		return clientsOut{}, err
	}
	list, err := session.Clients(ctx)
	return clientsOut{Clients: list}, err
}

func (s *Server) capture(ctx context.Context, c *client.Client, in captureIn) (captureOut, error) {
	session, err := c.Session(in.Session)
	if err != nil {
		return captureOut{}, err
	}
	screen, err := session.Capture(ctx, in.History)
	if err != nil {
		return captureOut{}, err
	}
	out := captureOut{
		Cols: screen.Cols, Rows: screen.Rows, Cursor: screen.Cursor, Alternate: screen.Alternate, Title: screen.Title, Cwd: screen.Cwd,
	}
	out.Text, out.Cut = newest(screen.Text())
	return out, nil
}

// newest is the end of a text that is too long for an answer, from a line's beginning if it has one.
func newest(all string) (kept string, cut bool) {
	if len(all) <= MaxAnswer {
		return all, false
	}
	all = all[len(all)-MaxAnswer:]
	if i := strings.IndexByte(all, '\n'); i >= 0 && i < len(all)-1 {
		return all[i+1:], true
	}
	for len(all) > 0 && !utf8.RuneStart(all[0]) {
		all = all[1:]
	}
	return all, true
}

func (s *Server) wait(ctx context.Context, c *client.Client, in waitIn) (waitOut, error) {
	session, err := c.Session(in.Session)
	if err != nil {
		return waitOut{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(in.Timeout))
	defer cancel()
	condition := client.Condition{Text: in.Text, Idle: time.Duration(in.Idle * float64(time.Second)), Exit: in.Exit, Prompt: in.Prompt}
	if in.Input {
		condition.States = []string{"input"}
	}
	met, err := session.Wait(ctx, condition)
	switch {
	case fault.KindOf(err) == fault.Timeout && err != nil:
		return waitOut{}, nil
	case err != nil:
		return waitOut{}, err
	}
	return waitOut{Met: met.Met, Match: met.Match, Status: met.Status, State: met.State}, nil
}

// seconds is a timeout that the schema has bounded.
func seconds(n float64) time.Duration {
	if n == 0 {
		return DefaultWait
	}
	return time.Duration(n * float64(time.Second))
}

type newIn struct {
	Name    string   `json:"name,omitempty" jsonschema:"letters, digits, and . _ - behind the first; the lowest free number if left out"`
	Host    string   `json:"host,omitempty" jsonschema:"the machine, as the user's ssh names it; this one if left out"`
	Command []string `json:"command,omitempty" jsonschema:"program and arguments; the user's shell if left out"`
	Dir     string   `json:"dir,omitempty" jsonschema:"absolute path to start in"`
	Env     []string `json:"env,omitempty" jsonschema:"each NAME=VALUE, over the environment"`
	Cols    int      `json:"cols,omitempty" jsonschema:"80 if left out"`
	Rows    int      `json:"rows,omitempty" jsonschema:"24 if left out"`
}

type sessionIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
}

// ofSessions adds what makes and ends sessions.
func (s *Server) ofSessions() {
	tool(s, writes, "new", "Make a session that runs a command, or a shell. It keeps running until its program ends or kill.", func(j *jsonschema.Schema) {
		text(j, "name", 0, 64)
		text(j, "host", 0, 256)
		list(j, "command", 1024, 64<<10)
		text(j, "dir", 0, 4096)
		list(j, "env", 256, 32<<10)
		number(j, "cols", 0, 1000)
		number(j, "rows", 0, 500)
	}, func(in newIn) string { return in.Name }, func(ctx context.Context, c *client.Client, in newIn) (listed, error) {
		o := client.Create{Host: in.Host, Name: in.Name, Command: in.Command, Dir: in.Dir, Env: in.Env, Cols: in.Cols, Rows: in.Rows}
		if o.Cols == 0 && o.Rows != 0 {
			o.Cols = 80
		}
		if o.Rows == 0 && o.Cols != 0 {
			o.Rows = 24
		}
		info, err := s.make(ctx, c, o)
		if err != nil {
			return listed{}, err
		}
		return s.listed(in.Host, info), nil
	})
	tool(s, writes, "rename", "Give a session another name. It is the same session: what may be written to stays so by its id.", func(j *jsonschema.Schema) {
		named(j)
		text(j, "name", 1, 64)
	}, func(in renameIn) string { return in.Session }, s.rename)
	tool(s, writes, "resize", "Give a session's terminal a size, which stays.", func(j *jsonschema.Schema) {
		named(j)
		number(j, "cols", 1, 1000)
		number(j, "rows", 1, 500)
	}, func(in resizeIn) string { return in.Session }, func(ctx context.Context, c *client.Client, in resizeIn) (none, error) {
		session, err := s.writable(ctx, c, in.Session)
		if err != nil {
			return none{}, err
		}
		return none{}, session.Resize(ctx, in.Cols, in.Rows)
	})
	tool(s, ends, "kill", "End a session and its program.", named, func(in sessionIn) string { return in.Session },
		func(ctx context.Context, c *client.Client, in sessionIn) (none, error) {
			session, err := s.writable(ctx, c, in.Session)
			if err != nil {
				return none{}, err
			}
			return none{}, session.Kill(ctx)
		})
}

type renameIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Name    string `json:"name" jsonschema:"letters, digits, and . _ - behind the first"`
}

type resizeIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
}

// rename answers with the session as it is called now.
func (s *Server) rename(ctx context.Context, c *client.Client, in renameIn) (listed, error) {
	session, err := s.writable(ctx, c, in.Session)
	if err != nil {
		return listed{}, err
	}
	if err := session.Rename(ctx, in.Name); err != nil {
		return listed{}, err
	}
	info, err := session.Info(ctx)
	if err != nil {
		return listed{}, err
	}
	return s.listed(session.Host(), info), nil
}

type typeIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Text    string `json:"text" jsonschema:"typed as it is"`
	Enter   bool   `json:"enter,omitempty" jsonschema:"press Enter behind it"`
}

type keyIn struct {
	Session string   `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Keys    []string `json:"keys" jsonschema:"such as Enter, Escape, Tab, Up, F5, C-c, M-x, S-Left"`
}

type pasteIn struct {
	Session string `json:"session" jsonschema:"NAME, or HOST:NAME"`
	Text    string `json:"text" jsonschema:"pasted as a terminal does: a program can tell it from typing"`
}

// typing adds what goes into sessions.
func (s *Server) typing() {
	tool(s, writes, "type", "Type text into a session.", func(j *jsonschema.Schema) {
		named(j)
		text(j, "text", 1, MaxText)
	}, func(in typeIn) string { return in.Session }, func(ctx context.Context, c *client.Client, in typeIn) (none, error) {
		if len(in.Text) > MaxText {
			return none{}, tooLong("text", len(in.Text), MaxText)
		}
		session, err := s.writable(ctx, c, in.Session)
		if err != nil {
			return none{}, err
		}
		if err := session.Type(ctx, in.Text); err != nil || !in.Enter {
			return none{}, err
		}
		return none{}, session.Press(ctx, "Enter")
	})
	tool(s, writes, "key", "Press named keys in a session.", func(j *jsonschema.Schema) {
		named(j)
		list(j, "keys", MaxKeys, 64)
		least := 1
		j.Properties["keys"].MinItems = &least
	}, func(in keyIn) string { return in.Session }, func(ctx context.Context, c *client.Client, in keyIn) (none, error) {
		session, err := s.writable(ctx, c, in.Session)
		if err != nil {
			return none{}, err
		}
		return none{}, session.Press(ctx, in.Keys...)
	})
	tool(s, writes, "paste", "Paste text into a session, at the pace at which its program reads.", func(j *jsonschema.Schema) {
		named(j)
		text(j, "text", 1, MaxPaste)
	}, func(in pasteIn) string { return in.Session }, func(ctx context.Context, c *client.Client, in pasteIn) (none, error) {
		if len(in.Text) > MaxPaste {
			return none{}, tooLong("text", len(in.Text), MaxPaste)
		}
		session, err := s.writable(ctx, c, in.Session)
		if err != nil {
			return none{}, err
		}
		return none{}, session.Paste(ctx, strings.NewReader(in.Text))
	})
}

// tooLong is for what a schema, which counts characters, lets through.
func tooLong(what string, bytes, most int) error {
	return fault.New(fault.Limit, "%s has %d bytes, at most %d", what, bytes, most)
}
