package rundir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const patience = 10 * time.Second

// claim makes the test's process the service and answers each connection with "hello".
func claim(t *testing.T, d *Dir) *Claim {
	t.Helper()
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := c.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "hello")
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		<-done
	})
	return c
}

func hello(t *testing.T, d *Dir) {
	t.Helper()
	conn, err := d.Dial(t.Context(), "svc")
	require.NoError(t, err)
	defer conn.Close()
	b, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "hello", string(b))
}

// comesBack waits for the service to be reachable again, and touches nothing meanwhile.
func comesBack(t *testing.T, d *Dir) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err := os.Stat(d.Run() + "/svc.sock"); err == nil {
			if conn, err := d.Dial(ctx, "svc"); err == nil {
				conn.Close()
				return
			}
		}
		require.NoError(t, sleep(ctx, time.Millisecond), "it does not come back")
	}
}

func TestSocketComesBack(t *testing.T) {
	for _, c := range []struct {
		why  string
		take func(d *Dir) error
	}{
		{"the socket was removed", func(d *Dir) error { return os.Remove(d.Run() + "/svc.sock") }},
		{"the directory was removed", func(d *Dir) error { return os.RemoveAll(d.Run()) }},
		{"the directory was moved away", func(d *Dir) error { return os.Rename(d.Run(), d.Run()+".old") }},
		{"everything was removed", func(d *Dir) error { return os.RemoveAll(d.State()) }},
		{"everything was moved away", func(d *Dir) error { return os.Rename(d.State(), d.State()+".old") }},
		{"the socket was replaced", func(d *Dir) error {
			f := d.Run() + "/other"
			if err := os.WriteFile(f, nil, 0o600); err != nil {
				return err
			}
			return os.Rename(f, d.Run()+"/svc.sock")
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := home(t)
			claim(t, d)
			hello(t, d)
			for range 3 { // also what was put back is watched
				require.NoError(t, os.RemoveAll(d.State()+".old"))
				require.NoError(t, os.RemoveAll(d.Run()+".old"))
				if err := c.take(d); !errors.Is(err, unix.ENOTEMPTY) { // put back in the midst of it
					require.NoError(t, err)
				}
				comesBack(t, d)
				hello(t, d)
				_, err := d.TryLock("svc")
				require.Equal(t, fault.Conflict, fault.KindOf(err), "the life lock is held under its name")
			}
		})
	}
}

func TestConnectionsWaitingAtARemovedSocketAreServed(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	defer c.Close()
	var waiting []net.Conn
	for i := range 3 {
		conn, err := d.Dial(t.Context(), "svc")
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "%d", i)
		waiting = append(waiting, conn)
	}
	require.NoError(t, os.RemoveAll(d.Run()))
	comesBack(t, d)
	for i := range waiting {
		conn, err := c.Accept()
		require.NoError(t, err)
		b := make([]byte, 1)
		_, err = conn.Read(b)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(b))
		conn.Close()
	}
}

func TestRetireHandsOutWhoWaits(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	conn, err := d.Dial(t.Context(), "svc")
	require.NoError(t, err)
	defer conn.Close()

	late := c.Retire()
	require.Len(t, late, 1)
	require.NoFileExists(t, d.Run()+"/svc.sock")
	_, err = d.Dial(t.Context(), "svc")
	require.True(t, absent(err))
	_, err = d.TryLock("svc")
	require.Equal(t, fault.Conflict, fault.KindOf(err), "nobody may follow yet")
	_, err = c.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	io.WriteString(late[0], "hello")
	late[0].Close()
	b, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "hello", string(b))

	require.Empty(t, c.Retire(), "again")
	require.NoError(t, c.Resume())
	again, err := d.Dial(t.Context(), "svc")
	require.NoError(t, err)
	defer again.Close()
	got, err := c.Accept()
	require.NoError(t, err)
	got.Close()

	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.Error(t, c.Resume(), "closed for good")
	lock, err := d.TryLock("svc")
	require.NoError(t, err, "now somebody may")
	require.NoError(t, lock.Unlock())
}

