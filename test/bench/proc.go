//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// procFile reads one file of a process; nothing when the process has gone.
func procFile(pid int, name string) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	return string(b)
}

// statFields are the fields of /proc/PID/stat from the third on (state, ppid, ...): the second may hold anything.
func statFields(pid int) []string {
	_, rest, _ := strings.Cut(procFile(pid, "stat"), ") ")
	return strings.Fields(rest)
}

// descendants are the processes below root, zombies too.
func descendants(root int) []int {
	children := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if f := statFields(pid); err == nil && len(f) > 1 {
			parent, _ := strconv.Atoi(f[1])
			children[parent] = append(children[parent], pid)
		}
	}
	found := children[root]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// mentions reports whether a process has text in its environment or on its command line. Each run has a directory of
// its own, which is its processes' home: that tells whose they are.
func mentions(pid int, text string) bool {
	return strings.Contains(procFile(pid, "environ"), text) || strings.Contains(procFile(pid, "cmdline"), text)
}

// endAll kills the processes that find returns until it returns none, and reaps those that are ours.
func endAll(find func() []int) {
	for range 50 {
		alive := 0
		for _, pid := range find() {
			if f := statFields(pid); len(f) > 0 && f[0] != "Z" {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				alive++
			}
		}
		reapOrphans()
		if alive == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// reapOrphans reaps what was adopted and has ended. A client's own process is waited for by its owner, which forgives
// when it was reaped here.
func reapOrphans() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}

// cost is what a peer's own processes hold and have used.
type cost struct {
	processes int
	pss       int64         // bytes
	cpu       time.Duration // of whole ticks
	switches  int64
}

func (c *cost) add(pid int) {
	c.processes++
	for line := range strings.Lines(procFile(pid, "smaps_rollup")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			c.pss += kib << 10
		}
	}
	if f := statFields(pid); len(f) > 12 {
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		c.cpu += time.Duration(user+system) * tick
	}
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/status"))
	for _, thread := range threads {
		status, _ := os.ReadFile(thread)
		for line := range bytes.Lines(status) {
			if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.HasSuffix(name, []byte("ctxt_switches")) {
				n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
				c.switches += n
			}
		}
	}
}

// busy is the CPU time that all of the machine has used, interrupts left out.
func busy() time.Duration {
	b, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(b), "\n")
	var ticks int
	for i, f := range strings.Fields(line) {
		if i == 1 || i == 2 || i == 3 || i == 8 { // user, nice, system, stolen
			n, _ := strconv.Atoi(f)
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}
