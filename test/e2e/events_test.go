//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// told is a line of vev events.
type told struct {
	Seq, From, To uint64
	Type, Text    string
}

// number is what a numbered event carries.
func (e *told) number() int {
	n, err := strconv.Atoi(strings.TrimLeft(strings.TrimRight(e.Text, "."), "0"))
	if err != nil {
		return 0
	}
	return n
}

// listener is a vev events that runs.
type listener struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan told
	got   []told
}

func listen(t *testing.T, h *home, args ...string) *listener {
	t.Helper()
	l := &listener{t: t, cmd: h.command(append([]string{"events"}, args...)...), lines: make(chan told, 1<<14)}
	out, err := l.cmd.StdoutPipe()
	require.NoError(t, err)
	var errs strings.Builder
	l.cmd.Stderr = &errs
	require.NoError(t, l.cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(l.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line told
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				l.lines <- line
			}
		}
	}()
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		<-ended
		_ = l.cmd.Wait()
		if t.Failed() {
			t.Logf("vev events said: %s", errs.String())
		}
	})
	return l
}

// until takes what is told, up to the notification with a number.
func (l *listener) until(number int) {
	l.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-l.lines:
			require.True(l.t, ok, "vev events ended before number %d", number)
			l.got = append(l.got, line)
			if line.Type == "notification" && line.number() == number {
				return
			}
		case <-late.C:
			l.t.Fatalf("number %d was not told; the last of %d lines: %+v", number, len(l.got), l.got[max(0, len(l.got)-3):])
		}
	}
}

// gaps checks that the numbered events came once and in order, none missing but where a gap is told, and returns how many gaps there are.
func (l *listener) gaps() (count int) {
	l.t.Helper()
	var before told
	var gap told
	for _, line := range l.got {
		if line.Type == "gap" {
			count++
			require.LessOrEqual(l.t, line.From, line.To)
			gap = line
			continue
		}
		require.Greater(l.t, line.Seq, before.Seq, "each event once, in order")
		if line.Type != "notification" {
			continue
		}
		if missing := line.number() - before.number() - 1; missing != 0 {
			require.Positive(l.t, missing)
			require.NotZero(l.t, gap.To, "%d events behind %+v are missing, and no gap is told", missing, before)
			require.LessOrEqual(l.t, gap.From, before.Seq+1, "the gap begins where events are missing")
			require.Less(l.t, gap.To, line.Seq)
		}
		before, gap = line, told{}
	}
	return count
}

// untilEnd takes what is told up to the session's end, and the listener's behind it.
func (l *listener) untilEnd() {
	l.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	var last told
	for {
		select {
		case line, ok := <-l.lines:
			if !ok {
				require.Equal(l.t, "exited", last.Type)
				return
			}
			last = line
		case <-late.C:
			l.t.Fatal("the end was not told")
		}
	}
}

// numbering is a session that notifies with the numbers it is asked for. The texts are so long that no read of the terminal has
// more of them than it may.
const numbering = `stty -echo; echo ready; while read n m; do
	while [ $n -le $m ]; do printf '\033]777;notify;t;%04d%s\a' $n "$pad"; n=$((n+1)); done; echo told $m; done`

// TestEventsAcrossCutsAndOverflow: the broker is killed and what leads to the listener is cut, the daemon keeps less than what
// happened meanwhile, and a listener does not read: no event comes twice, and none is missing without a gap.
func TestEventsAcrossCutsAndOverflow(t *testing.T) {
	const small, large = 25, 700 // more than are kept of a session
	pad := "pad=" + strings.Repeat(".", 250)
	run := func(t *testing.T, far, near *home, address string, cut func(pid int)) {
		far.with(pad).sh("numbers", numbering)
		near.ok("wait", address, "--text", "^ready$", "--timeout", patience.String())
		next := 1
		tell := func(n int) {
			t.Helper()
			eventually(t, "a host that is reached", func() bool { // what was just cut may have been about to carry this
				a := near.vev("send", address, fmt.Sprintf("%d %d", next, next+n-1))
				require.Contains(t, []int{0, 3}, a.code, a.stderr)
				return a.code == 0
			})
			near.ok("key", address, "Enter")
			next += n
			near.ok("wait", address, "--text", fmt.Sprintf("^told %d$", next-1), "--timeout", patience.String())
		}
		one := listen(t, near, address, "--since", "0")
		all := []string{"--all", "--since", "0"}
		if host, _, elsewhere := strings.Cut(address, ":"); elsewhere {
			all = append(all, host)
		}
		both := []*listener{one, listen(t, near, all...)}
		tell(small)
		for _, l := range both {
			l.until(next - 1)
		}
		for range 4 {
			for _, l := range both {
				cut(l.cmd.Process.Pid)
			}
			tell(small)
			for _, l := range both {
				l.until(next - 1)
			}
		}
		for _, l := range both {
			require.Zero(t, l.gaps(), "all of it is kept")
		}
		// What a stopped listener's connection held is told; what came after the cut is kept in part.
		for _, l := range both {
			require.NoError(t, l.cmd.Process.Signal(syscall.SIGSTOP))
			cut(l.cmd.Process.Pid)
		}
		tell(large)
		for _, l := range both {
			require.NoError(t, l.cmd.Process.Signal(syscall.SIGCONT))
			l.until(next - 1)
			require.Equal(t, 1, l.gaps())
		}
		// The same where only the listener does not read: the daemon gives up what waits for it.
		for _, l := range both {
			require.NoError(t, l.cmd.Process.Signal(syscall.SIGSTOP))
		}
		for range 4 {
			tell(large)
		}
		for _, l := range both {
			require.NoError(t, l.cmd.Process.Signal(syscall.SIGCONT))
			l.until(next - 1)
			l.gaps()
		}
		// Whoever begins anew behind an event gets the same as who was there.
		again := listen(t, near, address, "--since", strconv.FormatUint(one.got[len(one.got)-small].Seq, 10))
		again.until(next - 1)
		require.Equal(t, one.got[len(one.got)-small+1:], again.got)
		older := listen(t, near, address, "--since", "1")
		older.until(next - 1)
		require.Equal(t, told{Type: "gap", From: 2, To: older.got[0].To}, older.got[0], "of a daemon before this one")
		// The end of a session while nothing leads to its listener is told, too.
		for _, l := range both {
			cut(l.cmd.Process.Pid)
		}
		unsure := false
		eventually(t, "a host that is reached to end it", func() bool { // as above
			a := near.vev("kill", address)
			if a.code == 3 {
				unsure = true
				return false
			}
			require.True(t, a.code == 0 || unsure && a.code == 1, "%d: %s", a.code, a.stderr)
			return true
		})
		one.untilEnd()
	}
	t.Run("here", func(t *testing.T) {
		h := newHome(t)
		run(t, h, h, "numbers", func(pid int) {
			for _, broker := range h.role("_broker") {
				kill9(t, broker)
			}
			require.Positive(t, cutConnections(t, pid), "the listener has the daemon's own connection")
		})
	})
	t.Run("over ssh", func(t *testing.T) {
		s := newSite(t)
		s.sshOnly()
		cuts := 0
		run(t, s.far, s.near, "far:numbers", func(int) {
			cuts++
			if cuts%2 == 0 {
				for _, broker := range s.near.role("_broker") {
					kill9(t, broker)
				}
			}
			for _, pid := range s.ssh() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				waitGone(t, pid)
			}
		})
	})
}
