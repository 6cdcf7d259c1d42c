package descriptor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func briefRead(fd int, p []byte) (int, error) { return brief(unix.SYS_READ, fd, p) }

func briefWrite(fd int, p []byte) (int, error) { return brief(unix.SYS_WRITE, fd, p) }

// briefWritev sends at most two pieces.
func briefWritev(fd int, pieces [][]byte) (int, error) {
	var vec [2]unix.Iovec
	k := min(len(pieces), len(vec))
	for i, p := range pieces[:k] {
		vec[i].Base = unsafe.SliceData(p)
		vec[i].SetLen(len(p))
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&vec)), uintptr(k))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func briefPoll(fd int) bool {
	look, now := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}, unix.Timespec{}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&look)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return n > 0 && errno == 0
}

func brief(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
