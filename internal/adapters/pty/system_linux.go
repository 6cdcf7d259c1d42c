package pty

import (
	"bytes"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// maxCmdline bounds what is read of a command line: a program can make its own very long.
// What is longer is cut.
const maxCmdline = 64 << 10

// describe reads /proc for one process.
func describe(pid int) ports.Process {
	p := ports.Process{Pid: pid, Argv: cmdline("/proc/" + strconv.Itoa(pid) + "/cmdline")}
	p.Cwd = directory(pid)
	return p
}

// directory is where a process is, "" when it cannot be told or is gone.
func directory(pid int) string {
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err == nil && strings.HasSuffix(cwd, " (deleted)") {
		_, err = os.Stat(cwd) // the kernel's mark, unless a directory is really called so
	}
	if err != nil {
		return ""
	}
	return cwd
}

func cmdline(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxCmdline))
	b = bytes.TrimRight(b, "\x00")
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// sealDescriptors marks whatever this process inherited as not for its children: a lock file
// that the user's shell held open at the first start must not live on in every session.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// ignoredSignals reads the signals that this process ignores, bit n-1 for signal n.
func ignoredSignals() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if hex, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			mask, _ := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return mask
		}
	}
	return 0
}
