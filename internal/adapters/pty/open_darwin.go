package pty

import (
	"bytes"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	ptmxPath = "/dev/ptmx"
	// slaveNameBytes is the size of the buffer that TIOCPTYGNAME fills.
	slaveNameBytes = 128

	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// openTerminal makes a new terminal: grant and unlock the slave, ask its name, open it once.
func openTerminal(size domain.Size) (master, slave *os.File, err error) {
	fd, err := unix.Open(ptmxPath, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, openFault(err)
	}
	sfd, name, err := openSlave(fd, size)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, openFault(err)
	}
	return os.NewFile(uintptr(fd), ptmxPath), os.NewFile(uintptr(sfd), name), nil
}

func openSlave(master int, size domain.Size) (int, string, error) {
	if err := unix.IoctlSetInt(master, unix.TIOCPTYGRANT, 0); err != nil {
		return -1, "", err
	}
	if err := unix.IoctlSetInt(master, unix.TIOCPTYUNLK, 0); err != nil {
		return -1, "", err
	}
	var name [slaveNameBytes]byte
	//lint:ignore SA1019 the library has no call that fills this buffer; this one goes through libSystem too
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name[0])))
	if errno != 0 {
		return -1, "", errno
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	slave, err := unix.Open(string(path), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	// The size can be set only once the slave is open.
	if err = unix.IoctlSetWinsize(slave, unix.TIOCSWINSZ, winsize(size)); err == nil {
		err = setModes(slave)
	}
	if err != nil {
		unix.Close(slave)
		return -1, "", err
	}
	return slave, string(path), nil
}

func openFault(err error) error {
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return fault.Wrap(fault.Limit, err, "the system has no free terminal").
			WithHint("close some, or raise kern.tty.ptmx_max and the open files limit")
	}
	return fault.Wrap(fault.Unavailable, err, "cannot open a terminal").WithHint("check that %s exists", ptmxPath)
}
