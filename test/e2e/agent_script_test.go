//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// rounds is how often an agent's script is run in a row: VEV_ROUNDS, for more than a test's worth.
func rounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("VEV_ROUNDS"))
	if err != nil {
		return 3
	}
	return n
}

// scripted is a program that works in sessions with nothing but the command line.
type scripted struct {
	h    *home
	name string // the session's address
}

func (a *scripted) ok(args ...string) string {
	a.h.t.Helper()
	return a.h.ok(append([]string{args[0], a.name}, args[1:]...)...)
}

// waits is vev wait --json.
func (a *scripted) waits(conditions ...string) (met struct{ Met, Match, State, Reason string }) {
	a.h.t.Helper()
	out := a.ok(append([]string{"wait", "--json", "--timeout", patience.String()}, conditions...)...)
	require.NoError(a.h.t, json.Unmarshal([]byte(out), &met))
	return met
}

// line types a line and Enter.
func (a *scripted) line(text string) {
	a.h.t.Helper()
	a.ok("send", "--", text)
	a.ok("key", "Enter")
}

// text waits for a line of the screen.
func (a *scripted) text(re string) string {
	a.h.t.Helper()
	met := a.waits("--text", re, "--exit")
	require.Equal(a.h.t, "text", met.Met, "waiting for %s, and the program ended", re)
	return met.Match
}

// prompt is Python's, with nothing behind it: the rows of earlier ones have what was typed there.
const prompt = "^>>> ?$"

// repl does in Python what script does in a shell. What is printed is different each time, so that what was there before is
// never taken for an answer; the prompt behind it is a new one.
func (a *scripted) repl(round int, files string) {
	t := a.h.t
	t.Helper()
	a.h.ok("new", a.name, "-d", "-e", "PYTHONDONTWRITEBYTECODE=1", "--", "python3", "-q")
	a.text(prompt)
	a.line(`from os import system as run; print("be" + "gun")`)
	a.text("^begun$")
	a.text(prompt)
	for i := range 10 {
		id := fmt.Sprintf("%d-%d", round, i)
		a.line(fmt.Sprintf(`print("out", "%s"); print("status", run("exit %d") >> 8, "%s")`, id, i, id))
		require.Equal(t, fmt.Sprintf("status %d %s", i, id), a.text(`^status \d+ `+id+`$`))
		a.text(prompt)
		require.Contains(t, a.ok("capture"), "\nout "+id+"\nstatus ")
	}
	a.line("1 / 0")
	require.Contains(t, a.text("^ZeroDivisionError"), "division by zero")
	a.text(prompt)

	a.line(`run("less -X ` + files + `/page.txt")`)
	a.text("^a line of a page$")
	a.ok("key", "q")
	a.text(prompt)

	a.line(`import getpass; print("it has", len(getpass.getpass()), "letters")`)
	a.text("^Password: ?$")
	met := a.waits("--state", "input", "--exit")
	require.Equal(t, "reads without echo, as for a password", met.Reason)
	a.line("sesame")
	a.text("^it has 6 letters$")
	a.text(prompt)
	require.NotContains(t, a.ok("capture", "--history", "100"), "sesame")
	a.line("exit(3)")
	require.Equal(t, "3\n", a.ok("wait", "--exit", "--timeout", patience.String()))
	a.ok("kill")
}

