package rundir

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Executable names the program this process runs.
func Executable() (string, error) { return os.Executable() }

// sealDescriptors marks whatever this process inherited as not for its children: a service
// lives long, and must not keep a user's pipe or lock file open.
func sealDescriptors() {
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
