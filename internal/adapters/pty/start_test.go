package pty

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports/porttest"
)

// output runs cmd to its end and returns what it wrote.
func output(t *testing.T, cmd domain.Command) string {
	t.Helper()
	p, err := new(Programs).Start(cmd, domain.DefaultSize)
	require.NoError(t, err)
	out := porttest.Collect(t, p)
	out.End()
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

func TestProgramOwnsItsTerminal(t *testing.T) {
	out := output(t, sh(`tty; ps -o sid=,pgid=,tpgid= -p $$; echo $$; echo hello >/dev/tty; stty -a`))
	lines := strings.Split(out, "\n")
	require.Regexp(t, `^/dev/pts/\d+$`, lines[0])
	pid := lines[2]
	require.Equal(t, []string{pid, pid, pid}, strings.Fields(lines[1]), "session, group and foreground group")
	require.Equal(t, "hello", lines[3])
	for _, mode := range []string{"erase = ^?", "iutf8", "onlcr", "icanon", "isig", "icrnl", "cs8"} {
		require.Contains(t, out, mode)
		require.NotContains(t, out, "-"+mode)
	}
	require.Regexp(t, `\secho\s`, out)
}

func TestEnvironmentIsExactlyTheCommands(t *testing.T) {
	t.Setenv("SECRET_OF_THE_SERVER", "x")
	cmd := domain.Command{Argv: []string{"/usr/bin/env"}, Env: []string{"A=1", "PWD=/nowhere"}, Dir: "/usr"}
	require.Equal(t, "A=1\nPWD=/usr\n", output(t, cmd))
}

func TestLoginShell(t *testing.T) {
	dir := t.TempDir()
	shell := filepath.Join(dir, "mysh")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\necho me\n"), 0o755))
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	_, fromPasswd := account()

	for _, c := range []struct{ why, shell, want string }{
		{"the environment decides", shell, shell},
		{"without it the account does", "", fromPasswd},
		{"not executable", plain, fromPasswd},
		{"not absolute", "mysh", fromPasswd},
		{"a directory", dir, fromPasswd},
	} {
		im, err := resolve(domain.Command{Env: []string{"SHELL=/bin/false", "SHELL=" + c.shell}})
		require.NoError(t, err)
		require.Equal(t, c.want, im.path, c.why)
		require.Equal(t, []string{"-" + filepath.Base(c.want)}, im.argv)
	}
	out := output(t, domain.Command{Env: []string{"SHELL=" + shell}})
	require.Equal(t, "me\n", out)
}

func TestLoginShellSeesItsName(t *testing.T) {
	p, err := new(Programs).Start(domain.Command{Env: append([]string{"SHELL=/bin/sh"}, testEnv...)}, domain.DefaultSize)
	require.NoError(t, err)
	out := porttest.Collect(t, p)
	_, err = p.Write([]byte("echo \"<$0>\"; exit 3\r"))
	require.NoError(t, err)
	out.Until("<-sh>")
	require.Equal(t, 3, p.Wait().Code)
}

func TestPasswdEntry(t *testing.T) {
	const file = "root:x:0:0:root:/root:/bin/bash\nbroken line\n# 7:x\nme:x:77:77::/home/me:/bin/zsh\n"
	home, shell := passwdEntry(strings.NewReader(file), 77)
	require.Equal(t, "/home/me", home)
	require.Equal(t, "/bin/zsh", shell)
	home, shell = passwdEntry(strings.NewReader(file), 7)
	require.Empty(t, home+shell)
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		why, home, dir, want string
		kind                 fault.Kind
	}{
		{why: "as named", home: "/", dir: dir, want: dir},
		{why: "home", home: dir, want: dir},
		{why: "no home is no failure", home: "/no/such/home", want: mustAccountHome()},
		{why: "a home that is a file", home: file, want: mustAccountHome()},
		{why: "named and missing", home: dir, dir: "/no/such/dir", kind: fault.NotFound},
		{why: "named and a file", home: dir, dir: file, kind: fault.NotFound},
		{why: "named and relative", home: dir, dir: "x", kind: fault.Usage},
	} {
		im, err := resolve(domain.Command{Argv: []string{"/bin/pwd"}, Env: []string{"HOME=" + c.home}, Dir: c.dir})
		if c.want != "" {
			require.NoError(t, err, c.why)
			require.Equal(t, c.want, im.dir, c.why)
			continue
		}
		require.Equal(t, c.kind, fault.KindOf(err), "%s: %v", c.why, err)
		require.NotEmpty(t, hint(t, err), c.why)
	}
	require.Equal(t, dir+"\n", output(t, domain.Command{Argv: []string{"/bin/pwd"}, Dir: dir}))
}

