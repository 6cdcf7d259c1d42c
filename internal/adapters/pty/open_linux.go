package pty

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

const ptmxPath = "/dev/ptmx"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// openTerminal makes a new terminal. The slave is opened from the master, once: no path is
// looked up, so it is right in any mount namespace, and a second open would keep the master
// from ever ending.
func openTerminal(size domain.Size) (master, slave *os.File, err error) {
	fd, err := unix.Open(ptmxPath, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openFault(err)
	}
	sfd, err := openSlave(fd, size)
	if err != nil {
		unix.Close(fd)
		return nil, nil, openFault(err)
	}
	return os.NewFile(uintptr(fd), ptmxPath), os.NewFile(uintptr(sfd), "pty slave"), nil
}

func openSlave(master int, size domain.Size) (int, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, winsize(size)); err != nil {
		return -1, err
	}
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return -1, errno
	}
	if err := setModes(int(slave)); err != nil {
		unix.Close(int(slave))
		return -1, err
	}
	return int(slave), nil
}

func openFault(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return fault.Wrap(fault.Limit, err, "the system has no free terminal").
			WithHint("close some, or raise kernel.pty.max and the open files limit")
	}
	return fault.Wrap(fault.Unavailable, err, "cannot open a terminal").
		WithHint("check that %s exists and devpts is mounted on /dev/pts", ptmxPath)
}
