package rundir

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// selfExe is the executable of whoever opens it, also after its file was removed or replaced.
const selfExe = "/proc/self/exe"

// Executable names the program this process runs. When an update took its place, that name
// leads to another version, so the kernel's link to our own is taken instead.
func Executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return selfExe, nil
	}
	named, err1 := os.Stat(path)
	own, err2 := os.Stat(selfExe)
	if err1 == nil && err2 == nil && os.SameFile(named, own) {
		return path, nil
	}
	return selfExe, nil
}

// sealDescriptors marks whatever this process inherited as not for its children: a service
// lives long, and must not keep a user's pipe or lock file open.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
