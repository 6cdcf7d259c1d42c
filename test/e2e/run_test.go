//go:build linux

package e2e

import (
	"crypto/sha256"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shellScene is a shell as a session has it.
type shellScene struct {
	name string
	argv []string
	// setup makes the shell mark its commands by itself; empty: it does not.
	setup func(h *home) []string // environment and files; returns arguments of vev new before the command
}

// shells are the shells that vev run must know, with the integration and without.
func shells() []shellScene {
	return []shellScene{
		{"sh", []string{"sh"}, nil},
		{"bash", []string{"bash", "--norc"}, nil},
		{"zsh", []string{"zsh", "-f"}, nil},
		{"fish", []string{"fish", "--no-config"}, nil},
		{"bash with marks", []string{"bash"}, func(h *home) []string {
			h.write(".bashrc", []byte(`PS1='$ '; eval "$(`+vev+` shell-init bash)"`+"\n"))
			return nil
		}},
		{"zsh with marks", []string{"zsh"}, func(h *home) []string {
			h.write(".zshrc", []byte(`PS1='$ '; eval "$(`+vev+` shell-init zsh)"`+"\n"))
			return []string{"-e", "ZDOTDIR=" + h.dir}
		}},
		{"fish with marks", []string{"fish"}, func(h *home) []string {
			require.NoError(h.t, os.MkdirAll(h.path(".config/fish"), 0o700))
			h.write(".config/fish/config.fish", []byte(vev+" shell-init fish | source\n"))
			return []string{"-e", "XDG_CONFIG_HOME=" + h.path(".config")}
		}},
	}
}

func (s *shellScene) session(t *testing.T, h *home, name string) {
	t.Helper()
	need(t, s.argv[0])
	args := []string{"new", name, "-d"}
	if s.setup != nil {
		args = append(args, s.setup(h)...)
	}
	h.ok(append(append(args, "--"), s.argv...)...)
}

// TestRunInEveryShell: output and status are the command's, whatever shell reads it.
func TestRunInEveryShell(t *testing.T) {
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			h := newHome(t)
			s.session(t, h, "work")
			run := func(status int, output string, words ...string) {
				t.Helper()
				a := h.vev(append([]string{"run", "work", "--timeout", patience.String(), "--"}, words...)...)
				require.Equal(t, [2]any{status, output}, [2]any{a.code, a.stdout}, "%q: %s\n%s", words, a.stderr, h.vev("capture", "work").stdout)
			}
			run(0, "one\n", "echo", "one")
			run(0, "", "true")
			run(3, "", "sh", "-c", "'exit 3'")
			run(3, "", "sh -c 'exit 3'")
			run(0, "no end", "printf 'no end'")
			run(0, "a b\n\nc\n", "echo a b\necho\necho c")
			run(0, quotes+"\n", "printf '%s\\n' '"+strings.ReplaceAll(quotes, "'", `'"'"'`)+"'")
			run(0, "ä日\n", "echo ä日")
			run(0, "1\n2\n3\n", "seq 3")
			require.NotZero(t, h.vev("run", "work", "--timeout", "20s", "--", "if then (").code, "a syntax error")
			run(0, "after\n", "echo", "after")
			run(0, h.dir+"\n", "pwd")
			run(0, "", "cd /tmp")
			run(0, "/tmp\n", "pwd")
		})
	}
}

// quotes are what shells and line editors do something with; a backslash in single quotes fish reads otherwise.
const quotes = "'\"$x `id` !! %d # ~ * ? {a,b} ; | & < > ( ) [ ] ^"

