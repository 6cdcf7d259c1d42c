package pty

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exitWatch tells when a program has ended, by a kernel queue that a thread waits in: the
// runtime's poller does not know processes here.
type exitWatch struct{}

func prepareExit(*exitWatch, *syscall.SysProcAttr) {}

// afterExit is the pause between the kernel's word that a program is gone and its status.
const afterExit = 5 * time.Millisecond

// wait returns when done, asked each time the program may have ended, says so.
func (exitWatch) wait(pid int, done func() bool) {
	if kq, err := unix.Kqueue(); err == nil {
		unix.CloseOnExec(kq)
		waitExit(kq, pid)
		unix.Close(kq)
	}
	for !done() {
		time.Sleep(afterExit)
	}
}

// waitExit returns when pid has ended, or at once when it cannot be watched (any more).
func waitExit(kq, pid int) {
	watch := []unix.Kevent_t{{
		Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT,
	}}
	if _, err := unix.Kevent(kq, watch, nil, nil); err != nil {
		return
	}
	for {
		if _, err := unix.Kevent(kq, nil, make([]unix.Kevent_t, 1), nil); err != unix.EINTR {
			return
		}
	}
}
