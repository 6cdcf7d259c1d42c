package rundir

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

// backlogPause is the pause before a socket whose queue of connections is full is tried again.
const backlogPause = 5 * time.Millisecond

// Dial connects to the service name of this user on this machine. Unavailable: nobody serves
// it now; the socket is absent or stale.
func (d *Dir) Dial(ctx context.Context, name string) (*net.UnixConn, error) {
	for {
		conn, err := d.dial(name)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, unix.EAGAIN):
			if err = sleep(ctx, backlogPause); err == nil {
				continue
			}
			return nil, fault.Wrap(ctxKind(err), err, "the %s does not take a connection", name).
				WithHint("see %s", d.Log(name))
		}
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return nil, f
		}
		return nil, fault.Wrap(fault.Unavailable, err, "the %s cannot be reached", name)
	}
}

// dial connects at once or fails: a local connect waits for nobody, so that a caller whose time is over still learns what
// there is.
func (d *Dir) dial(name string) (*net.UnixConn, error) {
	dir, err := d.openSockets()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socketAddr(dir, socketName(name)), Net: "unix"})
	if err != nil {
		return nil, err
	}
	if uid, err := peerUID(conn); err != nil || uid != d.uid {
		conn.Close()
		return nil, fault.Wrap(fault.Denied, err, "the %s at %s is not yours", name, dir.Name()).
			WithHint("remove what is there")
	}
	return conn, nil
}

// absent reports whether a dial failed because nobody listens, which starting one cures.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
}

// peerOf runs f on a connection's descriptor.
func peerOf(conn *net.UnixConn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	ferr := os.ErrClosed
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
