//go:build unix

package sshstdio

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// far is the machine that a fake ssh leads to: a home directory, and the programs that the command finds there.
type far struct {
	t    *testing.T
	home string
}

// newFar puts in ssh's place a script that runs the command in a home of its own.
func newFar(t *testing.T) *far { return newFarWith(t, "sh") }

// newFarWith has another login shell read the command.
func newFarWith(t *testing.T, shell string) *far {
	f := &far{t, t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(f.home, "bin"), 0o700))
	fakeSSH(t, fmt.Sprintf(`while [ $# -gt 1 ]; do shift; done
HOME='%[1]s' PATH='%[1]s/bin':/usr/bin:/bin exec %[2]s -c "$1"`, f.home, shell))
	return f
}

func (f *far) write(path, text string) string {
	f.t.Helper()
	path = filepath.Join(f.home, path)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
	_ = os.Remove(path)
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

func (f *far) read(path string) string {
	b, err := os.ReadFile(filepath.Join(f.home, path))
	require.NoError(f.t, err)
	return string(b)
}

// fake is a program that says a version.
func fake(version string) string {
	return fmt.Sprintf("#!/bin/sh\n[ \"$1\" = version ] || exit 1\nprintf '{\\n \"version\": %q,\\n \"protocol\": {\"min\": 1, \"max\": 2}\\n}\\n'\n", version)
}

// here is what uname says of the machine that runs the tests, and as Go says it.
func here() ports.Survey {
	s := ports.Survey{}
	for name, goos := range systems() {
		if goos == runtime.GOOS {
			s.System = name
		}
	}
	for name, arch := range machines() {
		if arch == runtime.GOARCH {
			s.Machine = name
		}
	}
	return s
}

var box = domain.Host{Name: "box"}

func (f *far) visit(install *ports.Installation) (ports.Survey, *ports.RemoteVev, error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	return new(Dialer).Visit(ctx, box, nil, install)
}

func always(ports.Survey) (bool, error) { return true, nil }

func TestAVisitLooksAround(t *testing.T) {
	f := newFar(t)
	s, installed, err := f.visit(nil)
	require.NoError(t, err)
	require.Nil(t, installed)
	require.Nil(t, s.Program, "there is none")
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, platform(s))

	inPath := f.write("bin/vev", fake("1.0"))
	s, _, err = f.visit(nil)
	require.NoError(t, err)
	require.Equal(t, &ports.RemoteVev{Path: inPath, Version: "1.0", MinVersion: 1, MaxVersion: 2}, s.Program)
	ours := f.write(".local/bin/vev", "#!/bin/sh\nexit 1\n")
	s, _, err = f.visit(nil)
	require.NoError(t, err)
	require.Equal(t, &ports.RemoteVev{Path: ours}, s.Program, "what was installed counts before PATH, though it does not run")
	_, _, err = f.visit(&ports.Installation{Wanted: func(ports.Survey) (bool, error) { return false, nil }})
	require.NoError(t, err)
	no := fault.New(fault.Denied, "no")
	_, _, err = f.visit(&ports.Installation{Wanted: func(ports.Survey) (bool, error) { return true, no }})
	require.Equal(t, no, err)
	require.Equal(t, "#!/bin/sh\nexit 1\n", f.read(".local/bin/vev"), "nothing was copied")
}

// Whatever the login shell is, it starts the same: those that are here are tried.
func TestAVisitThroughAnyShell(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "tcsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("no %s", shell)
			continue
		}
		f := newFarWith(t, shell)
		want := f.write(".local/bin/vev", fake("1.0"))
		s, _, err := f.visit(nil)
		require.NoError(t, err, shell)
		require.Equal(t, &ports.RemoteVev{Path: want, Version: "1.0", MinVersion: 1, MaxVersion: 2}, s.Program, shell)
		require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, platform(s), shell)
	}
}

