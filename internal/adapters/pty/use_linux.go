package pty

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxMembers bounds the processes that are looked at for one that reads: of a foreground group with more, the eldest.
const maxMembers = 64

func arguments(pid int) []string { return cmdline("/proc/" + strconv.Itoa(pid) + "/cmdline") }

// reads reports whether a process of the foreground group waits for the terminal's input: it is blocked in a read of
// it, or in a wait for several things on a terminal that gives it each key. Members are looked for among the
// descendants of the session's program.
func reads(session, pgrp int, canonical bool) bool {
	pids := []int{session}
	for i := 0; i < len(pids); i++ {
		if len(pids) < maxMembers {
			pids = append(pids, offspring(pids[i])...)
		}
		if group(pids[i]) == pgrp && waitsForInput(pids[i], canonical) {
			return true
		}
	}
	return false
}

func offspring(pid int) []int {
	id := strconv.Itoa(pid)
	b, _ := os.ReadFile("/proc/" + id + "/task/" + id + "/children")
	var pids []int
	for _, field := range bytes.Fields(b) {
		if child, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// group is a process's group, 0 when it is gone.
func group(pid int) int {
	pgrp, err := unix.Getpgid(pid)
	if err != nil {
		return 0
	}
	return pgrp
}

func waitsForInput(pid int, canonical bool) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	b, _ := os.ReadFile(dir + "/syscall")
	call := strings.Fields(string(b)) // number and arguments, hexadecimal but for the number
	if len(call) > 2 && call[0] == strconv.Itoa(unix.SYS_READ) {
		fd, err := strconv.ParseUint(call[1], 0, 32)
		if err != nil {
			return false
		}
		return terminalAt(dir, strconv.FormatUint(fd, 10))
	}
	if canonical {
		return false
	}
	where, _ := os.ReadFile(dir + "/wchan")
	return (bytes.Contains(where, []byte("poll")) || bytes.Contains(where, []byte("select"))) && terminalAt(dir, "0")
}

func terminalAt(dir, fd string) bool {
	to, _ := os.Readlink(dir + "/fd/" + fd)
	return to == "/dev/tty" || strings.HasPrefix(to, "/dev/pts/")
}
