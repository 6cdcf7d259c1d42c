//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// connectEnv makes the test binary a client of the socket it names, see TestHelperConnect.
const connectEnv = "VEV_E2E_CONNECT"

// nobody is another user than the one the tests run as.
const nobody = 65534

// stopped makes a home whose directories exist and in which nothing runs.
func stopped(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	h.sh("first", "exec cat")
	for _, role := range []string{"_daemon", "_broker"} {
		for _, pid := range h.role(role) {
			kill9(t, pid)
		}
	}
	return h
}

// wantRefused: one clear line that names the path, a hint, nothing started, nothing touched.
func wantRefused(t *testing.T, h *home, path string) {
	t.Helper()
	for _, args := range [][]string{{"new", "-d", "--", "cat"}, {"ls"}} {
		a := h.vev(args...)
		require.NotZero(t, a.code, "vev %v: %s", args, a.stdout)
		require.Empty(t, a.stdout)
		first, rest, _ := strings.Cut(a.stderr, "\n")
		require.True(t, strings.HasPrefix(first, "vev: "), a.stderr)
		require.Contains(t, first, path)
		require.Regexp(t, `\Ahint: [^\n]+\n\z`, rest)
	}
	require.Empty(t, h.role("_daemon"))
}

// TestBC45UnsafeDirectories: a directory that somebody else may write or replace is refused, by what it is and not by
// its name.
func TestBC45UnsafeDirectories(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"world-writable": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o777)) },
		"group-readable": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o750)) },
		"symlink": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".real"))
			require.NoError(t, os.Symlink(dir+".real", dir))
		},
		"symlink loop": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".real"))
			require.NoError(t, os.Symlink(dir, dir))
		},
		"a file": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".real"))
			require.NoError(t, os.WriteFile(dir, nil, 0o600))
		},
		"foreign": func(t *testing.T, dir string) {
			needRoot(t)
			require.NoError(t, os.Chown(dir, nobody, nobody))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := stopped(t)
			dir := h.run()
			spoil(t, dir)
			before := listing(t, filepath.Dir(dir))
			wantRefused(t, h, dir)
			require.Equal(t, before, listing(t, filepath.Dir(dir)), "nothing was made, removed or changed")
		})
	}
	t.Run("state directory", func(t *testing.T) {
		h := stopped(t)
		require.NoError(t, os.Chmod(h.state(), 0o777))
		wantRefused(t, h, h.state())
	})
}

// TestBC45FifoInPlaceOfSocket: what lies under the socket's name is no reason to hang.
func TestBC45FifoInPlaceOfSocket(t *testing.T) {
	h := stopped(t)
	for _, name := range []string{"broker.sock", "daemon.sock"} {
		path := filepath.Join(h.run(), name)
		_ = os.Remove(path)
		require.NoError(t, unix.Mkfifo(path, 0o600))
	}
	a := h.vev("new", "x", "-d", "--", "cat")
	if a.code == 0 {
		require.Len(t, h.ls(), 1, "it was replaced")
		return
	}
	require.Contains(t, a.stderr, ".sock")
}

// listing is names, types and permissions below a directory.
func listing(t *testing.T, root string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && !strings.HasSuffix(path, ".lock") && !strings.HasSuffix(path, ".log") && !strings.HasSuffix(path, ".start") {
			list = append(list, fmt.Sprintf("%s %s", info.Mode(), path))
		}
		return err
	}))
	return list
}

// TestBC44PermissionsFromTheFirstInstant: with a umask that forbids nothing, whatever appears in vev's directories is
// private when it appears and later.
func TestBC44PermissionsFromTheFirstInstant(t *testing.T) {
	h := newHome(t)
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	require.NoError(t, err)
	inotify := os.NewFile(uintptr(watch), "inotify")
	defer inotify.Close()
	dirs := map[int32]string{}
	add := func(dir string) {
		if wd, err := unix.InotifyAddWatch(watch, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ATTRIB|unix.IN_ONLYDIR); err == nil {
			dirs[int32(wd)] = dir
		}
	}
	add(h.dir)
	var open []string
	judge := func(path string) {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, fmt.Sprintf("%s %s", info.Mode(), path))
		}
		if err == nil && info.IsDir() {
			add(path)
		}
	}
	made := make(chan answer, 1)
	go func() {
		cmd := exec.Command("sh", "-c", `umask 000; exec "$0" new x -d -- cat`, vev)
		cmd.Env, cmd.Dir = h.env, h.dir
		made <- finish(t, cmd)
	}()
	buf := make([]byte, 4096)
	for end := false; !end; {
		select {
		case a := <-made:
			require.Zero(t, a.code, a.stderr)
			end = true
		default:
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}, 20)
		if ready <= 0 || err != nil {
			continue
		}
		n, err := unix.Read(watch, buf)
		require.NoError(t, err)
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(rest[0]) | int32(rest[1])<<8 | int32(rest[2])<<16 | int32(rest[3])<<24
			size := int(rest[12]) | int(rest[13])<<8 | int(rest[14])<<16
			name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], "\x00"))
			judge(filepath.Join(dirs[wd], name))
			rest = rest[unix.SizeofInotifyEvent+size:]
		}
	}
	require.NoError(t, filepath.WalkDir(h.path("vev"), func(path string, _ os.DirEntry, err error) error {
		judge(path)
		return err
	}))
	require.Empty(t, open, "readable or writable by others")
	info, err := os.Lstat(filepath.Join(h.run(), "daemon.sock"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestMust7AnotherUserIsRefused: even where the directories let another user through, the processes do not.
func TestMust7AnotherUserIsRefused(t *testing.T) {
	needRoot(t)
	h := newHome(t)
	h.sh("mine", "echo here; exec cat")
	h.waitText("mine", "here")
	ls := asNobody(h.command("ls"))
	ls.Dir = "/"
	a := finish(t, ls)
	require.NotZero(t, a.code, "by permissions: %s", a.stdout)

	for dir := h.run(); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o777))
	}
	for _, name := range []string{"broker.sock", "daemon.sock"} {
		path := filepath.Join(h.run(), name)
		require.NoError(t, os.Chmod(path, 0o777))
		cmd := asNobody(exec.Command(helper(t), "-test.run=TestHelperConnect$"))
		cmd.Env, cmd.Dir = []string{connectEnv + "=" + path}, "/"
		a := finish(t, cmd)
		require.Zero(t, a.code, a.stdout+a.stderr)
		require.Contains(t, a.stdout, "closed without a byte", name)
	}
}

