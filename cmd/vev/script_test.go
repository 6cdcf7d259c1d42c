package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vev-cli")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "vev")
	args := append([]string{"build"}, buildFlags...)
	args = append(args, "-ldflags=-X main.version=1.2.3-test", "-o", binary, ".")
	build := exec.Command("go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%s", err, out)
		return 1
	}
	return m.Run()
}

// TestScript runs each script with the real binary and a VEV_HOME of its own.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  cmdExits,
			"term":   cmdTerm,
			"json":   cmdJSON,
			"awhile": cmdAwhile,

			"nothingruns": cmdNothingRuns,
			"examples":    cmdExamples,
			"bigenv":      cmdBigEnv,
			"big":         cmdBig,
			"seqlines":    cmdSeqLines,
			"samesum":     cmdSameSum,
			"rundir":      cmdRunDir,
			"killdaemon":  cmdKillDaemon,
		},
	})
}

func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	for _, unset := range []string{"VEV", "VEV_SESSION", "ENV", "BASH_ENV", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		env.Setenv(unset, "")
	}
	env.Setenv("HOME", home)
	env.Setenv("VEV_HOME", filepath.Join(home, "vev"))
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("VEV_BINARY", binary) // a login shell sets a PATH of its own
	env.Setenv("PS1", "$ ")
	env.Setenv("TERM", "xterm-256color")
	env.Setenv("LC_ALL", "C.UTF-8")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process of a race build ends a second late
	env.Setenv("PATH", filepath.Dir(binary)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	terms := &terminals{open: map[string]*term{}}
	env.Values[termsKey{}] = terms
	vars := &env.Vars
	env.Defer(func() {
		terms.closeAll()
		endProcesses(env.T(), *vars)
	})
	return nil
}

// endProcesses ends what the script has started in its VEV_HOME: the sessions by command, then
// broker and daemon by the process ids that they themselves tell.
func endProcesses(t testscript.T, vars []string) {
	vev := func(args ...string) []byte {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Env = vars
		out, err := cmd.Output()
		if err != nil {
			t.Log("vev", strings.Join(args, " "), err, string(out))
		}
		return out
	}
	// Scripts break these on purpose; one that failed there has not mended them.
	home := (&testscript.Env{Vars: vars}).Getenv("VEV_HOME")
	dirs, _ := filepath.Glob(filepath.Join(home, "state", "run-*"))
	for _, dir := range append(dirs, filepath.Join(home, "state")) {
		_ = os.Chmod(dir, 0o700)
	}
	defer checkLogs(t, filepath.Join(home, "state"))
	vev("kill", "--all")
	var stats struct{ Broker, Daemon *struct{ Pid int } }
	if err := json.Unmarshal(vev("stats", "--json"), &stats); err != nil {
		t.Log("stats:", err)
		return
	}
	for _, process := range []*struct{ Pid int }{stats.Broker, stats.Daemon} {
		if process == nil {
			continue
		}
		if !endProcess(process.Pid) {
			t.Log("did not end on SIGTERM: process", process.Pid)
			t.FailNow()
		}
	}
}

// checkLogs fails when a service wrote of a race or a panic.
func checkLogs(t testscript.T, state string) {
	logs, _ := filepath.Glob(filepath.Join(state, "*.log"))
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil || strings.Contains(string(text), "DATA RACE") || strings.Contains(string(text), "goroutine ") {
			t.Log(log, err, string(text))
			t.FailNow()
		}
	}
}

// endProcess asks the process to end and waits for that; it is not our child.
func endProcess(pid int) bool {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for range 1000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return false
}

// isZombie reports whether the process has ended and only its parent has not noticed: the
// system's first process takes its time in some containers.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}

// cmdExits runs a program and checks its exit code: exits CODE PROGRAM ARG...
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdAwhile repeats a command until it succeeds and its output matches: awhile PATTERN PROGRAM
// ARG... It is for what another process does in its own time.
func cmdAwhile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: awhile PATTERN PROGRAM ARG...")
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if err == nil && matches(ts, args[0], out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no %q within 10 s; last:\n%s", args[0], out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// cmdJSON checks fields of the JSON on the last command's stdout: json PATH VALUE, where PATH
// is dotted names and indexes, and VALUE is JSON; or json PATH keys: a sorted list of names.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for _, step := range strings.Split(strings.TrimPrefix(args[0], "."), ".") {
		switch v := value.(type) {
		case map[string]any:
			if step == "keys()" {
				value = sortedKeys(v)
				continue
			}
			next, ok := v[step]
			if !ok {
				ts.Fatalf("%s: no %q", args[0], step)
			}
			value = next
		case []any:
			if step == "len()" {
				value = len(v)
				continue
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no element %s of %d", args[0], step, len(v))
			}
			value = v[i]
		default:
			if step != "" {
				ts.Fatalf("%s: nothing below %v", args[0], value)
			}
		}
	}
	got, err := json.Marshal(value)
	ts.Check(err)
	if string(got) != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// cmdNothingRuns checks that no process has made a socket in the script's VEV_HOME.
