package rundir

import (
	"context"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

// maxLate bounds how many waiting connections are taken over from a socket that goes; the
// kernel's own queue is no longer than that. The rest are closed.
const maxLate = 4096

// listening is one socket with its file. A new one is made when the file is gone.
type listening struct {
	ln       *net.UnixListener
	dev, ino uint64 // of the file
}

// listen makes a socket in dir and puts it at its name in one step: whoever finds the name
// finds somebody listening. What had the name before is replaced, never followed. Only the
// holder of the life lock calls it.
func listen(dir *os.File, name string) (*listening, error) {
	dirfd, final := int(dir.Fd()), socketName(name)
	tmp := final + ".new"
	unix.Unlinkat(dirfd, tmp, 0) // left by a crash
	cfg := net.ListenConfig{Control: narrowSocket}
	l, err := cfg.Listen(context.Background(), "unix", socketAddr(dir, tmp))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot make a socket in %s", dir.Name()).
			WithHint("check the free space there, and that the file system knows sockets")
	}
	sock := &listening{ln: l.(*net.UnixListener)}
	sock.ln.SetUnlinkOnClose(false) // its name would mean another directory by then
	if err = sock.publish(dirfd, tmp, final); err != nil {
		sock.ln.Close()
		unix.Unlinkat(dirfd, tmp, 0)
		return nil, fault.Wrap(fault.Unavailable, err, "cannot put the socket at %s/%s", dir.Name(), final).
			WithHint("move away what is there")
	}
	return sock, nil
}

func (s *listening) publish(dirfd int, tmp, final string) error {
	// The umask may have taken too much; it cannot have left too much.
	if err := unix.Fchmodat(dirfd, tmp, fileMode, 0); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dirfd, tmp, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	s.dev, s.ino = uint64(st.Dev), st.Ino
	return unix.Renameat(dirfd, tmp, dirfd, final)
}

// at reports whether the socket's file is still at its name.
func (s *listening) at(dir *os.File, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), socketName(name), &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && uint64(st.Dev) == s.dev && st.Ino == s.ino
}

// unlink removes the socket's file if it is still this socket's.
func (s *listening) unlink(dir *os.File, name string) {
	if s.at(dir, name) {
		unix.Unlinkat(int(dir.Fd()), socketName(name), 0)
	}
}

// drain refuses new connections and takes those that wait already, so that none is lost in
// between. It does not block.
func (s *listening) drain() []*net.UnixConn {
	raw, err := s.ln.SyscallConn()
	if err != nil {
		return nil
	}
	var fds []int
	raw.Control(func(fd uintptr) {
		unix.Shutdown(int(fd), unix.SHUT_RD)
		for len(fds) < maxLate {
			conn, err := acceptNow(int(fd))
			if err == unix.EINTR || err == unix.ECONNABORTED {
				continue
			}
			if err != nil {
				return
			}
			fds = append(fds, conn)
		}
	})
	var late []*net.UnixConn
	for _, fd := range fds {
		if conn := connOf(fd); conn != nil {
			late = append(late, conn)
		}
	}
	return late
}

func connOf(fd int) *net.UnixConn {
	f := os.NewFile(uintptr(fd), "unix")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
	}
	return conn
}
