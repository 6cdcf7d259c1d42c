package pty

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitWatch tells when a program has ended. With a process descriptor it waits in the poller,
// so that a thousand idle programs hold no thread; a kernel before 5.3 has none.
type exitWatch struct {
	fd int // -1 without
}

func prepareExit(e *exitWatch, sys *syscall.SysProcAttr) {
	e.fd = -1
	sys.PidFD = &e.fd
}

// wait returns when done, asked each time the program may have ended, says so.
func (e exitWatch) wait(pid int, done func() bool) {
	if e.fd >= 0 && unix.SetNonblock(e.fd, true) == nil {
		f := os.NewFile(uintptr(e.fd), "pidfd")
		defer f.Close()
		if raw, err := f.SyscallConn(); err == nil && raw.Read(func(uintptr) bool { return done() }) == nil {
			return
		}
	}
	for !done() {
		// Ends when the program has, and leaves the status for done.
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}
}
