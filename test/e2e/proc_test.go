//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience is how long anything may take before a test has failed: long, for machines with much else to do.
const patience = 30 * time.Second

func procFile(pid int, name string) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	return string(b)
}

// procStat are the fields of /proc/PID/stat from the third (state) on; nil when the process is gone.
func procStat(pid int) []string {
	_, rest, _ := strings.Cut(procFile(pid, "stat"), ") ")
	return strings.Fields(rest)
}

// procState is the letter of a process's state, "" when it is gone.
func procState(pid int) string {
	if f := procStat(pid); len(f) > 0 {
		return f[0]
	}
	return ""
}

// childrenByParent is the process tree.
func childrenByParent() map[int][]int {
	children := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if f := procStat(pid); err == nil && len(f) > 1 {
			parent, _ := strconv.Atoi(f[1])
			children[parent] = append(children[parent], pid)
		}
	}
	return children
}

func descendants(root int) []int {
	children := childrenByParent()
	found := append([]int(nil), children[root]...)
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// zombies are the children of a process that it did not wait for.
func zombies(parent int) []int {
	var found []int
	for _, pid := range childrenByParent()[parent] {
		if procState(pid) == "Z" {
			found = append(found, pid)
		}
	}
	return found
}

// openFiles counts a process's descriptors.
func openFiles(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	require.NoError(t, err)
	return len(entries)
}

// peakMemory is the most that a process ever had in memory, in bytes, shared pages counted fully.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	for line := range strings.Lines(procFile(pid, "status")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kib, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			return kib << 10
		}
	}
	t.Fatalf("process %d is gone", pid)
	return 0
}

// cpuTicks is the CPU time that processes have used, in hundredths of a second.
func cpuTicks(pids []int) (sum int) {
	for _, pid := range pids {
		if f := procStat(pid); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			sum += user + system
		}
	}
	return sum
}

// waitGone waits for the end of a process that is not one of exec's, and reaps it when it was left to us.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		defer unix.Close(fd)
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		for err == unix.EINTR {
			ready, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		}
		require.NoError(t, err)
		require.Equal(t, 1, ready, "process %d did not end: %q", pid, procFile(pid, "cmdline"))
	}
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
}

// kill9 ends a process the hard way and waits until it is gone.
func kill9(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	waitGone(t, pid)
}

// cutConnections shuts all connected sockets of a process down, as the loss of a link does, and returns how many.
func cutConnections(t *testing.T, pid int) (cut int) {
	t.Helper()
	process, err := unix.PidfdOpen(pid, 0)
	require.NoError(t, err)
	defer unix.Close(process)
	links, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd/*"))
	require.NoError(t, err)
	for _, link := range links {
		number, err := strconv.Atoi(filepath.Base(link))
		if what, _ := os.Readlink(link); err != nil || !strings.HasPrefix(what, "socket:") {
			continue
		}
		fd, err := unix.PidfdGetfd(process, number, 0)
		if err != nil {
			continue // closed meanwhile
		}
		if unix.Shutdown(fd, unix.SHUT_RDWR) == nil {
			cut++
		}
		unix.Close(fd)
	}
	return cut
}

// busy is what a machine that has other things to do may add to a time that is measured here: what a queue of old output,
// or a sibling that is waited for, would take is longer. Benchmarks measure to the millisecond.
const busy = time.Second

// eventually is for what nobody announces: it asks again and again.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
