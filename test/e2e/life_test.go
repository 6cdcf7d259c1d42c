//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// atOnce runs f(0) to f(n-1) at the same time.
func atOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// newAtOnce makes n sessions at the same time, none of which may fail.
func newAtOnce(h *home, n int, prefix string) {
	h.t.Helper()
	answers := make([]answer, n)
	atOnce(n, func(i int) { answers[i] = h.vev("new", fmt.Sprintf("%s%d", prefix, i), "-d", "--", "cat") })
	for i, a := range answers {
		require.Zero(h.t, a.code, "session %d: %s", i, a.stderr)
		require.Equal(h.t, fmt.Sprintf("%s%d\n", prefix, i), a.stdout)
		require.Empty(h.t, a.stderr)
	}
}

// TestMust6FiftyNewAtOnce: one broker, one daemon, 50 sessions, no error, from nothing.
func TestMust6FiftyNewAtOnce(t *testing.T) {
	h := newHome(t)
	newAtOnce(h, 50, "s")
	require.Len(t, h.ls(), 50)
	h.one("_broker")
	h.one("_daemon")
}

// TestMust6NewDuringIdleExit: starts that meet a broker and a daemon which are just ending, from a little before to a
// little after.
func TestMust6NewDuringIdleExit(t *testing.T) {
	h := newHome(t)
	for round := range 5 {
		for _, role := range []string{"_daemon", "_broker"} {
			startService(h, role, "--idle", "30ms")
		}
		prefix := fmt.Sprintf("r%d-", round)
		newAtOnce(h, 25, prefix)
		newAtOnce(h, 25, prefix+"b")
		require.Len(t, h.ls(), 50, "round %d", round)
		h.one("_daemon")
		h.ok("kill", "--all")
		for _, role := range []string{"_broker", "_daemon"} {
			for _, pid := range h.role(role) {
				require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
				waitGone(t, pid)
			}
		}
	}
}

// TestMust6NewDuringOrderlyEnd: the same while both were told to end. What the old daemon still took in ends with it.
func TestMust6NewDuringOrderlyEnd(t *testing.T) {
	h := newHome(t)
	h.sh("first", "exec cat")
	for round := range 5 {
		var ended []int
		for _, role := range []string{"_daemon", "_broker"} {
			for _, pid := range h.role(role) {
				require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
				ended = append(ended, pid)
			}
		}
		newAtOnce(h, 10, fmt.Sprintf("r%d-", round))
		for _, pid := range ended {
			waitGone(t, pid)
		}
		require.LessOrEqual(t, len(h.ls()), 10)
		h.ok("new", "after", "-d", "--", "cat")
		h.one("_daemon")
		h.ok("kill", "--all")
	}
}

// TestBC33ChildrenAreReaped: 200 sessions come and go, by themselves and by kill, and leave no zombie and no
// descriptor.
func TestBC33ChildrenAreReaped(t *testing.T) {
	h := newHome(t)
	h.sh("stays", "exec cat")
	daemon := h.one("_daemon")
	h.ok("new", "warm", "-d", "--", "cat")
	h.ok("kill", "warm")
	before := openFiles(t, daemon)
	for round := range 4 {
		atOnce(25, func(i int) {
			name := fmt.Sprintf("end%d-%d", round, i)
			h.ok("new", name, "-d", "--", "sh", "-c", "(sleep 0.01 &) ; exit 3")
			h.ok("wait", name, "--exit")
			h.ok("kill", name)
		})
		atOnce(25, func(i int) {
			name := fmt.Sprintf("kill%d-%d", round, i)
			h.ok("new", name, "-d", "--", "sh", "-c", "sleep 100 & wait")
			h.ok("kill", name)
		})
	}
	h.sh("stubborn", "trap '' HUP TERM; echo set; while :; do sleep 1; done")
	h.waitText("stubborn", "set")
	h.ok("kill", "stubborn")
	require.Len(t, h.ls(), 1)
	eventually(t, "no zombie below the daemon", func() bool { return len(zombies(daemon)) == 0 })
	eventually(t, "the descriptors are those from before", func() bool { return openFiles(t, daemon) <= before })
}