// Between the last look at the queue and the close of the socket nobody may slip in: who did
// would be connected and then dropped.
func TestNobodySlipsInBehindTheDrain(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	defer c.Close()
	for _, conn := range c.current().drain() {
		conn.Close()
	}
	_, err = d.Dial(t.Context(), "svc")
	require.True(t, absent(err), "%v", err)
}

func TestRetireEndsAWaitingAccept(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	defer c.Close()
	ended := make(chan error, 1)
	go func() { _, err := c.Accept(); ended <- err }()
	require.Empty(t, c.Retire())
	select {
	case err := <-ended:
		require.ErrorIs(t, err, net.ErrClosed)
	case <-time.After(patience):
		t.Fatal("Accept still waits")
	}
}

func TestRetiredStaysRetired(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	defer c.Close()
	c.Retire()
	require.NoError(t, os.RemoveAll(d.Run()))
	require.NoError(t, c.ensure(false), "what the keeper does when told")
	require.NoFileExists(t, d.Run()+"/svc.sock")
}

func TestCloseLeavesAForeignSocket(t *testing.T) {
	d := home(t)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	c.turn <- struct{}{} // as if the keeper had not looked yet
	require.NoError(t, os.Remove(d.Run()+"/svc.sock"))
	require.NoError(t, os.WriteFile(d.Run()+"/svc.sock", []byte("mine"), 0o600))
	closed := make(chan error)
	go func() { closed <- c.Close() }()
	<-c.closing // from here on the keeper puts nothing back
	<-c.turn
	require.NoError(t, <-closed)
	b, err := os.ReadFile(d.Run() + "/svc.sock")
	require.NoError(t, err)
	require.Equal(t, "mine", string(b))
}

func TestClaimWaitsForTheOld(t *testing.T) {
	d := home(t)
	old, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = d.Claim(ctx, "svc")
	require.Equal(t, fault.Timeout, fault.KindOf(err))

	got := make(chan error, 1)
	go func() {
		c, err := d.Claim(t.Context(), "svc")
		if err == nil {
			err = c.Close()
		}
		got <- err
	}()
	require.NoError(t, old.Close())
	require.NoError(t, <-got)
}

func TestLongPaths(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("d", 150), strings.Repeat("e", 150))
	t.Setenv(homeEnv, deep)
	d, err := Open()
	require.NoError(t, err)
	claim(t, d)
	hello(t, d)
	for _, f := range d.Check("svc") {
		require.True(t, f.OK, "%+v", f)
		if f.What == "socket paths" {
			require.Contains(t, f.Detail, "over the system's limit")
		}
	}
}

func TestNothingIsWideWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			root := t.TempDir() // made before: 0777 would keep even the test out
			if mask == 0 || os.Getuid() != 0 {
				root = filepath.Join(root, "home")
				require.NoError(t, os.Mkdir(root, 0o700))
			}
			t.Setenv(homeEnv, root)
			require.NoError(t, os.MkdirAll(root, 0o700))
			old := unix.Umask(mask)
			defer unix.Umask(old)
			d, err := Open()
			require.NoError(t, err)
			claim(t, d)
			log, err := d.openLog("svc")
			require.NoError(t, err)
			log.Close()
			hello(t, d)
			want := map[string]os.FileMode{
				d.State(): 0o700, d.Run(): 0o700, d.Run() + "/svc.sock": 0o600, d.Log("svc"): 0o600,
				filepath.Join(d.State(), d.lockName("svc")): 0o600,
			}
			for path, mode := range want {
				st, err := os.Lstat(path)
				require.NoError(t, err)
				require.Equal(t, mode, st.Mode().Perm(), path)
			}
		})
	}
}

// The socket's file has its mode from its first instant: bind itself makes it so.
func TestSocketIsBornNarrow(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	cfg := net.ListenConfig{Control: narrowSocket}
	path := filepath.Join(t.TempDir(), "s")
	l, err := cfg.Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer l.Close()
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
}
