package rundir

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestFiftyStartersGetOneService(t *testing.T) {
	homeWithService(t)
	const n = 50
	out := make([]string, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			b, err := exec.Command(os.Args[0], "_client").CombinedOutput()
			out[i], errs[i] = strings.TrimSpace(string(b)), err
		})
	}
	wg.Wait()
	for i := range n {
		require.NoError(t, errs[i], out[i])
		require.Equal(t, out[0], out[i], "another process answered")
	}
}

func TestStartDuringStopNeverFails(t *testing.T) {
	d := homeWithService(t)
	seen := map[string]bool{}
	for i := range 100 {
		pid, err := ask(t.Context(), d, "end")
		require.NoError(t, err, "round %d", i)
		seen[pid] = true
		// From "at the same instant" to "a little later": each stage of the end is met.
		require.NoError(t, sleep(t.Context(), time.Duration(i%10)*200*time.Microsecond))
	}
	require.Greater(t, len(seen), 10, "it hardly ever ended")
	for pid := range seen {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		for {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil || !strings.Contains(string(stat), ") Z ") {
				break
			}
			require.NoError(t, sleep(ctx, time.Millisecond), "what ended is not reaped")
		}
		cancel()
	}
}

// What is said with the start is heard before the service listens, where the service knows of that. It is no part of what comes
// later.
func TestTheStarterIsHeardFirst(t *testing.T) {
	early := Service{Name: service.Name, Args: []string{"_early"}}
	said := func(n int) []byte { return append(bytes.Repeat([]byte{'x'}, n-1), '\n') }
	for _, c := range []struct {
		service Service
		first   []byte
		said    bool
	}{
		{early, said(6), true}, {early, said(maxFirst), true}, {early, said(maxFirst + 1), false}, {early, nil, false}, {service, said(6), false},
	} {
		d := homeWithService(t)
		conn, taken, err := d.DialOrStartSaying(t.Context(), c.service, c.first)
		require.NoError(t, err)
		require.Equal(t, c.said, taken)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		if c.said {
			require.Equal(t, fmt.Sprintln(len(c.first), true), answer)
		}
		require.NoError(t, conn.Close())
		conn, taken, err = d.DialOrStartSaying(t.Context(), c.service, c.first)
		require.NoError(t, err)
		require.False(t, taken, "it runs")
		pid, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		env, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/environ")
		require.NoError(t, err)
		require.Equal(t, len(c.first) > 0 && len(c.first) <= maxFirst, strings.Contains(string(env), firstEnv+"=4"))
	}
	d := home(t)
	_, taken, err := d.DialOrStartSaying(t.Context(), Service{Name: "bad", Args: []string{"_refusing"}}, said(6))
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.False(t, taken)
}

func TestManyMeetADyingService(t *testing.T) {
	d := homeWithService(t)
	for range 10 {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { _, errs[i] = ask(t.Context(), d, "end") })
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
	}
}

func TestStartAfterAKillWaitsForNothing(t *testing.T) {
	d := homeWithService(t)
	first, err := ask(t.Context(), d, "")
	require.NoError(t, err)
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	lock, err := d.Lock(t.Context(), service.Name) // free: it is gone
	require.NoError(t, err)
	require.NoError(t, lock.Unlock())
	require.FileExists(t, d.Run()+"/svc.sock", "what a crash leaves")
	begin := time.Now()
	second, err := ask(t.Context(), d, "")
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.Less(t, time.Since(begin), 5*time.Second, "no timeout has passed")
}

