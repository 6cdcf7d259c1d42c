package descriptor

import "golang.org/x/sys/unix"

// Here system calls are the library's, and only the runtime calls it.

func briefRead(fd int, p []byte) (int, error) { return unix.Read(fd, p) }

func briefWrite(fd int, p []byte) (int, error) { return unix.Write(fd, p) }

func briefWritev(fd int, pieces [][]byte) (int, error) { return unix.Writev(fd, pieces) }

func briefPoll(fd int) bool {
	look := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(look[:], 0)
	return n > 0 && err == nil
}
