//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// home is one installation of vev: its directory, and the environment of a user there.
type home struct {
	t   *testing.T
	dir string // $HOME
	env []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "VEV_HOME=" + filepath.Join(h.dir, "vev"),
		"SHELL=/bin/sh", "USER=tester", "LOGNAME=tester", "PS1=$ ",
		"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
	}
	t.Cleanup(h.end)
	h.configure("mouse = false\n") // the terminal's modes are the program's
	return h
}

// configure writes the configuration file.
func (h *home) configure(text string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(filepath.Join(h.dir, "vev"), 0o700))
	require.NoError(h.t, os.WriteFile(filepath.Join(h.dir, "vev", "config.toml"), []byte(text), 0o600))
}

// with returns the same home for a user with other variables; an entry without "=" is unset.
func (h *home) with(settings ...string) *home {
	other := *h
	other.env = slices.Clone(h.env)
	for _, s := range settings {
		key, _, set := strings.Cut(s, "=")
		other.env = slices.DeleteFunc(other.env, func(kv string) bool { return strings.HasPrefix(kv, key+"=") })
		if set {
			other.env = append(other.env, s)
		}
	}
	return &other
}

// processes are those of this home: whatever vev started, and what those started. Its directory is in their environment.
func (h *home) processes() []int {
	var found []int
	hidden := h.hidden()
	for _, pid := range descendants(os.Getpid()) {
		if strings.Contains(procFile(pid, "environ"), h.dir) || slices.Contains(hidden, pid) {
			found = append(found, pid)
		}
	}
	return found
}

// hidden are the services of this home, by their locks: of some their user cannot read the environment.
func (h *home) hidden() (found []int) {
	locks, _ := filepath.Glob(filepath.Join(h.dir, "vev/state/*.lock"))
	for _, lock := range locks {
		text, _ := os.ReadFile(lock)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// role are the processes of this home that play a role: "_broker", "_daemon".
func (h *home) role(role string) []int {
	var found []int
	for _, pid := range h.processes() {
		argv := strings.Split(procFile(pid, "cmdline"), "\x00")
		if len(argv) > 1 && argv[1] == role && procState(pid) != "Z" {
			found = append(found, pid)
		}
	}
	return found
}

func (h *home) one(role string) int {
	h.t.Helper()
	pids := h.role(role)
	require.Len(h.t, pids, 1, "processes that are %s", role)
	return pids[0]
}

// end kills everything that still runs. Programs that cleared their environment die with their terminal.
func (h *home) end() {
	for range 10 {
		left := h.processes()
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range left {
			waitGone(h.t, pid)
		}
	}
	for _, pid := range zombies(os.Getpid()) {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	if h.t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(h.dir, "vev/state/*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			h.t.Logf("%s:\n%s", filepath.Base(log), text)
		}
	}
}

// answer is what a command said and how it ended.
type answer struct {
	stdout, stderr string
	code           int
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(vev, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// vev runs a command to its end.
func (h *home) vev(args ...string) answer {
	h.t.Helper()
	return finish(h.t, h.command(args...))
}

// finish runs a command to its end, and fails the test when it does not come.
func finish(t *testing.T, cmd *exec.Cmd) answer {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	late := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer late()
	cmd.WaitDelay = patience // a pipe that something left running holds open is a failure of its own
	err := cmd.Wait()
	require.NoError(t, ctx.Err(), "%v did not end", cmd.Args)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err, "%v", cmd.Args)
	}
	return answer{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// ok runs a command that has to succeed and returns its answer.
func (h *home) ok(args ...string) string {
	h.t.Helper()
	a := h.vev(args...)
	require.Zero(h.t, a.code, "vev %v: %s%s", args, a.stdout, a.stderr)
	return a.stdout
}

// sh makes a detached session that runs a shell script.
func (h *home) sh(name, script string) {
	h.t.Helper()
	h.ok("new", name, "-d", "--", "sh", "-c", script)
}

// waitText waits until a line of a session matches.
func (h *home) waitText(name, re string) {
	h.t.Helper()
	a := h.vev("wait", name, "--text", re, "--timeout", patience.String())
	if a.code != 0 {
		h.t.Fatalf("waiting for %q in %s: %s\nthe screen:\n%s", re, name, a.stderr, h.vev("capture", name).stdout)
	}
}

// listed is a session as `vev ls --json` has it.
type listed struct {
	Name, ID, State string
	Status          *int
	Attached, Pid   int
	Cols, Rows      int
	Title           string
}

func (h *home) ls() []listed {
	h.t.Helper()
	var list []listed
	require.NoError(h.t, json.Unmarshal([]byte(h.ok("ls", "--json")), &list))
	return list
}

func (h *home) session(name string) listed {
	h.t.Helper()
	list := h.ls()
	i := slices.IndexFunc(list, func(s listed) bool { return s.Name == name })
	require.GreaterOrEqual(h.t, i, 0, "no session %q in %v", name, list)
	return list[i]
}

// numbers is what `vev stats --json` says of a process.
type numbers struct {
	Pid, Goroutines, Clients, Streams, Sessions, Attachments, Conversations int
	FlowErrors                                                              int    `json:"flow_errors"`
	HeapBytes                                                               uint64 `json:"heap_bytes"`
}

func (h *home) stats() (broker, daemon *numbers) {
	h.t.Helper()
	var all struct{ Broker, Daemon *numbers }
	require.NoError(h.t, json.Unmarshal([]byte(h.ok("stats", "--json")), &all))
	return all.Broker, all.Daemon
}

// write makes a file in the home and returns its path.
func (h *home) write(name string, data []byte) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	require.NoError(h.t, os.WriteFile(path, data, 0o600))
	return path
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(h.path(name))
	require.NoError(h.t, err)
	return string(b)
}

// state is vev's state directory, run the directory of its sockets.
func (h *home) state() string { return h.path("vev/state") }

func (h *home) run() string {
	h.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(h.state(), "run-*"))
	require.NoError(h.t, err)
	require.Len(h.t, dirs, 1)
	return dirs[0]
}
