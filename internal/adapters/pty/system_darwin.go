package pty

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// describe asks the kernel for a process's arguments. It tells no directory: that needs
// libproc, which the system interface at hand does not reach.
func describe(pid int) ports.Process {
	p := ports.Process{Pid: pid}
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err == nil {
		p.Argv = procArgs(b)
	}
	return p
}

// directory is never told, see describe.
func directory(int) string { return "" }

// procArgs reads a KERN_PROCARGS2 block: count, executable path, NULs, then the arguments.
func procArgs(b []byte) []string {
	const countBytes = 4
	if len(b) < countBytes {
		return nil
	}
	count := binary.NativeEndian.Uint32(b)
	b = b[countBytes:]
	path := bytes.IndexByte(b, 0)
	if path < 0 {
		return nil
	}
	b = bytes.TrimLeft(b[path:], "\x00")
	var argv []string
	for ; count > 0 && len(b) > 0; count-- {
		arg, rest, _ := bytes.Cut(b, []byte{0})
		argv = append(argv, string(arg))
		b = rest
	}
	return argv
}

// sealDescriptors marks whatever this process inherited as not for its children: a lock file
// that the user's shell held open at the first start must not live on in every session.
func sealDescriptors() {
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// ignoredSignals reads the signals that this process ignores, bit n-1 for signal n.
func ignoredSignals() uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return 0
	}
	return uint64(info.Proc.P_sigignore)
}
