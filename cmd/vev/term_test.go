package main

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vev-term/vev/internal/adapters/pty"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
)

// termTimeout is how long a terminal is watched for what a script expects of it.
const termTimeout = 10 * time.Second

type termsKey struct{}

// terminals are a script's terminals by name.
type terminals struct{ open map[string]*term }

func (ts *terminals) closeAll() {
	for _, t := range ts.open {
		t.close()
	}
}

// term is a program on a terminal of its own, with an engine that shows what a person would see.
type term struct {
	program ports.Program
	read    chan struct{} // closed when all output was read

	mu     sync.Mutex
	screen *vt.Terminal
	raw    []byte
}

// cmdTerm drives programs on terminals:
//
//	term start NAME CxR PROGRAM ARG...
//	term type NAME TEXT      Go escapes are read: \r \x1c
//	term see NAME REGEXP     waits until the screen matches
//	term resize NAME CxR
//	term exits NAME CODE     waits for the program's end
//	term sent NAME REGEXP    the raw output so far matches
func cmdTerm(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: term VERB NAME ARG...")
	}
	terms := ts.Value(termsKey{}).(*terminals)
	verb, name, args := args[0], args[1], args[2:]
	if verb == "start" {
		terms.open[name] = startTerm(ts, args)
		return
	}
	t := terms.open[name]
	if t == nil || len(args) != 1 {
		ts.Fatalf("term %s: no terminal %q, or not one argument", verb, name)
	}
	switch verb {
	case "type":
		text, err := strconv.Unquote(`"` + args[0] + `"`)
		ts.Check(err)
		_, err = t.program.Write([]byte(text))
		ts.Check(err)
	case "see":
		t.see(ts, args[0], !neg)
	case "sent":
		t.mu.Lock()
		raw := string(t.raw)
		t.mu.Unlock()
		if matches(ts, args[0], raw) == neg {
			ts.Fatalf("output %q", raw)
		}
	case "resize":
		size, err := parseSize(args[0])
		ts.Check(err)
		t.mu.Lock()
		t.screen.Resize(size.Cols, size.Rows)
		t.mu.Unlock()
		ts.Check(t.program.Resize(size))
	case "exits":
		t.exits(ts, args[0])
	default:
		ts.Fatalf("term %s?", verb)
	}
}

func startTerm(ts *testscript.TestScript, args []string) *term {
	if len(args) < 2 {
		ts.Fatalf("usage: term start NAME CxR PROGRAM ARG...")
	}
	size, err := parseSize(args[0])
	ts.Check(err)
	argv := slices.Clone(args[1:])
	if argv[0] == "vev" {
		argv[0] = binary
	}
	var env []string
	for _, key := range []string{"PATH", "HOME", "VEV_HOME", "VEV_SESSION", "VEV_BINARY", "SHELL", "PS1", "TERM", "LC_ALL", "GORACE"} {
		if value := ts.Getenv(key); value != "" {
			env = append(env, key+"="+value)
		}
	}
	programs := &pty.Programs{}
	program, err := programs.Start(domain.Command{Argv: argv, Env: env, Dir: filepath.Clean(ts.MkAbs("."))}, size)
	ts.Check(err)
	t := &term{program: program, read: make(chan struct{}), screen: vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows})}
	go t.readAll()
	return t
}

func (t *term) readAll() {
	defer close(t.read)
	buf := make([]byte, 4096)
	for {
		n, err := t.program.Read(buf)
		t.mu.Lock()
		t.raw = append(t.raw, buf[:n]...)
		_, _ = t.screen.Write(buf[:n])
		replies := slices.Clone(t.screen.TakeReplies())
		t.mu.Unlock()
		if len(replies) > 0 {
			_, _ = t.program.Write(replies)
		}
		if err != nil {
			return
		}
	}
}

func (t *term) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, rows := t.screen.Size()
	var out []byte
	for y := range rows {
		row := t.screen.Row(y)
		for _, cell := range row.Cells()[:row.Used()] {
			before := len(out)
			if out = t.screen.AppendCell(out, cell); len(out) == before && !cell.IsSpacer() {
				out = append(out, ' ')
			}
		}
		out = append(out, '\n')
	}
	return string(out)
}

func (t *term) see(ts *testscript.TestScript, pattern string, want bool) {
	deadline := time.Now().Add(termTimeout)
	for matches(ts, pattern, t.text()) != want {
		if time.Now().After(deadline) {
			ts.Fatalf("no %q on the screen:\n%s", pattern, t.text())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (t *term) exits(ts *testscript.TestScript, code string) {
	ended := make(chan domain.ExitStatus, 1)
	go func() {
		status := t.program.Wait()
		<-t.read // closing the terminal would take what it has not read yet
		ended <- status
	}()
	select {
	case status := <-ended:
		t.close()
		if got := strconv.Itoa(status.ShellCode()); got != code {
			ts.Fatalf("exit code %s, want %s; screen:\n%s", got, code, t.text())
		}
	case <-time.After(termTimeout):
		ts.Fatalf("still running; screen:\n%s", t.text())
	}
}

func (t *term) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	t.program.Kill(ctx)
	_ = t.program.Close()
	<-t.read
}

func matches(ts *testscript.TestScript, pattern, text string) bool {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	return re.MatchString(text)
}

func sortedKeys(m map[string]any) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, ",")
}
