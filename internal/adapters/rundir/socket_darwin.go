package rundir

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path of a socket.
const maxSocketPath = 103

// socketNameRoom is kept for "/NAME.sock.new" behind the directory.
const socketNameRoom = 32

// openSockets opens the directory that holds the sockets: the run directory, or a short one
// whose name is a hash of its path.
func (d *Dir) openSockets() (*os.File, error) {
	run, err := d.openRun()
	if err != nil || len(d.Run())+socketNameRoom <= maxSocketPath {
		return run, err
	}
	run.Close()
	return d.openSafe(unix.AT_FDCWD, d.socketDetour(), d.socketDetour())
}

// socketDetour is where the sockets are when their path is too long. It depends on no
// variable, since logins differ in TMPDIR.
func (d *Dir) socketDetour() string {
	return "/private/tmp/vev-" + strconv.Itoa(d.uid) + "-" + shortHash(d.Run())
}

func socketAddr(dir *os.File, name string) string { return filepath.Join(dir.Name(), name) }

// narrowSocket does nothing: here only the directory, which is 0700, guards the instant
// between bind and the change of the mode.
func narrowSocket(_, _ string, _ syscall.RawConn) error { return nil }

func peerUID(conn *net.UnixConn) (int, error) {
	uid := -1
	err := peerOf(conn, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	return uid, err
}

// acceptNow takes one connection that waits on a listening descriptor.
func acceptNow(fd int) (int, error) {
	conn, _, err := unix.Accept(fd)
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(conn)
	return conn, unix.SetNonblock(conn, true)
}
