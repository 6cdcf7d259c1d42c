package tty

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// name is the path of the terminal that f is open on.
func name(f *os.File) (path string, err error) {
	failed := control(f, func(fd int) error {
		path, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		return err
	})
	return path, failed
}
