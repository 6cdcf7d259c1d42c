package pty

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// fallbackShell is the one shell that every system has.
	fallbackShell = "/bin/sh"
	// fallbackPath is searched when the environment has no PATH.
	fallbackPath = "/usr/local/bin:/usr/bin:/bin"
	// passwdFile is absent or incomplete where accounts live in a directory service; there
	// SHELL and HOME must do.
	passwdFile = "/etc/passwd"
	// maxPasswd bounds what is read of it: users past that have no entry for us.
	maxPasswd = 1 << 20
)

// image is a command made concrete.
type image struct {
	name string   // as the user wrote it, for messages
	path string   // of the executable file
	argv []string // argv[0] begins with '-' for a login shell
	env  []string
	dir  string // absolute; exists
}

// resolve decides what is run and where. It fails before anything was started, so that the
// fault can say exactly what is wrong.
func resolve(cmd domain.Command) (image, error) {
	dir, err := workDir(cmd)
	if err != nil {
		return image{}, err
	}
	im := image{dir: dir, env: withPWD(cmd.Env, dir)}
	if len(cmd.Argv) == 0 {
		im.path = loginShell(cmd.Env)
		im.name = im.path
		im.argv = []string{"-" + filepath.Base(im.path)}
		return im, nil
	}
	im.name, im.argv = cmd.Argv[0], cmd.Argv
	im.path, err = lookup(cmd.Argv[0], cmd.Env, dir)
	return im, err
}

// loginShell is the first usable one of $SHELL, the account's shell and /bin/sh.
func loginShell(env []string) string {
	_, fromPasswd := account()
	for _, sh := range []string{getenv(env, "SHELL"), fromPasswd} {
		if filepath.IsAbs(sh) && checkExecutable(sh) == nil {
			return sh
		}
	}
	return fallbackShell
}

// workDir checks a named directory, or finds the first usable one of home and "/".
func workDir(cmd domain.Command) (string, error) {
	if cmd.Dir != "" {
		return cmd.Dir, checkDir(cmd.Dir)
	}
	fromPasswd, _ := account()
	for _, home := range []string{getenv(cmd.Env, "HOME"), fromPasswd} {
		if home != "" && checkDir(home) == nil {
			return home, nil
		}
	}
	return "/", nil
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fault.New(fault.Usage, "the directory %q is not absolute", dir).
			WithHint("give a path that begins with /")
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		return fault.New(fault.NotFound, "%q is not a directory", dir).WithHint("choose another directory")
	}
	if err == nil {
		err = unix.Access(dir, unix.X_OK)
	}
	switch {
	case err == nil:
		return nil
	case os.IsPermission(err):
		return fault.Wrap(fault.Denied, err, "the directory %q is closed to you", dir).
			WithHint("choose another directory")
	}
	return fault.Wrap(fault.NotFound, err, "no directory %q", dir).WithHint("create it or choose another")
}

// lookup finds name as a shell in dir with this environment would.
func lookup(name string, env []string, dir string) (string, error) {
	if name == "" {
		return "", fault.New(fault.Usage, "the command has no name").WithHint("the first argument is empty")
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, notRunnable(name, path, checkExecutable(path))
	}
	search := getenv(env, "PATH")
	if search == "" {
		search = fallbackPath
	}
	var denied error
	for _, d := range filepath.SplitList(search) {
		path := filepath.Join(d, name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		err := checkExecutable(path)
		if err == nil {
			return path, nil
		}
		if os.IsPermission(err) && denied == nil {
			denied = notRunnable(name, path, err)
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fault.New(fault.NotFound, "no command %q", name).
		WithHint("it is in no directory of PATH; check the spelling or give its full path")
}

func notRunnable(name, path string, err error) error {
	switch {
	case err == nil:
		return nil
	case os.IsPermission(err):
		return fault.Wrap(fault.Denied, err, "cannot run %q", name).
			WithHint("%s must be an executable file; check with: ls -l %s", path, path)
	}
	return fault.Wrap(fault.NotFound, err, "no command %q", name).WithHint("there is no file %s", path)
}

// checkExecutable returns nil when path is a file this user may execute; a directory is
// EACCES, as for exec.
func checkExecutable(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		return unix.EACCES
	}
	return unix.Access(path, unix.X_OK)
}

// getenv returns the last value of key, which is the one a program sees.
func getenv(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// withPWD returns env with PWD naming dir: shells trust it when it is right and so keep the
// user's spelling of a path that goes through links.
func withPWD(env []string, dir string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "PWD=") {
			out = append(out, kv)
		}
	}
	return append(out, "PWD="+dir)
}

// account returns home and shell of this user's passwd entry, or nothing.
func account() (home, shell string) {
	f, err := os.Open(passwdFile)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	return passwdEntry(io.LimitReader(f, maxPasswd), os.Getuid())
}

// passwdEntry reads passwd(5): name:password:uid:gid:gecos:home:shell.
func passwdEntry(r io.Reader, uid int) (home, shell string) {
	want := strconv.Itoa(uid)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Split(lines.Text(), ":")
		if len(f) == 7 && f[2] == want {
			return f[5], f[6]
		}
	}
	return "", ""
}
