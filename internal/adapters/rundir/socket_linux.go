package rundir

import (
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path of a socket that other programs can name.
const maxSocketPath = 107

// openSockets opens the directory that holds the sockets.
func (d *Dir) openSockets() (*os.File, error) { return d.openRun() }

// socketDetour says where the sockets are when their path is too long, or "".
func (d *Dir) socketDetour() string { return "through the open directory" }

// socketAddr names a socket through the open directory: no path is looked up again after the
// directory was judged, and its length does not matter.
func socketAddr(dir *os.File, name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + name
}

// narrowSocket gives a socket the mode that its file will have from its first instant: bind
// makes the file with the mode of the socket itself, less the umask.
func narrowSocket(_, _ string, raw syscall.RawConn) error {
	var err error
	if cerr := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), fileMode) }); cerr != nil {
		return cerr
	}
	return err
}

func peerUID(conn *net.UnixConn) (int, error) {
	uid := -1
	err := peerOf(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	return uid, err
}

// acceptNow takes one connection that waits on a listening descriptor.
func acceptNow(fd int) (int, error) {
	conn, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	return conn, err
}