// TestBC34ExitWhileNobodyIsAttached: the record of an end is whole: the status, and each line once.
func TestBC34ExitWhileNobodyIsAttached(t *testing.T) {
	h := newHome(t)
	h.sh("keeper", "exec cat")
	h.sh("done", "seq 1 1000; exit 7")
	require.Equal(t, "7\n", h.ok("wait", "done", "--exit"))
	s := h.session("done")
	require.Equal(t, "exited", s.State)
	require.NotNil(t, s.Status)
	require.Equal(t, 7, *s.Status)
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&want, i+1)
	}
	require.Equal(t, want.String(), strings.TrimRight(h.ok("capture", "done", "--history", "2000"), "\n")+"\n")

	tt := newTerm(t, 80, 24)
	require.Equal(t, 7, tt.vev(h, "attach", "done").exits(), "attaching returns the program's status")
	tt.gets("999") // and shows the last screen
	require.Len(t, h.ls(), 1, "looked at, it is gone")
}

// TestBC34KilledBySignal: a signal's name is known, and attaching returns 128 and its number.
func TestBC34KilledBySignal(t *testing.T) {
	h := newHome(t)
	h.sh("victim", "echo alive; kill -9 $$")
	require.Equal(t, "137\n", h.ok("wait", "victim", "--exit"))
	require.Contains(t, strings.ToLower(h.ok("ls")), "kill")
	tt := newTerm(t, 80, 24)
	require.Equal(t, 137, tt.vev(h, "attach", "victim").exits())
}

// TestBC43ManyStartsOfOneName: one gets it, the others are told so.
func TestBC43ManyStartsOfOneName(t *testing.T) {
	h := newHome(t)
	answers := make([]answer, 20)
	atOnce(len(answers), func(i int) { answers[i] = h.vev("new", "race", "-d", "--", "cat") })
	made := 0
	for _, a := range answers {
		if a.code == 0 {
			made++
			continue
		}
		require.Equal(t, 1, a.code)
		require.Contains(t, a.stderr, "race")
		require.Contains(t, a.stderr, "hint: ")
	}
	require.Equal(t, 1, made)
	require.Len(t, h.ls(), 1)
	h.one("_daemon")
}

// TestBC43StartDuringStop: a session is made again and again while the daemon that had the one before ends.
func TestBC43StartDuringStop(t *testing.T) {
	h := newHome(t)
	for i := range 60 {
		a := h.vev("new", "a", "-d", "--", "cat")
		require.Zero(t, a.code, "start %d: %s", i, a.stderr)
		h.ok("kill", "--all")
		for _, role := range []string{"_daemon", "_broker"} {
			for _, pid := range h.role(role) {
				if i%2 == 0 {
					_ = syscall.Kill(pid, syscall.SIGTERM)
				}
			}
		}
	}
	eventually(t, "at most one daemon is left", func() bool { return len(h.role("_daemon")) <= 1 })
}

// TestEnvironmentLimits: too many or too long variables are refused before anything starts, and said.
func TestEnvironmentLimits(t *testing.T) {
	h := newHome(t)
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("E2E_%d=x", i))
	}
	a := h.with(many...).vev("new", "-d", "--", "cat")
	require.Equal(t, 1, a.code)
	require.Contains(t, a.stderr, "256")
	require.Contains(t, a.stderr, "hint: ")

	a = h.with("LONG="+strings.Repeat("x", 33<<10)).vev("new", "-d", "--", "cat")
	require.Equal(t, 1, a.code)
	require.Contains(t, a.stderr, "LONG")
	require.Empty(t, h.role("_daemon"), "nothing was started for it")

	h.with("LONG="+strings.Repeat("x", 30<<10)).ok("new", "fits", "-d", "--", "sh", "-c", `echo "len=${#LONG} $TERM $COLORTERM $VEV_SESSION"; exec cat`)
	h.waitText("fits", "len=30720 xterm-256color truecolor fits")
}

// startService runs a broker or a daemon as vev would, with other options, and returns once it serves.
func startService(h *home, args ...string) *program {
	h.t.Helper()
	ready, tell, err := os.Pipe()
	require.NoError(h.t, err)
	defer ready.Close()
	p := &program{t: h.t, cmd: h.command(args...), done: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.ExtraFiles = []*os.File{tell}
	p.cmd.Env = append(p.cmd.Env, "VEV_READY_FD=3")
	require.NoError(h.t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	tell.Close()
	line, err := bufio.NewReader(ready).ReadString('\n')
	require.NoError(h.t, err)
	require.Equal(h.t, "ok\n", line)
	return p
}
