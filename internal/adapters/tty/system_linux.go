package tty

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// name leads to the terminal that f is open on: a link that the kernel follows itself, so that
// it is right also when the terminal has no name here, as in a container.
func name(f *os.File) (path string, err error) {
	err = control(f, func(fd int) error {
		path = "/proc/self/fd/" + strconv.Itoa(fd)
		return nil
	})
	return path, err
}

// parentOf reads a process's parent from /proc/PID/stat: "PID (NAME) STATE PPID ...", where
// NAME may hold anything.
func parentOf(pid int) (int, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 2 {
		return 0, errors.New("unexpected form of /proc/PID/stat")
	}
	return strconv.Atoi(string(f[1]))
}