// script starts a shell, waits for its prompt, runs ten commands, leaves a pager and answers a password prompt. Nothing
// in it sleeps or asks twice.
func (a *scripted) script(round int, files string) {
	t := a.h.t
	t.Helper()
	a.h.ok("new", a.name, "-d", "--", "bash", "--norc")
	require.Equal(t, "prompt", a.waits("--prompt", "--exit").Met)
	for i := range 10 {
		var got struct {
			Output string
			Status int
		}
		answer := a.h.vev("run", a.name, "--json", "--timeout", patience.String(), "--", fmt.Sprintf("printf '%%s\\n' %d-%d; (exit %d)", round, i, i))
		require.NoError(t, json.Unmarshal([]byte(answer.stdout), &got), "%s%s", answer.stdout, answer.stderr)
		require.Equal(t, i, answer.code)
		require.Equal(t, i, got.Status)
		require.Equal(t, fmt.Sprintf("%d-%d\n", round, i), got.Output)
	}
	a.ok("send", "--at-prompt", "less -X "+files+"/page.txt")
	a.ok("key", "Enter")
	met := a.waits("--state", "input", "--exit")
	require.Equal(t, "reads keys", met.Reason)
	a.ok("key", "q")
	require.Equal(t, "prompt", a.waits("--prompt", "--exit").Met)

	a.ok("send", "--at-prompt", `read -rsp "Password: " secret; echo; echo "it has ${#secret} letters"`)
	a.ok("key", "Enter")
	met = a.waits("--state", "input", "--exit")
	require.Equal(t, "reads without echo, as for a password", met.Reason)
	a.ok("send", "sesame")
	a.ok("key", "Enter")
	require.Equal(t, "text", a.waits("--text", "^it has 6 letters$", "--exit").Met)
	require.NotContains(t, a.ok("capture"), "sesame")
	require.Equal(t, "prompt", a.waits("--prompt").Met)
	a.ok("kill")
}

// TestAgentScript: an agent's day in a shell and in Python, many times in a row, here and on another machine. VEV_ROUNDS=100 go test
// -run TestAgentScript ./test/e2e is the long one.
func TestAgentScript(t *testing.T) {
	need(t, "bash")
	need(t, "less")
	need(t, "python3")
	page := []byte(strings.Repeat("a line of a page\n", 100))
	t.Run("here", func(t *testing.T) {
		h := newHome(t)
		h.write("page.txt", page)
		h.ok("new", "stays", "-d", "--", "cat")
		begin := time.Now()
		for round := range rounds(t) {
			(&scripted{h, fmt.Sprintf("r%d", round)}).script(round, h.dir)
			(&scripted{h, fmt.Sprintf("p%d", round)}).repl(round, h.dir)
		}
		t.Logf("%d rounds, each in a shell and in Python, in %v", rounds(t), time.Since(begin))
	})
	t.Run("over ssh", func(t *testing.T) {
		s := newSite(t)
		s.far.write("page.txt", page)
		s.near.ok("new", "far:stays", "-d", "--", "cat")
		begin := time.Now()
		for round := range rounds(t) {
			(&scripted{s.near, fmt.Sprintf("far:r%d", round)}).script(round, s.far.dir)
			(&scripted{s.near, fmt.Sprintf("far:p%d", round)}).repl(round, s.far.dir)
		}
		t.Logf("%d rounds, each in a shell and in Python, in %v", rounds(t), time.Since(begin))
	})
}

// TestNextIsWhoHasWaitedTheLongest: bells call, and attaching answers.
func TestNextIsWhoHasWaitedTheLongest(t *testing.T) {
	h := newHome(t)
	for _, name := range []string{"one", "two", "three"} {
		h.sh(name, `read x; printf '\a'; exec cat`)
	}
	for _, name := range []string{"two", "one"} {
		h.ok("key", name, "Enter")
		require.Equal(t, "attention\n", h.ok("wait", name, "--state", "attention", "--timeout", patience.String()))
	}
	listed := h.ok("ls", "--wants")
	require.Regexp(t, `(?m)^two +wants you: bell `, listed)
	require.NotContains(t, listed, "three")
	for _, name := range []string{"two", "one"} {
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "next")
		h.ok("wait", name, "--event", "attached", "--since", "1", "--timeout", patience.String())
		// Until the client has the terminal to itself that key is a signal.
		tt.until("the session", func(s *vt.Terminal) bool { return s.Modes().Alternate })
		tt.typ("\x1c" + "d")
		require.Zero(t, p.exits())
		tt.sees("detached from session " + name)
	}
	a := h.vev("next")
	require.Equal(t, 1, a.code)
	require.Contains(t, a.stderr, "no session wants you")
}
