package rundir

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestForeignPeerIsRefusedUnread(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can play another user")
	}
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := c.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	// As if the permissions had failed: the peer check stands alone.
	require.NoError(t, os.Chmod(d.Run()+"/svc.sock", 0o666))
	dir, err := os.Open(d.Run())
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, os.Chmod(d.Run(), 0o711))

	b, err := asNobody(func() ([]byte, error) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), "socket")
		defer f.Close()
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socketAddr(dir, "svc.sock")}); err != nil {
			return nil, err
		}
		return io.ReadAll(f)
	})
	require.NoError(t, err, "a clean end, and at once")
	require.Empty(t, b)
	require.NoError(t, os.Chmod(d.Run(), 0o700))
	conn, err := d.Dial(t.Context(), "svc")
	require.NoError(t, err)
	conn.Close()
	(<-accepted).Close() // the first one that Accept gave
	require.Equal(t, uint64(1), c.Refused())
	require.NoError(t, c.Close())
	<-accepted
}

// asNobody runs f in a thread of another user, which then ends.
func asNobody(f func() ([]byte, error)) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is not fit for anything else
		const nobody = 65534
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			done <- result{nil, errno}
			return
		}
		b, err := f()
		done <- result{b, err}
	}()
	r := <-done
	return r.b, r.err
}