// asNobody runs a command as another user.
func asNobody(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// helper is this test's binary, where any user can run it.
func helper(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	code, err := os.ReadFile(self)
	require.NoError(t, err)
	path := filepath.Join(filepath.Dir(vev), "helper")
	require.NoError(t, os.WriteFile(path, code, 0o755))
	return path
}

// TestHelperConnect is no test: it is the process of another user in TestMust7AnotherUserIsRefused.
func TestHelperConnect(t *testing.T) {
	path := os.Getenv(connectEnv)
	if path == "" {
		return
	}
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	// Whoever reads before it looks would take this for a length and answer.
	_, _ = conn.Write([]byte("\x7f\xff\xff\xff"))
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	n, err := conn.Read(make([]byte, 64))
	require.Zero(t, n)
	require.Error(t, err)
	require.False(t, os.IsTimeout(err), "it was kept open")
	fmt.Println("closed without a byte")
}

// TestBC39PathLongerThanASocketAddress: a home so deep that no socket address can name its sockets works all the same.
func TestBC39PathLongerThanASocketAddress(t *testing.T) {
	h := newHome(t)
	deep := filepath.Join(h.dir, strings.Repeat("d", 100), strings.Repeat("e", 100))
	require.NoError(t, os.MkdirAll(deep, 0o700))
	long := h.with("VEV_HOME=" + deep)
	long.ok("new", "x", "-d", "--", "sh", "-c", "echo deep; exec cat")
	long.waitText("x", "deep")
	require.Len(t, long.ls(), 1)
	require.Contains(t, long.ok("doctor"), deep)

	a := long.vev("new", strings.Repeat("n", 200), "-d", "--", "cat")
	require.Equal(t, 2, a.code, "a name that is too long is a usage error")
	require.Contains(t, a.stderr, "64", "which shows the rule")
}

// TestBC40RunDirectoryRemoved: a cleaner takes the sockets away; they come back, and nobody starts a second daemon.
func TestBC40RunDirectoryRemoved(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo still; exec cat")
	h.waitText("x", "still")
	daemon := h.one("_daemon")
	run := h.run()
	eventually(t, "it is removed", func() bool { return os.RemoveAll(run) == nil }) // what lives in it makes it again
	a := h.vev("capture", "x")
	require.Zero(t, a.code, a.stderr)
	require.Contains(t, a.stdout, "still")
	require.Equal(t, daemon, h.one("_daemon"))
	info, err := os.Stat(h.run())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// TestBC42StaleSocket: after a crash of both, attach says at once that the session is gone and new works at once.
func TestBC42StaleSocket(t *testing.T) {
	h := stopped(t)
	_, err := os.Lstat(filepath.Join(h.run(), "daemon.sock"))
	require.NoError(t, err, "the stale socket is there")
	start := time.Now()
	tt := newTerm(t, 80, 24)
	require.Equal(t, 1, tt.vev(h, "attach", "first").exits())
	tt.sees("first")
	h.ok("new", "y", "-d", "--", "cat")
	require.Less(t, time.Since(start), 5*time.Second)
	require.Len(t, h.ls(), 1)
}

// TestBC46LiesInTheHandshake: what a client says before it has proved anything costs nothing and hurts nobody.
func TestBC46LiesInTheHandshake(t *testing.T) {
	h := newHome(t)
	h.sh("live", "echo live; exec cat")
	h.waitText("live", "live")
	for _, name := range []string{"broker.sock", "daemon.sock"} {
		path := filepath.Join(h.run(), name)
		for what, bytes := range map[string]string{
			"a length of 2^31-1":  "\x7f\xff\xff\xff",
			"a length of 0":       "\x00\x00\x00\x00",
			"another protocol":    "GET / HTTP/1.1\r\n\r\n",
			"a long preamble":     "\x00\x00\x20\x00" + strings.Repeat("x", 100),
			"a preamble of noise": "\x00\x00\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff",
		} {
			conn, err := net.Dial("unix", path)
			require.NoError(t, err)
			_, _ = conn.Write([]byte(bytes))
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
			answer := make([]byte, 8192)
			total := 0
			for {
				n, err := conn.Read(answer[total:])
				total += n
				if err != nil {
					require.False(t, os.IsTimeout(err), "%s, %s: kept open", name, what)
					break
				}
			}
			conn.Close()
		}
		silent, err := net.Dial("unix", path) // says nothing and stays
		require.NoError(t, err)
		defer silent.Close()
	}
	require.Contains(t, h.ok("capture", "live"), "live")
	h.ok("new", "more", "-d", "--", "cat")
	require.Len(t, h.ls(), 2)
}
