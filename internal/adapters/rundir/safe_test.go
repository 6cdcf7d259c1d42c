package rundir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

func env(kv map[string]string) func(string) string {
	return func(k string) string { return kv[k] }
}

func TestPaths(t *testing.T) {
	passwd, err := homeDir("", os.Getuid())
	require.NoError(t, err)
	for _, c := range []struct {
		env           map[string]string
		state, config string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.local/state/vev", "/h/.config/vev/config.toml"},
		{map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, "/s/vev", "/c/vev/config.toml"},
		{map[string]string{"HOME": "/h", "XDG_STATE_HOME": "rel", "XDG_CONFIG_HOME": "rel"}, "/h/.local/state/vev", "/h/.config/vev/config.toml"},
		{map[string]string{"VEV_HOME": "/v", "HOME": "/h", "XDG_STATE_HOME": "/s"}, "/v/state", "/v/config.toml"},
		{map[string]string{}, passwd + "/.local/state/vev", passwd + "/.config/vev/config.toml"},
		{map[string]string{"HOME": "rel"}, passwd + "/.local/state/vev", passwd + "/.config/vev/config.toml"},
	} {
		d, err := locate(env(c.env), os.Getuid())
		require.NoError(t, err)
		require.Equal(t, c.state, d.State())
		require.Equal(t, c.config, d.Config())
		require.Regexp(t, "^"+c.state+"/run-[0-9a-f]{8}$", d.Run())
	}
	_, err = locate(env(nil), 123456789)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

func TestUnsafeDirectoriesAreRefused(t *testing.T) {
	for _, which := range []string{"state", "run"} {
		for _, c := range []struct {
			why, word string
			plant     func(path string) error
		}{
			{"a link to a good directory", "symbolic link", func(p string) error {
				good := p + ".good"
				if err := os.Mkdir(good, 0o700); err != nil {
					return err
				}
				return os.Symlink(good, p)
			}},
			{"a link to nowhere", "symbolic link", func(p string) error { return os.Symlink(p+".gone", p) }},
			{"a loop", "symbolic link", func(p string) error { return os.Symlink(p, p) }},
			{"writable by others", "others may use", func(p string) error { return mkdir(p, 0o777) }},
			{"readable by others", "others may use", func(p string) error { return mkdir(p, 0o755) }},
			{"open to the group only", "others may use", func(p string) error { return mkdir(p, 0o710) }},
			{"a file", "not a directory", func(p string) error { return os.WriteFile(p, nil, 0o600) }},
			{"a FIFO", "not a directory", func(p string) error { return unix.Mkfifo(p, 0o600) }},
			{"of another user", "belongs to user", func(p string) error {
				return errors.Join(mkdir(p, 0o700), os.Chown(p, 65534, 65534))
			}},
		} {
			if os.Getuid() != 0 && strings.Contains(c.word, "belongs") {
				continue // only root can give a directory away
			}
			t.Run(which+": "+c.why, func(t *testing.T) {
				t.Setenv(homeEnv, t.TempDir())
				d, err := locate(os.Getenv, os.Getuid())
				require.NoError(t, err)
				path := d.State()
				if which == "run" {
					require.NoError(t, os.Mkdir(path, 0o700))
					path = d.Run()
				}
				require.NoError(t, c.plant(path))
				before, err := os.Lstat(path)
				require.NoError(t, err)

				_, err = Open()
				var f *fault.Error
				require.ErrorAs(t, err, &f)
				require.Equal(t, fault.Denied, f.Kind)
				require.Contains(t, f.Msg, c.word)
				require.Contains(t, f.Msg, path)
				require.NotEmpty(t, f.Hint)
				require.NotContains(t, f.Error()+f.Hint, "\n")

				after, err := os.Lstat(path)
				require.NoError(t, err)
				require.Equal(t, before.Mode(), after.Mode(), "it was not touched")
				bad := 0
				for _, f := range Check("svc") {
					if !f.OK {
						bad++
						require.NotEmpty(t, f.Fix)
					}
				}
				require.Positive(t, bad, "doctor tells")
			})
		}
	}
}

func mkdir(p string, mode os.FileMode) error {
	return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, mode))
}

func TestPlantedFilesAreRefusedOrReplaced(t *testing.T) {
	d := home(t)
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, []byte("precious"), 0o644))
	lock := filepath.Join(d.State(), d.lockName("svc"))
	for _, plant := range []func() error{
		func() error { return os.Symlink(target, lock) },
		func() error { return unix.Mkfifo(lock, 0o600) },
		func() error { return os.Mkdir(lock, 0o700) },
	} {
		require.NoError(t, plant())
		_, err := d.TryLock("svc")
		require.Error(t, err)
		require.NotEqual(t, fault.Conflict, fault.KindOf(err))
		require.NoError(t, os.Remove(lock))
	}
	// In the place of the socket anything but a directory is simply replaced.
	sock := d.Run() + "/svc.sock"
	require.NoError(t, os.Symlink(target, sock))
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, unix.Mkfifo(sock, 0o600))
	c, err = d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, os.MkdirAll(sock+"/full", 0o700))
	_, err = d.Claim(t.Context(), "svc")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))

	b, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "precious", string(b))
	st, err := os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), st.Mode().Perm())
}