func mustAccountHome() string {
	if home, _ := account(); home != "" {
		return home
	}
	return "/"
}

func hint(t *testing.T, err error) string {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.NotContains(t, f.Msg+f.Hint, "\n")
	return f.Hint
}

func TestLookupFollowsTheCommandsPath(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "noshebang"), []byte("echo $0 $1\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "closed"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "lost"), []byte("#!/no/such/interpreter\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "binary"), []byte("\x7fELF\x00\x00"), 0o755))
	env := []string{"PATH=/no/such:bin:/usr/bin:/bin"}
	run := func(argv ...string) domain.Command { return domain.Command{Argv: argv, Env: env, Dir: dir} }

	require.Equal(t, filepath.Join(bin, "noshebang")+" x\n", output(t, run("noshebang", "x")), "by PATH, run by the shell")
	require.Equal(t, filepath.Join(bin, "noshebang")+" y\n", output(t, run("./bin/noshebang", "y")), "by its own path")
	require.Equal(t, "hi\n", output(t, domain.Command{Argv: []string{"echo", "hi"}}), "no PATH at all")

	for _, c := range []struct {
		kind fault.Kind
		argv []string
	}{
		{fault.NotFound, []string{"nothing"}},
		{fault.NotFound, []string{"./nothing"}},
		{fault.NotFound, []string{"lost"}},
		{fault.Denied, []string{"closed"}},
		{fault.Denied, []string{"./bin"}},
		{fault.Usage, []string{""}},
		{fault.Usage, []string{"echo", "a\x00b"}},
		{fault.Limit, []string{"echo", strings.Repeat("x", 3<<20)}},
	} {
		p, err := new(Programs).Start(run(c.argv...), domain.DefaultSize)
		require.Nil(t, p)
		require.Equal(t, c.kind, fault.KindOf(err), "%.40q: %v", c.argv, err)
		require.ErrorContains(t, err, strings.TrimPrefix(c.argv[0], "./"), "the command is named")
		require.NotEmpty(t, hint(t, err))
	}
}

// deafHelper is set in the environment of the test binary that plays a deaf parent.
const deafHelper = "PTY_TEST_DEAF"

func TestSignalsAreAtTheirDefaults(t *testing.T) {
	if os.Getenv(deafHelper) != "" {
		signal.Ignore(syscall.SIGUSR1)
		out := output(t, sh("grep -E 'Sig(Ign|Blk)' /proc/self/status"))
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			_, mask, _ := strings.Cut(line, ":")
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			require.NoError(t, err)
			require.Zero(t, bits&(1<<lastSignal-1), "%s", line)
		}
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", `trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE USR2; exec "$0" -test.run='^`+t.Name()+`$' -test.count=1`, self)
	cmd.Env = append(os.Environ(), deafHelper+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "PASS")
}

func TestNoDescriptorReachesTheProgram(t *testing.T) {
	// As inherited from a user's shell: open, and open across exec.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	fd, err := syscall.Dup(int(w.Fd()))
	require.NoError(t, err)
	defer syscall.Close(fd)
	out := output(t, domain.Command{Argv: []string{"/bin/ls", "/proc/self/fd"}})
	require.Equal(t, []string{"0", "1", "2", "3"}, strings.Fields(out), "3 is the listing itself")
}

func TestWhatWasStartedIsKnownAtOnce(t *testing.T) {
	var programs Programs
	for _, c := range []struct {
		cmd  domain.Command
		want []string
	}{
		{domain.Command{Env: []string{"SHELL=/bin/sh"}}, []string{"/bin/sh"}},
		{domain.Command{Argv: []string{"sh", "-c", ":"}, Env: []string{"PATH=/bin:/usr/bin"}}, []string{"sh", "-c", ":"}},
	} {
		p, err := programs.Start(c.cmd, domain.DefaultSize)
		require.NoError(t, err)
		require.Equal(t, c.want, p.Command())
		require.NoError(t, p.Close())
		p.Wait()
	}
}