// TestRunInterruptedAndTimedOut: Ctrl-C ends the command, in the session or at vev run; a timeout leaves it alone.
func TestRunInterruptedAndTimedOut(t *testing.T) {
	told := 0
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			h := newHome(t)
			s.session(t, h, "work")
			h.ok("wait", "work", "--prompt", "--timeout", patience.String())
			a := h.vev("run", "work", "--timeout", "1s", "--", "echo begun; sleep 1000")
			require.Equal(t, 4, a.code, a.stderr)
			require.Contains(t, a.stderr, "it goes on")
			if a.stdout != "" { // where much else goes on it may begin later
				require.Equal(t, "begun\n", a.stdout)
				told++
			}
			h.waitText("work", "^begun$")
			a = h.vev("run", "work", "--", "echo second")
			require.Equal(t, 1, a.code)
			require.Contains(t, a.stderr, "not at a prompt: sleep runs")
			h.ok("key", "work", "C-c")
			eventually(t, "a prompt", func() bool { a = h.vev("run", "work", "--", "echo third"); return a.code != 1 })
			require.Equal(t, [2]any{0, "third\n"}, [2]any{a.code, a.stdout}, a.stderr)

			// What says that it has begun is what is interrupted: between two commands, and while they hand the terminal over,
			// shells lose a Ctrl-C. A person presses it again, and so does the test.
			cmd := h.command("run", "work", "--raw", "--", "sh -c 'echo begun; exec sleep 1000'; echo not this")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line := make([]byte, len("begun\r\n"))
			_, err = io.ReadFull(out, line)
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			eventually(t, "the end of vev run", func() bool {
				select {
				case <-ended:
					return true
				case <-time.After(time.Second):
					h.ok("key", "work", "C-c")
					return false
				}
			})
			require.Equal(t, 130, cmd.ProcessState.ExitCode())
			require.Equal(t, "last\n", h.ok("run", "work", "--", "echo last"))
		})
	}
	require.NotZero(t, told, "what there is at a timeout is told")
}

// TestRunOfTenMegabytes: the output arrives whole.
func TestRunOfTenMegabytes(t *testing.T) {
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			h := newHome(t)
			s.session(t, h, "work")
			text := strings.Repeat(strings.Repeat("0123456789", 10)+"\n", 100_000)
			h.write("big.txt", []byte(text))
			got := h.ok("run", "work", "--", "cat", h.path("big.txt"))
			require.Equal(t, len(text), len(got))
			require.Equal(t, sha256.Sum256([]byte(text)), sha256.Sum256([]byte(got)))
		})
	}
}

// TestRunLeavesAloneWhatIsNoPrompt: another program, a line that somebody has begun, a session that has ended.
func TestRunLeavesAloneWhatIsNoPrompt(t *testing.T) {
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			h := newHome(t)
			s.session(t, h, "work")
			h.ok("run", "work", "--", "true")
			h.ok("wait", "work", "--prompt", "--timeout", patience.String())
			h.ok("send", "work", "ech")
			a := h.vev("run", "work", "--", "echo x")
			require.Equal(t, 1, a.code)
			require.Contains(t, a.stderr, "somebody has typed at the prompt already")
			require.Contains(t, a.stderr, "vev key work C-c")
			h.ok("wait", "work", "--text", "ech", "--timeout", patience.String())
			eventually(t, "an empty line", func() bool { // a shell may lose a Ctrl-C
				h.ok("key", "work", "C-c")
				a = h.vev("run", "work", "--", "echo x")
				return a.code != 1
			})
			require.Equal(t, [2]any{0, "x\n"}, [2]any{a.code, a.stdout}, a.stderr)
			a = h.vev("run", "work", "--", "exit 5")
			require.Equal(t, 5, a.code, a.stderr)
			require.NotZero(t, h.vev("run", "work", "--", "echo x").code)
		})
	}
	h := newHome(t)
	h.ok("new", "cat", "-d", "--", "cat")
	a := h.vev("run", "cat", "--", "echo x")
	require.Equal(t, 1, a.code)
	require.Equal(t, "vev: not at a prompt: cat runs\nhint: wait for it with vev wait --prompt, or type with vev send\n", a.stderr)
	require.Empty(t, strings.TrimSpace(h.ok("capture", "cat")))
}