func TestLockExcludes(t *testing.T) {
	d := home(t)
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			l, err := d.Lock(t.Context(), "x")
			if err != nil {
				t.Error(err)
				return
			}
			if in.Add(1) != 1 {
				t.Error("two hold the lock")
			}
			in.Add(-1)
			l.Unlock()
		})
	}
	wg.Wait()
}

// Who looks sees who holds the lock, and nobody else who looks.
func TestLookingTakesNoLock(t *testing.T) {
	d := home(t)
	all := func(held bool) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 50 {
					if err := d.Look("x"); (err != nil) != held || held && fault.KindOf(err) != fault.Conflict {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	all(false)
	l, err := d.TryLock("x")
	require.NoError(t, err, "nothing is left of a look")
	all(true)
	require.ErrorContains(t, d.Look("x"), strconv.Itoa(os.Getpid()))
	require.NoError(t, l.Unlock())
	all(false)
}

func TestLockOfARemovedFileIsNoLock(t *testing.T) {
	d := home(t)
	first, err := d.TryLock("x")
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(d.State(), d.lockName("x"))))
	second, err := d.TryLock("x")
	require.NoError(t, err, "the name is what is locked")
	state, err := d.openState()
	require.NoError(t, err)
	defer state.Close()
	require.Equal(t, fault.Conflict, fault.KindOf(first.keep(state)), "somebody else has it now")
	require.NoError(t, second.Unlock())
	require.NoError(t, first.keep(state), "taken again")
	_, err = d.TryLock("x")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.NoError(t, first.Unlock())
}

func TestLockEndsWithItsContext(t *testing.T) {
	d := home(t)
	l, err := d.TryLock("x")
	require.NoError(t, err)
	defer l.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = d.Lock(ctx, "x")
	require.Equal(t, fault.Timeout, fault.KindOf(err))
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = d.Lock(ctx, "x")
	require.Equal(t, fault.Canceled, fault.KindOf(err))
}

func TestCheckService(t *testing.T) {
	d := home(t)
	detail := func() Finding {
		for _, f := range d.Check("svc") {
			if f.What == "svc" {
				return f
			}
		}
		t.Fatal("not told")
		return Finding{}
	}
	require.Equal(t, "not running; started when needed", detail().Detail)
	c, err := d.Claim(t.Context(), "svc")
	require.NoError(t, err)
	f := detail()
	require.True(t, f.OK)
	require.Contains(t, f.Detail, "live")
	for _, conn := range c.Retire() {
		conn.Close()
	}
	f = detail()
	require.False(t, f.OK)
	require.Contains(t, f.Detail, "without its socket")
	require.NoError(t, c.Close())

	dir, err := d.openSockets()
	require.NoError(t, err)
	defer dir.Close()
	s, err := listen(dir, "svc")
	require.NoError(t, err)
	require.NoError(t, s.ln.Close())
	f = detail()
	require.True(t, f.OK)
	require.Contains(t, f.Detail, "crashed")
}

func TestLogout(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	systemd := func(fs fstest.MapFS) fstest.MapFS {
		fs["run/systemd/system/x"] = file("")
		return fs
	}
	const yes, no = "[Login]\n#KillUserProcesses=no\nKillUserProcesses = yes\n", "[Login]\nKillUserProcesses=no\n"
	for _, c := range []struct {
		why string
		fs  fstest.MapFS
		ok  bool
	}{
		{"no systemd", fstest.MapFS{"etc/systemd/logind.conf": file(yes)}, true},
		{"not set", systemd(fstest.MapFS{}), true},
		{"on", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(yes)}), false},
		{"on by an addition", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(no), "usr/lib/systemd/logind.conf.d/x.conf": file(yes)}), false},
		{"the addition in /etc hides that in /usr", systemd(fstest.MapFS{"etc/systemd/logind.conf.d/x.conf": file(no), "usr/lib/systemd/logind.conf.d/x.conf": file(yes)}), true},
		{"the last name wins", systemd(fstest.MapFS{"etc/systemd/logind.conf.d/a.conf": file(yes), "usr/lib/systemd/logind.conf.d/b.conf": file(no)}), true},
		{"lingers", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(yes), "var/lib/systemd/linger/me": file("")}), true},
		{"excluded", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(yes + "KillExcludeUsers=root me\n")}), true},
		{"not among the only ones", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(yes + "KillOnlyUsers=you\n")}), true},
		{"among the only ones", systemd(fstest.MapFS{"etc/systemd/logind.conf": file(yes + "KillOnlyUsers=you me\n")}), false},
	} {
		f := checkLogout(c.fs, "me")
		require.Equal(t, c.ok, f.OK, c.why)
		require.Equal(t, !c.ok, f.Fix != "", c.why)
		require.NotEmpty(t, f.Detail)
	}
}
