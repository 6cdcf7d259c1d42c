package pty

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Both ways to learn of an end: by a process descriptor, and as on a kernel without them.
func TestExitWatch(t *testing.T) {
	for _, descriptor := range []bool{true, false} {
		e := exitWatch{fd: -1}
		attr := &syscall.ProcAttr{Env: testEnv}
		if descriptor {
			attr.Sys = &syscall.SysProcAttr{}
			prepareExit(&e, attr.Sys)
		}
		pid, _, err := syscall.StartProcess("/bin/sh", []string{"sh", "-c", "sleep 0.1; exit 3"}, attr)
		require.NoError(t, err)
		require.Equal(t, descriptor, e.fd >= 0, "this kernel has process descriptors")
		asked := 0
		var ws unix.WaitStatus
		e.wait(pid, func() bool {
			asked++
			got, err := unix.Wait4(pid, &ws, unix.WNOHANG, nil)
			require.NoError(t, err)
			return got == pid
		})
		require.Equal(t, 3, ws.ExitStatus())
		require.LessOrEqual(t, asked, 3, "told, not polled")
	}
}