func cmdNothingRuns(ts *testscript.TestScript, _ bool, _ []string) {
	sockets, err := filepath.Glob(filepath.Join(ts.Getenv("VEV_HOME"), "state", "run-*", "*.sock"))
	ts.Check(err)
	if len(sockets) > 0 {
		ts.Fatalf("something was started: %v", sockets)
	}
}

// cmdRunDir puts the directory of the sockets in $RUNDIR.
func cmdRunDir(ts *testscript.TestScript, _ bool, _ []string) {
	dirs, err := filepath.Glob(filepath.Join(ts.Getenv("VEV_HOME"), "state", "run-*"))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("run directories: %v", dirs)
	}
	ts.Setenv("RUNDIR", dirs[0])
}

// cmdExamples checks that the help of every command of the last output has an example that
// begins with the command itself.
func cmdExamples(ts *testscript.TestScript, _ bool, _ []string) {
	found := 0
	for _, line := range strings.Split(ts.ReadFile("stdout"), "\n") {
		name, ok := commandOf(line)
		if !ok {
			continue
		}
		found++
		ts.Check(ts.Exec("vev", "help", name))
		if _, examples, ok := strings.Cut(ts.ReadFile("stdout"), "Examples:\n"); !ok || !strings.Contains(examples, "vev "+name) {
			ts.Fatalf("vev help %s has no example", name)
		}
	}
	want := 0
	for _, m := range makers() {
		if m.group != "" {
			want++
		}
	}
	if found != want {
		ts.Fatalf("%d commands in the help, there are %d", found, want)
	}
}

// commandOf is the command that a line of the help lists, "  name  What it does".
func commandOf(line string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "  ")
	name, what, spaced := strings.Cut(rest, " ")
	what = strings.TrimSpace(what)
	return name, ok && spaced && name != "" && name != "vev" && what != "" && what[0] >= 'A' && what[0] <= 'Z'
}

// cmdBigEnv runs a program, which must fail, with an environment of COUNT variables, one of
// them of BYTES bytes: bigenv COUNT BYTES PROGRAM ARG...
func cmdBigEnv(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	argv := []string{"-i", "PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "VEV_HOME=" + ts.Getenv("VEV_HOME")}
	argv = append(argv, "BIG="+strings.Repeat("x", size-len("BIG=")))
	for i := len(argv) - 1; i < count; i++ {
		argv = append(argv, fmt.Sprintf("V%d=x", i))
	}
	if err := ts.Exec("env", append(argv, args[2:]...)...); err == nil {
		ts.Fatalf("an environment over the limit was taken")
	}
}

// cmdBig writes a file of COUNT bytes of printable text in lines: big COUNT FILE
func cmdBig(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	data := make([]byte, count)
	for i := range data {
		data[i] = 'a' + byte(i*i%26)
		if i%70 == 69 {
			data[i] = '\r'
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// cmdSameSum checks that the session's screen shows the checksum that the last command printed.
func cmdSameSum(ts *testscript.TestScript, _ bool, args []string) {
	sum, _, _ := strings.Cut(ts.ReadFile("stdout"), " ")
	ts.Check(ts.Exec("vev", "capture", args[0]))
	if got := ts.ReadFile("stdout"); !strings.Contains(got, sum) {
		ts.Fatalf("no checksum %s in %s", sum, got)
	}
}

// cmdSeqLines checks that the output has the numbers 1 to COUNT, one a line, each once and in order.
func cmdSeqLines(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	next := 1
	for _, line := range strings.Split(ts.ReadFile("stdout"), "\n") {
		if n, err := strconv.Atoi(line); err == nil {
			if n != next {
				ts.Fatalf("line %d where %d belongs", n, next)
			}
			next++
		}
	}
	if next != count+1 {
		ts.Fatalf("%d lines, want %d", next-1, count)
	}
}

// cmdKillDaemon kills the daemon outright, as its stats on the last output name it.
func cmdKillDaemon(ts *testscript.TestScript, _ bool, _ []string) {
	var stats struct{ Daemon struct{ Pid int } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &stats))
	ts.Check(syscall.Kill(stats.Daemon.Pid, syscall.SIGKILL))
}