// elfHead is the begin of a program for a machine.
func elfHead(machine uint16) string {
	head := make([]byte, headBytes)
	copy(head, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(head[18:], machine)
	return string(head)
}

func TestAProgramIsInstalled(t *testing.T) {
	f := newFar(t)
	dir := t.TempDir()
	// A script cannot be taken for a program of this machine, so uname says another, whose program is one by its name and head
	// only; what runs it is a shim.
	f.write("bin/uname", "#!/bin/sh\n[ $1 = -s ] && echo Linux || echo aarch64\n")
	own := filepath.Join(dir, "vev")
	require.NoError(t, os.WriteFile(own, []byte(elfHead(62)), 0o700))
	neighbour := filepath.Join(dir, "vev-linux-arm64")
	body := elfHead(183) + strings.Repeat("x", 3<<20)
	require.NoError(t, os.WriteFile(neighbour, []byte(body), 0o600))
	var told []int64
	install := &ports.Installation{Program: own, Wanted: always, Copied: func(done, total int64) {
		require.EqualValues(t, len(body), total)
		told = append(told, done)
	}}
	_, installed, err := f.visit(install)
	require.Nil(t, installed)
	require.Equal(t, fault.Unsupported, fault.KindOf(err))
	require.Contains(t, err.Error(), neighbour+" does not run there: ", "it is no program at all")
	require.LessOrEqual(t, len(told), reports+1)
	require.EqualValues(t, len(body), told[len(told)-1])
	require.NoFileExists(t, filepath.Join(f.home, installPath))

	// With a shell that runs it, it is in place.
	runs := fake("2.0")
	f.write("bin/cat", "#!/bin/sh\n/bin/cat >/dev/null\nprintf '%s' \"$FAKE\"\n")
	f.write("bin/wc", fmt.Sprintf("#!/bin/sh\necho '   %d'\n", len(body)))
	t.Setenv("FAKE", runs)
	_, installed, err = f.visit(install)
	require.NoError(t, err)
	require.Equal(t, &ports.RemoteVev{Path: filepath.Join(f.home, installPath), Version: "2.0", MinVersion: 1, MaxVersion: 2}, installed)
	require.Equal(t, runs, f.read(installPath))
	info, err := os.Stat(filepath.Join(f.home, installPath))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())

	f.write("bin/wc", "#!/bin/sh\necho 7\n")
	_, _, err = f.visit(install)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorContains(t, err, "the copy is not whole")
	require.Equal(t, runs, f.read(installPath), "what was there is there still")

	f.write("bin/wc", fmt.Sprintf("#!/bin/sh\necho '   %d'\n", len(body)))
	require.NoError(t, os.Remove(filepath.Join(f.home, installPath)))
	require.NoError(t, os.Mkdir(filepath.Join(f.home, installPath), 0o700))
	_, _, err = f.visit(install)
	require.ErrorContains(t, err, "it cannot be put in place: vev is a directory")
	require.NoError(t, os.Remove(filepath.Join(f.home, installPath)))
	f.write("bin/mkdir", "#!/bin/sh\necho 'mkdir: read-only' >&2\nexit 1\n")
	_, _, err = f.visit(install)
	require.Error(t, err)
	require.NotEqual(t, fault.Unknown, fault.KindOf(err))
	left, err := filepath.Glob(filepath.Join(f.home, installDir, ".vev*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Where the connection ends when the program is there, whether it is in its place is not known.
func TestAnInstallationWithoutAnAnswer(t *testing.T) {
	f := newFar(t)
	f.write("bin/uname", "#!/bin/sh\n[ $1 = -s ] && echo Linux || echo aarch64\n")
	own := filepath.Join(t.TempDir(), "vev")
	require.NoError(t, os.WriteFile(own, []byte(elfHead(183)), 0o700))
	fakeSSH(t, fmt.Sprintf(`echo; echo vev-carriage begins here; printf 'Linux\naarch64\n\n\n%s\n'; read n; cat >/dev/null; exit 255`, surveyEnds))
	_, _, err := f.visit(&ports.Installation{Program: own, Wanted: always})
	require.Equal(t, fault.Unknown, fault.KindOf(err))
	require.Contains(t, err.(*fault.Error).Hint, "vev host check")
}

func TestAVisitThatFails(t *testing.T) {
	f := newFar(t)
	for script, want := range map[string]struct {
		kind fault.Kind
		msg  string
	}{
		`echo "Host key verification failed." >&2; exit 255`:                              {fault.Denied, "ssh does not know its host key"},
		`echo "This account is closed."; exit 1`:                                          {fault.Unsupported, `its shell says "This account is closed."`},
		`echo vev-carriage begins here; echo one; exit 0`:                                 {fault.Unavailable, "ended there"},
		`echo vev-carriage begins here; echo one; echo ` + surveyEnds:                     {fault.Violation, "1 lines, must have 4"},
		`echo vev-carriage begins here; yes`:                                              {fault.Violation, "8 lines, must have 4"},
		`echo vev-carriage begins here; yes x | tr -d '[:space:]' | head -c 20000; yes x`: {fault.Violation, "a line of the survey has more than"},
	} {
		fakeSSH(t, script)
		_, _, err := f.visit(nil)
		require.Equal(t, want.kind, fault.KindOf(err), "%s: %v", script, err)
		require.ErrorContains(t, err, want.msg, script)
	}
	fakeSSH(t, "exec sleep 100")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := new(Dialer).Visit(ctx, box, nil, nil)
	require.Equal(t, fault.Canceled, fault.KindOf(err))
}

func TestWhichProgramIsForAMachine(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	f, size, err := programFor("", here())
	require.NoError(t, err, "this program, by its head, is for this machine")
	require.Equal(t, self, f.Name())
	require.Positive(t, size)
	require.NoError(t, f.Close())

	dir := t.TempDir()
	own := filepath.Join(dir, "bin", "vev")
	require.NoError(t, os.MkdirAll(filepath.Dir(own), 0o700))
	arm := ports.Survey{System: "Linux", Machine: "aarch64"}
	for _, c := range []struct {
		file, head string
		s          ports.Survey
		want       string // the file, or what is said
	}{
		{"", "", ports.Survey{System: "SunOS", Machine: "sun4v"}, "SunOS on sun4v, which vev is not made for"},
		{"", "", ports.Survey{System: "Linux"}, "Linux on something unknown"},
		{"", "", arm, "cannot read the program"},
		{"bin/vev", "#!/bin/sh", arm, "it is linux/arm64, this vev is not, and none for it is here"},
		{"bin/vev-linux-arm64", elfHead(62), arm, "is no program for linux/arm64"},
		{"bin/vev-linux-arm64", elfHead(183), arm, "bin/vev-linux-arm64"},
		{"share/vev/vev-darwin-amd64", "\xcf\xfa\xed\xfe\x07\x00\x00\x01" + strings.Repeat("x", 20), ports.Survey{System: "Darwin", Machine: "x86_64"}, "share/vev/vev-darwin-amd64"},
		{"bin/vev", elfHead(183), arm, "bin/vev"},
	} {
		if c.file != "" {
			path := filepath.Join(dir, c.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(c.head), 0o600))
		}
		f, _, err := programFor(own, c.s)
		if err != nil {
			require.Contains(t, err.Error(), c.want)
			continue
		}
		require.Equal(t, filepath.Join(dir, c.want), filepath.Clean(f.Name()))
		require.NoError(t, f.Close())
	}
	// The neighbours of what a link leads to are looked for as well.
	link := filepath.Join(t.TempDir(), "vev")
	require.NoError(t, os.WriteFile(own, []byte("else"), 0o600))
	require.NoError(t, os.Symlink(own, link))
	f, _, err = programFor(link, arm)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Truncate(filepath.Join(dir, "bin/vev-linux-arm64"), maxProgramBytes+1))
	_, _, err = programFor(own, arm)
	require.Equal(t, fault.Limit, fault.KindOf(err))
}

func TestWhereSSHGoes(t *testing.T) {
	host := domain.Host{Name: "desk"}
	for text, want := range map[string]ports.Location{
		"": {Name: "desk", Port: 22},
		"user ann\nhostname 192.0.2.7\nport 2222\n": {Name: "192.0.2.7", Port: 2222},
		"hostname a\nproxyjump none\n":              {Name: "a", Port: 22},
		"hostname a\nproxyjump b:22\n":              {Name: "a", Port: 22, Through: "b:22"},
		"hostname a\nproxycommand nc %h %p\n":       {Name: "a", Port: 22, Through: "nc %h %p"},
	} {
		at, err := location([]byte(text), host)
		require.NoError(t, err)
		require.Equal(t, want, at)
	}
	for _, port := range []string{"0", "65536", "x"} {
		_, err := location([]byte("port "+port+"\n"), host)
		require.Equal(t, fault.Usage, fault.KindOf(err))
	}
	fakeSSH(t, `echo "hostname $2 $3"`)
	at, err := new(Dialer).Locate(t.Context(), host)
	require.NoError(t, err)
	require.Equal(t, "-- desk", at.Name)
	fakeSSH(t, `echo "/etc/ssh/ssh_config: line 1: Bad configuration option: x" >&2; exit 255`)
	_, err = new(Dialer).Locate(t.Context(), host)
	require.Equal(t, fault.Usage, fault.KindOf(err))
	require.ErrorContains(t, err, "Bad configuration option")
	fakeSSH(t, "exit 1")
	_, err = new(Dialer).Locate(t.Context(), host)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	fakeSSH(t, "exec sleep 100")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = new(Dialer).Locate(ctx, host)
	require.Equal(t, fault.Timeout, fault.KindOf(err))
}

func TestNamesAndPorts(t *testing.T) {
	d := new(Dialer)
	addrs, err := d.Resolve(t.Context(), "127.0.0.1")
	require.NoError(t, err)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, addrs)
	_, err = d.Resolve(t.Context(), "no..host")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	open := l.Addr().(*net.TCPAddr).AddrPort()
	found, err := d.Knock(t.Context(), ports.Location{Port: open.Port(), Addrs: []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1").Unmap()}})
	require.NoError(t, err)
	require.Equal(t, open, found)
	require.NoError(t, l.Close())
	_, err = d.Knock(t.Context(), ports.Location{Port: open.Port(), Addrs: addrs})
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorContains(t, err, "refuses connections")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Knock(over, ports.Location{Port: open.Port(), Addrs: addrs})
	require.Equal(t, fault.Timeout, fault.KindOf(err))
}
