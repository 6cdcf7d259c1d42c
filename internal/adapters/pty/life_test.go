package pty

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/ports/porttest"
)

func start(t *testing.T, cmd domain.Command) (ports.Program, *porttest.Output) {
	t.Helper()
	p, err := new(Programs).Start(cmd, domain.DefaultSize)
	require.NoError(t, err)
	return p, porttest.Collect(t, p)
}

func descriptors(t *testing.T) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(e)
}

func children(t *testing.T) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	var pids []string
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		pids = append(pids, strings.Fields(string(b))...)
	}
	return pids
}

func TestTwoHundredStartsLeaveNothing(t *testing.T) {
	var programs Programs
	one := func(cmd domain.Command, end func(ports.Program)) {
		p, err := programs.Start(cmd, domain.DefaultSize)
		require.NoError(t, err)
		end(p)
		p.Wait()
	}
	one(sh("exit"), func(p ports.Program) { p.Close() }) // whatever is made once is made now
	before := descriptors(t)
	for i := range 200 {
		switch i % 4 {
		case 0: // ends by itself, read to the end
			one(sh("exit 1"), func(p ports.Program) { io.Copy(io.Discard, p); p.Close() })
		case 1: // closed while it runs
			one(sh("exec sleep 1000"), func(p ports.Program) { p.Close() })
		case 2: // killed
			one(sh("exec sleep 1000"), func(p ports.Program) { p.Kill(t.Context()); p.Close() })
		case 3: // never starts
			_, err := programs.Start(domain.Command{Argv: []string{"/proc/version"}}, domain.DefaultSize)
			require.Error(t, err)
		}
	}
	require.Equal(t, before, descriptors(t))
	require.Empty(t, children(t), "no child is left, alive or not")
}

func TestReapedThoughNobodyWaits(t *testing.T) {
	p, out := start(t, sh("exit"))
	out.End()
	<-p.(*program).ended
	require.Empty(t, children(t))
}

func TestFailedStartsLeaveNothing(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(bad, []byte("#!/no/such/interpreter\n"), 0o755))
	_, err := new(Programs).Start(domain.Command{Argv: []string{bad}}, domain.DefaultSize)
	require.Error(t, err)
	before := descriptors(t)
	for range 20 {
		_, err := new(Programs).Start(domain.Command{Argv: []string{bad}}, domain.DefaultSize)
		require.Error(t, err)
	}
	require.Equal(t, before, descriptors(t))
	require.Empty(t, children(t))
}

// A process that left the session keeps the terminal open: its end must not be waited for.
func TestRunawayHolderHangsNothing(t *testing.T) {
	p, out := start(t, sh("setsid sh -c 'trap \"\" HUP; echo held $$; exec sleep 1000' & sleep 0.2; exit 5"))
	out.Until("held ")
	require.Equal(t, 5, p.Wait().Code)
	var holder int
	text := out.String()
	for _, f := range strings.Fields(text[strings.Index(text, "held ")+5:]) {
		holder, _ = strconv.Atoi(f)
		break
	}
	require.Positive(t, holder)
	defer syscall.Kill(holder, syscall.SIGKILL)
	require.NoError(t, syscall.Kill(holder, 0), "it lives and holds the terminal")
	require.NoError(t, p.Close())
	require.ErrorIs(t, out.End(), os.ErrClosed)
}

func TestForegroundFollowsTheShellsJobs(t *testing.T) {
	dir := t.TempDir()
	cmd := sh("cd " + dir + "; set -m; sh -c 'trap : INT; echo job; read x' one two; echo back; read x")
	p, out := start(t, cmd)
	out.Until("job")
	fg := p.Foreground()
	require.NotEqual(t, p.Pid(), fg.Pid)
	require.Equal(t, []string{"sh", "-c", "trap : INT; echo job; read x", "one", "two"}, fg.Argv)
	require.Equal(t, dir, fg.Cwd)
	io.WriteString(p, "\r")
	out.Until("back")
	require.Equal(t, p.Pid(), p.Foreground().Pid)
	p.Kill(t.Context())
	p.Close()
	require.Zero(t, p.Foreground(), "nobody holds a terminal that is gone")
}

func TestForegroundInADeletedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	cmd := sh("rmdir " + dir + "; echo done; read x")
	cmd.Dir = dir
	p, out := start(t, cmd)
	out.Until("done")
	require.Empty(t, p.Foreground().Cwd)
}

func TestKillReachesTheForeground(t *testing.T) {
	// A shell that handles the hang-up does so only once its job has ended.
	p, out := start(t, sh("set -m; trap 'exit 9' HUP; sh -c 'echo job; exec sleep 1000'; sleep 1000"))
	out.Until("job")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	p.Kill(ctx)
	require.Equal(t, 9, p.Wait().Code)
}

func TestKillReachesTheStopped(t *testing.T) {
	p, out := start(t, sh("echo on; kill -STOP $$; sleep 1000"))
	out.Until("on")
	require.Eventually(t, func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid()) + "/stat")
		return err == nil && strings.Contains(string(b), ") T ")
	}, 10*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	p.Kill(ctx)
	require.Equal(t, syscall.SIGHUP, p.Wait().Signal)
}

func TestKillAfterTheEndSignalsNobody(t *testing.T) {
	p, out := start(t, sh("exit"))
	p.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Kill(ctx)
	out.End()
	require.True(t, p.(*program).reaped)
}

func TestManyKillersAndWaiters(t *testing.T) {
	p, out := start(t, sh("trap '' HUP; echo on; while :; do sleep 1; done"))
	out.Until("on")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { p.Kill(ctx) })
		wg.Go(func() { p.Wait() })
		wg.Go(func() { p.Foreground() })
	}
	wg.Wait()
	require.Equal(t, syscall.SIGKILL, p.Wait().Signal)
}
