package descriptor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func briefRead(fd int, p []byte) (int, error) { return brief(unix.SYS_READ, fd, p) }

func briefWrite(fd int, p []byte) (int, error) { return brief(unix.SYS_WRITE, fd, p) }

func brief(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
