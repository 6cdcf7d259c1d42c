package tty

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)

// maxPath is what F_GETPATH writes at the most (fcntl(2)).
const maxPath = 1024

// name is the path of the terminal that f is open on. /dev/tty would not do: kqueue does not
// poll it.
func name(f *os.File) (string, error) {
	var buf [maxPath]byte
	err := control(f, func(fd int) error {
		//lint:ignore SA1019 the library has no call that fills this buffer; this one goes through libSystem too
		_, _, errno := unix.Syscall(unix.SYS_FCNTL, uintptr(fd), unix.F_GETPATH, uintptr(unsafe.Pointer(&buf[0])))
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	path, _, _ := bytes.Cut(buf[:], []byte{0})
	return string(path), nil
}

func parentOf(pid int) (int, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, err
	}
	return int(info.Eproc.Ppid), nil
}