func TestServiceIsDetached(t *testing.T) {
	// As from a user's shell: a pipe open across exec must not live on in the service.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	leak, err := unix.Dup(int(w.Fd()))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	d := homeWithService(t)
	pid, err := ask(t.Context(), d, "")
	require.NoError(t, err)
	require.NoError(t, unix.Close(leak))

	n, err := r.Read(make([]byte, 1))
	require.Zero(t, n)
	require.ErrorIs(t, err, io.EOF, "nobody else holds the pipe")

	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	require.NoError(t, err)
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	require.Equal(t, pid, f[3], "its own session")
	require.Equal(t, "0", f[4], "no terminal")
	cwd, err := os.Readlink("/proc/" + pid + "/cwd")
	require.NoError(t, err)
	require.Equal(t, "/", cwd)
	for fd, want := range map[string]string{"0": os.DevNull, "1": d.Log("svc"), "2": d.Log("svc")} {
		got, err := os.Readlink("/proc/" + pid + "/fd/" + fd)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	require.NoError(t, err)
	require.Contains(t, string(env), "PATH=")
	require.Contains(t, string(env), homeEnv+"="+d.home)
}

func TestRelativeHomeMeansTheSameToTheService(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	d := func() *Dir {
		t.Setenv(homeEnv, "here")
		d, err := Open()
		require.NoError(t, err)
		return d
	}()
	require.Equal(t, filepath.Join(dir, "here", "state"), d.State())
	_, err := ask(t.Context(), d, "end")
	require.NoError(t, err)
	lock, err := d.Lock(t.Context(), service.Name)
	require.NoError(t, err)
	require.NoError(t, lock.Unlock())
}

func TestStartFailures(t *testing.T) {
	d := home(t)
	start := func(ctx context.Context, arg string) *fault.Error {
		_, err := d.DialOrStart(ctx, Service{Name: "bad", Args: []string{arg}})
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		return f
	}
	f := start(t.Context(), "_refusing")
	require.Equal(t, fault.Conflict, f.Kind)
	require.Equal(t, "the moon is full", f.Msg)
	require.Equal(t, "wait a week", f.Hint)

	f = start(t.Context(), "_silent")
	require.Equal(t, fault.Unavailable, f.Kind)
	require.Contains(t, f.Hint, d.Log("bad"))
	log, err := os.ReadFile(d.Log("bad"))
	require.NoError(t, err)
	require.Contains(t, string(log), "last words")

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	f = start(ctx, "_stuck")
	require.Equal(t, fault.Timeout, f.Kind)
	require.Contains(t, f.Hint, d.Log("bad"))
	killChildren(t)
}

// killChildren ends what a test left running on purpose.
func killChildren(t *testing.T) {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		for _, pid := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(pid); err == nil {
				syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

func TestDeafOldInstance(t *testing.T) {
	d := home(t)
	life, err := d.TryLock("svc") // lives, and has no socket
	require.NoError(t, err)
	defer life.Unlock()
	for _, patience := range []time.Duration{0, 100 * time.Millisecond} { // 0: over before the first look
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err = d.DialOrStart(ctx, service)
		cancel()
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.ErrorContains(t, err, strconv.Itoa(os.Getpid()), "who holds it is named")
	}
}

func TestLogIsMovedAsideWhenLong(t *testing.T) {
	d := home(t)
	path := d.Log("svc")
	for _, c := range []struct {
		size  int
		moved bool
	}{{maxLog, false}, {maxLog + 1, true}} {
		os.Remove(path + ".1")
		require.NoError(t, os.WriteFile(path, make([]byte, c.size), 0o600))
		f, err := d.openLog("svc")
		require.NoError(t, err)
		st, err := f.Stat()
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = os.Stat(path + ".1")
		require.Equal(t, c.moved, err == nil)
		require.Equal(t, c.moved, st.Size() == 0)
	}
}

func TestReadyLine(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		err  error
		want *fault.Error
	}{
		{nil, nil},
		{fault.New(fault.Limit, "a\tb\nc").WithHint("d\te"), &fault.Error{Kind: fault.Limit, Msg: "a b c", Hint: "d e", Peer: true}},
		{fmt.Errorf("outer: %w", fault.New(fault.Denied, "in")), &fault.Error{Kind: fault.Denied, Msg: "outer: in", Peer: true}},
		{errors.New(long), &fault.Error{Msg: long[:fault.MaxText], Peer: true}},
		{fault.New(fault.Limit, "%s", long).WithHint("%s", long), &fault.Error{Kind: fault.Limit, Msg: long[:fault.MaxText], Hint: long[:fault.MaxText], Peer: true}},
	} {
		line := readyLine(c.err, false)
		require.LessOrEqual(t, len(line), maxReadyLine)
		ok, _, err := parseReady(line)
		require.True(t, ok)
		if c.want == nil {
			require.NoError(t, err)
		} else {
			require.Equal(t, c.want, err)
		}
	}
	for _, bad := range []string{"", "ok", "o", "error:\t1\tx", "error:\t99\tx\ty\n", "error:\t-1\tx\ty\n", "x\n", "error:\n"} {
		ok, _, _ := parseReady(bad)
		require.False(t, ok, "%q", bad)
	}
}

func TestExecutableThatWasReplaced(t *testing.T) {
	path, err := Executable()
	require.NoError(t, err)
	require.Equal(t, os.Args[0], path)
}
