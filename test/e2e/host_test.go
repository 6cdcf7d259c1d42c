//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// fails runs a command that must fail with an exit code, and returns what it said on standard error.
func (h *home) fails(code int, args ...string) string {
	h.t.Helper()
	a := h.vev(args...)
	require.Equal(h.t, code, a.code, "%v: %s%s", args, a.stdout, a.stderr)
	return a.stderr
}

// withoutVev takes vev away from a site's machine, whose home is empty but for what sshd needs.
func (s *site) withoutVev() {
	s.near.t.Helper()
	require.NoError(s.near.t, os.Remove(s.far.path("bin/vev")))
}

// shim puts a program first in a site's PATH.
func (s *site) shim(name, script string) {
	s.near.t.Helper()
	_ = os.Remove(s.far.path("bin/" + name)) // it may lead to the program under test
	s.far.write(filepath.Join("bin", name), []byte("#!/bin/sh\n"+script+"\n"))
	require.NoError(s.near.t, os.Chmod(s.far.path(filepath.Join("bin", name)), 0o700))
}

// TestHostsByName: a machine with a name of its own, in every kind of command, until it is taken off the list.
func TestHostsByName(t *testing.T) {
	s := newSite(t)
	address := fmt.Sprintf("ssh://%s@127.0.0.1:%d", s.user, s.port)
	require.Equal(t, "no machines; vev host add HOST adds one\n", s.near.vev("host", "ls").stderr)
	require.Empty(t, s.near.processes(), "looking starts nothing")
	require.Equal(t, "added desk\n", s.near.ok("host", "add", address, "--name", "desk"))
	require.Equal(t, "added far\n", s.near.ok("host", "add", "far", "--transport", "ssh", "--start", "never"))

	var list []struct{ Name, Address, Transport, Start, Added string }
	require.NoError(t, json.Unmarshal([]byte(s.near.ok("host", "ls", "--json")), &list))
	require.Len(t, list, 2)
	require.Equal(t, []string{"desk", address, "auto", "needed"}, []string{list[0].Name, list[0].Address, list[0].Transport, list[0].Start})
	require.Equal(t, []string{"far", "far", "ssh", "never"}, []string{list[1].Name, list[1].Address, list[1].Transport, list[1].Start})
	added, err := time.Parse(time.RFC3339, list[0].Added)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), added, time.Minute)
	require.Regexp(t, `(?m)^desk +`+address+` +auto +needed +\S+ ago +connected, (ssh|quic)`, s.near.ok("host", "ls"))

	require.Contains(t, s.near.fails(1, "new", "far:work", "-d"), "vev host set far --start needed")
	require.Empty(t, s.far.role("_daemon"), "none may be started by that name")
	require.Contains(t, s.near.fails(1, "capture", "desk:work"), "vev new desk:work makes one")
	require.Equal(t, "desk:work\n", s.near.ok("new", "desk:work", "-d", "--", "cat"))
	require.Contains(t, s.near.ok("ls", "far"), "work", "what runs is reached")
	s.near.ok("send", "desk:work", "by name")
	s.near.waitText(s.user+"@desk:work", "by name")
	require.Equal(t, "far: transport ssh, start needed\n", s.near.ok("host", "set", "far", "--start", "needed"))
	require.Equal(t, "far:more\n", s.near.ok("new", "far:more", "-d", "--", "cat"))

	require.Contains(t, s.near.fails(1, "host", "add", "other", "--name", "desk"), "host desk is known already, as "+address)
	require.Contains(t, s.near.fails(1, "host", "add", address, "--name", "other"), "is known already, by the name desk")
	require.Contains(t, s.near.fails(2, "host", "add", "[::1]"), "needs a name of its own")
	require.Contains(t, s.near.fails(2, "host", "set", "desk"), "nothing to set")
	require.Contains(t, s.near.fails(2, "host", "add", "x", "--transport", "udp"), "it is auto, ssh or quic")
	require.Contains(t, s.near.fails(1, "host", "rm", "dosk"), "did you mean desk?")
	require.Equal(t, "removed desk\n", s.near.ok("host", "rm", "desk"))
	require.NotContains(t, s.near.ok("host", "ls"), "desk")
	for _, args := range [][]string{{"capture", "desk:work"}, {"ls", "desk"}, {"host", "check", "desk"}} {
		require.Contains(t, s.near.fails(1, args...), "host desk was removed; it was "+address)
	}
	require.Contains(t, s.near.ok("ls", "far"), "work", "nothing has changed there")

	// The list outlives the broker, and damage.
	s.restart()
	require.Contains(t, s.near.ok("host", "ls"), "far")
	s.near.write("vev/state/hosts", []byte("damaged"))
	a := s.near.vev("host", "ls")
	require.Zero(t, a.code)
	require.Contains(t, a.stdout, "desk", "the last good version")
	require.Contains(t, a.stderr, "the list of hosts was damaged")
	a = s.near.vev("host", "ls")
	require.Empty(t, a.stderr, "it is said once")
	require.Contains(t, s.near.ok("doctor"), "hosts.damaged")
}

// TestHostRemovedUnderAnAttachment: the attachment ends with one line, and all that led there with it; what runs there goes on,
// and by its address it is reached as ever.
func TestHostRemovedUnderAnAttachment(t *testing.T) {
	for _, transport := range []string{"ssh", "quic"} {
		t.Run(transport, func(t *testing.T) {
			s := newSite(t)
			s.near.ok("host", "add", "far", "--name", "desk", "--transport", transport)
			s.near.ok("new", "desk:work", "-d", "--", "cat")
			byName, byAddress := newTerm(t, 80, 24), newTerm(t, 80, 24)
			p, q := byName.vev(s.near, "attach", "desk:work"), byAddress.vev(s.near, "attach", "far:work")
			byName.typ("here\r")
			byName.sees("here\nhere")
			byAddress.sees("here\nhere")
			s.near.ok("host", "rm", "desk")
			require.Equal(t, 1, p.exits())
			require.Equal(t, 1, q.exits())
			byName.sees("vev: desk: the host was removed from the list; what runs there goes on")
			byAddress.sees("vev: far: the host was removed from the list; what runs there goes on")
			require.NotContains(t, byName.text(), "reconnecting")
			eventually(t, "no ssh is left", func() bool { return len(s.ssh()) == 0 })
			require.Contains(t, s.near.ok("capture", "far:work"), "here")
		})
	}
}

// TestHostAddedThatCannotBeReached: it is added, and why it does not work is said.
func TestHostAddedThatCannotBeReached(t *testing.T) {
	s := newSite(t)
	nobody := fmt.Sprintf("ssh://127.0.0.1:%d", freePort(t))
	a := s.near.vev("host", "add", nobody, "--name", "off")
	require.Equal(t, 3, a.code)
	require.Equal(t, "added off\n", a.stdout)
	require.Regexp(t, "^vev: off was added, but cannot be used now: ssh: .*Connection refused", a.stderr)
	s.withoutVev()
	a = s.near.vev("host", "add", "far")
	require.Equal(t, 1, a.code)
	require.Contains(t, a.stderr, "far was added, but cannot be used now: there is no vev there")
	require.Contains(t, a.stderr, "vev host install far")
	require.Regexp(t, `(?s)off.*far|far.*off`, s.near.ok("host", "ls"))
	require.NoFileExists(t, s.far.path(".local/bin/vev"), "nothing is installed without being asked")
}

// TestHostCheck: each step, its time, and the first that fails.
func TestHostCheck(t *testing.T) {
	s := newSite(t)
	said := s.near.ok("host", "check", "far")
	require.Regexp(t, `^name +ok +\d+ ms  127.0.0.1
tcp +ok +\d+ ms  127.0.0.1:\d+ answers
ssh +ok +\d+ ms  Linux on \S+
version +ok +\d+ ms  vev \S+, protocol \d+, .*/bin/vev
daemon +ok +\d+ ms  none runs; the first session there starts it
`, said)
	require.Empty(t, s.far.role("_daemon"), "nothing is started")
	s.near.ok("new", "far:", "-d", "--", "cat")
	require.Regexp(t, `daemon +ok +\d+ ms  one runs, reached over (ssh|quic)( in \S+)?
udp +ok +\d+ ms  (QUIC gets through|in use)
$`, s.near.ok("host", "check", "far"))

	checks := func(code int, host, step, reason string) {
		t.Helper()
		a := s.near.vev("host", "check", host)
		require.Equal(t, code, a.code, a.stdout)
		lines := strings.Split(strings.TrimSpace(a.stdout), "\n")
		require.Regexp(t, "^"+step+" +fail +[0-9.]+ m?s  .*"+reason, lines[len(lines)-1], "it ends with what fails")
		require.Regexp(t, "^vev: .*"+reason, a.stderr)
		require.Contains(t, a.stderr, "\nhint: ")
	}
	checks(3, "no..host", "name", "cannot be looked up")
	checks(3, fmt.Sprintf("ssh://127.0.0.1:%d", freePort(t)), "tcp", "refuses connections")
	s.near.write("known_hosts", nil)
	checks(1, "far", "ssh", "ssh does not know its host key")
	s.trust(s.far.read("etc/host_key.pub"))
	s.shim("vev", "echo broken >&2; exit 1")
	checks(1, "far", "version", "does not say which version it is")
	s.withoutVev()
	checks(1, "far", "version", "there is no vev there")
	// Through another machine, here a command, nothing can be said of name and port.
	s.near.write("ssh_config", append([]byte("Host far\nProxyCommand nc 127.0.0.1 "+fmt.Sprint(s.port)+"\n"), s.near.read("ssh_config")...))
	require.Regexp(t, `^name +ok +\d+ ms  \S+, through nc 127.0.0.1`, s.near.vev("host", "check", "far").stdout)
}

// TestHostInstall: into an empty home, over one that runs, and where it cannot be.
func TestHostInstall(t *testing.T) {
	s := newSite(t)
	s.withoutVev()
	require.Contains(t, s.near.fails(1, "new", "far:work", "-d"), "vev host install far")
	installed := s.far.path(".local/bin/vev")
	said := s.near.ok("host", "install", "far")
	require.Contains(t, said, installed+" is this vev now")
	same := func() {
		t.Helper()
		want, err := os.ReadFile(vev)
		require.NoError(t, err)
		got, err := os.ReadFile(installed)
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "it is this program")
		left, err := filepath.Glob(s.far.path(".local/bin/.vev*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	same()
	require.Equal(t, "far:work\n", s.near.ok("new", "far:work", "-d", "--", "cat"), "it is found, though PATH does not have it")
	daemon := s.far.one("_daemon")

	// What runs goes on, with the file it was started from.
	s.near.ok("host", "install", "far")
	same()
	require.Equal(t, daemon, s.far.one("_daemon"))
	s.near.ok("send", "far:work", "on and on")
	s.near.waitText("far:work", "on and on")

	// One that will do stays, one that will not is replaced, and then the machine is added.
	require.NoError(t, os.Remove(installed))
	require.NoError(t, os.Symlink(vev, installed))
	a := s.near.vev("host", "add", "far", "--install")
	require.Zero(t, a.code, a.stderr)
	require.Contains(t, a.stdout, "not needed")
	info, err := os.Lstat(installed)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	s.near.ok("host", "rm", "far")
	require.NoError(t, os.Remove(installed))
	require.NoError(t, os.WriteFile(installed, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	a = s.near.vev("host", "add", "far", "--install")
	require.Zero(t, a.code, a.stderr)
	require.Regexp(t, `(?s)is this vev now.*added far\n$`, a.stdout)
	same()
	s.near.ok("host", "rm", "far")
	require.NoError(t, os.Remove(installed))

	for name, c := range map[string]struct {
		shim, script, reason, hint string
	}{
		"another machine": {"uname", `case $1 in -s) echo Linux;; *) echo sparc64;; esac`, "it is Linux on sparc64, which vev is not made for", ""},
		"another system":  {"uname", `case $1 in -s) echo Plan9;; *) echo amd64;; esac`, "it is Plan9 on amd64, which vev is not made for", ""},
		"no program here": {"uname", `case $1 in -s) echo Darwin;; *) echo arm64;; esac`, "it is darwin/arm64, this vev is not", "vev-darwin-arm64"},
		"a full disk":     {"cat", `[ $# -gt 0 ] && exec /bin/cat "$@"; head -c 1000; echo "cat: No space left" >&2; exit 1`, "the copy is not whole: cat: No space left", "free space"},
	} {
		s.shim(c.shim, c.script)
		a := s.near.vev("host", "add", "far", "--install")
		require.Equal(t, map[bool]int{true: 3, false: 1}[c.shim == "cat"], a.code, name)
		require.Contains(t, a.stderr, c.reason, name)
		require.Contains(t, a.stderr, c.hint, name)
		require.NoFileExists(t, installed)
		left, err := filepath.Glob(s.far.path(".local/bin/.vev*"))
		require.NoError(t, err)
		require.Empty(t, left, name)
		require.NotContains(t, s.near.ok("host", "ls"), "far", "nothing was added")
		require.NoError(t, os.Remove(s.far.path("bin/"+c.shim)))
	}
}

// TestHostInstallForAnotherMachine: the neighbour that is for the machine is copied, and one that does not run there is not left there.
func TestHostInstallForAnotherMachine(t *testing.T) {
	s := newSite(t)
	s.withoutVev()
	here := s.near.path("opt/bin")
	require.NoError(t, os.MkdirAll(here, 0o700))
	ours, err := os.ReadFile(vev)
	require.NoError(t, err)
	program := s.near.write("opt/bin/vev", ours)
	require.NoError(t, os.Chmod(program, 0o700))
	run := func(args ...string) answer {
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = s.near.env, s.near.dir
		return finish(t, cmd)
	}
	// It says that it is an ARM machine, and what is for that is a program that this one cannot run.
	s.shim("uname", `case $1 in -s) echo Linux;; *) echo aarch64;; esac`)
	arm := []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xb7\x00" + strings.Repeat("\x00", 100))
	for _, place := range []string{"opt/bin/vev-linux-arm64", "opt/share/vev/vev-linux-arm64"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(s.near.path(place)), 0o700))
		s.near.write(place, arm)
		a := run("host", "install", "far")
		require.Equal(t, 1, a.code)
		require.Contains(t, a.stderr, s.near.path(place)+" does not run there: ")
		require.NoFileExists(t, s.far.path(".local/bin/vev"))
		s.near.write(place, ours) // named for ARM, but is not
		a = run("host", "install", "far")
		require.Equal(t, 1, a.code)
		require.Contains(t, a.stderr, s.near.path(place)+" is no program for linux/arm64")
		require.NoError(t, os.Remove(s.near.path(place)))
	}
}

// TestHostInstallIsCutOff: a connection that ends amid the copy leaves nothing behind.
func TestHostInstallIsCutOff(t *testing.T) {
	s := newSite(t)
	s.withoutVev()
	s.shim("cat", `[ $# -gt 0 ] && exec /bin/cat "$@"; head -c 100000; echo begun >`+s.far.path("begun")+`; exec /bin/cat`)
	s.shim("head", `exec dd bs=1000 count=100 iflag=fullblock 2>/dev/null`)
	s.shim("wc", `while [ ! -e `+s.far.path("cut")+` ]; do sleep 0.05; done; exec /usr/bin/wc "$@"`) // a whole copy is looked at
	cmd := s.near.command("host", "install", "far")
	ended := make(chan answer, 1)
	go func() { ended <- finish(t, cmd) }()
	eventually(t, "the copy has begun", func() bool { _, err := os.Stat(s.far.path("begun")); return err == nil })
	for _, pid := range s.ssh() {
		kill9(t, pid)
	}
	s.far.write("cut", nil)
	a := <-ended
	require.Equal(t, 3, a.code, a.stderr)
	require.Contains(t, a.stderr, "the connection ended")
	eventually(t, "nothing is left", func() bool {
		left, err := filepath.Glob(s.far.path(".local/bin/*vev*"))
		hidden, _ := filepath.Glob(s.far.path(".local/bin/.vev*"))
		return err == nil && len(left) == 0 && len(hidden) == 0
	})
}

// TestHostVersions: a peer whose range of versions overlaps works; with others both versions are named, and it is said what helps.
func TestHostVersions(t *testing.T) {
	s := newSite(t)
	// Its answers are written down: to the preamble, and, when a stream was asked for, what is behind.
	other := func(low, high uint32, registered *protocol.Registered, later ...protocol.BrokerServerMessage) {
		t.Helper()
		theirs := protocol.NewHello(protocol.BrokerServer, "vev 9.0")
		theirs.MinVersion, theirs.MaxVersion = low, high
		answer, behind := answerOf(t, theirs), new(bytes.Buffer)
		say := func(b *bytes.Buffer, m protocol.BrokerServerMessage) {
			require.NoError(t, streamframe.NewWriter(b).WriteWith(func(dst []byte) ([]byte, error) { return brokerwire.AppendServer(dst, m) }))
		}
		if registered != nil {
			say(answer, registered)
		}
		for _, m := range later {
			say(behind, m)
		}
		s.far.write("answer", answer.Bytes())
		s.far.write("behind", behind.Bytes())
		// A stream is asked for in the third frame that comes.
		s.shim("vev", fmt.Sprintf(`frame() {
	set -- $(dd bs=1 count=4 2>/dev/null | od -An -tu1)
	[ $# = 4 ] || exit 0
	dd bs=1 count=$((($1 << 24) + ($2 << 16) + ($3 << 8) + $4)) of=/dev/null 2>/dev/null
}
case $1 in
version) echo '{"version": "9.0", "protocol": {"min": %d, "max": %d}}';;
_broker-mux-stdio) cat %s; frame; frame; frame; cat %s; exec cat >/dev/null;;
esac`, low, high, s.far.path("answer"), s.far.path("behind")))
		s.near.vev("host", "rm", "far") // it may not be there
		if broker := s.near.role("_broker"); len(broker) > 0 {
			s.restart()
		}
	}
	const low, high = protocol.MinVersion, protocol.MaxVersion
	for _, c := range []struct {
		name      string
		low, high uint32
		hint      string
	}{
		{"higher", high + 1, high + 3, "this vev is older: upgrade it"},
		{"lower", 0, low - 1, "the other side is older"},
	} {
		other(c.low, c.high, nil)
		named := fmt.Sprintf("vev 9.0 speaks versions %d to %d, this is vev .* with versions %d to %d", c.low, c.high, low, high)
		said := s.near.fails(3, "ls", "far")
		require.Regexp(t, named, said, c.name)
		require.Contains(t, said, c.hint)
		require.Contains(t, said, "vev host install far puts this one there")
		a := s.near.vev("host", "check", "far")
		require.Equal(t, 3, a.code)
		require.Regexp(t, `version +fail +\d+ ms  vev 9.0 there speaks versions `, a.stdout)
		require.Contains(t, a.stderr, "vev host install far")
		require.Regexp(t, "far was added, but cannot be used now: "+named, s.near.fails(3, "host", "add", "far"))
	}
	scope := protocol.Scope{BrokerEpoch: 1, Connection: protocol.ConnectionID{1}}
	other(low, high+2, &protocol.Registered{Scope: scope}, &protocol.StreamClosed{
		Ref: protocol.StreamRef{Scope: scope, ID: 1}, Failure: &protocol.Failure{Kind: fault.NotFound, Text: "no daemon runs"},
	})
	require.Equal(t, "no sessions\n", s.near.vev("ls", "far").stderr)
	s.restart()
	require.Regexp(t, `version +ok +\d+ ms  vev 9.0, protocol 1 to 3,(.|\n)*none runs`, s.near.ok("host", "check", "far"))
}

// answerOf is what a vev that is called answers to this one's preamble, whether it agrees or not.
func answerOf(t *testing.T, theirs protocol.Hello) *bytes.Buffer {
	t.Helper()
	near, far := net.Pipe()
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = streamframe.ClientHandshake(streamframe.NewReader(near), near, protocol.NewHello(protocol.BrokerClient, "vev"))
	}()
	var answer bytes.Buffer
	_, _ = streamframe.ServerHandshake(streamframe.NewReader(far), io.MultiWriter(far, &answer), theirs)
	<-called
	require.NotZero(t, answer.Len())
	return &answer
}

// TestHostAsksInTheTerminal: what ssh wants to know it asks where the command was typed, once for all that an installation does.
func TestHostAsksInTheTerminal(t *testing.T) {
	s := newSite(t)
	s.withoutVev()
	key := s.near.path("locked")
	output(t, exec.Command(need(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "sesame", "-f", key))
	s.far.write("etc/authorized_keys", []byte(s.near.read("locked.pub")))
	s.near.write("ssh_config", fmt.Appendf(nil, "Host far\nHostName 127.0.0.1\nPort %d\nIdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s/known_hosts\n",
		s.port, key, s.near.dir))
	require.Contains(t, s.near.fails(1, "host", "install", "far"), "Permission denied", "nobody can be asked")
	tt := newTerm(t, 100, 30)
	p := tt.vev(s.near, "host", "add", "far", "--install")
	tt.sees("Enter passphrase for key")
	tt.typ("sesame\r")
	tt.sees("is this vev now")
	tt.sees("added far")
	tt.until("a second question, for the link", func(screen *vt.Terminal) bool { return strings.Count(textOf(screen), "Enter passphrase") == 2 })
	tt.typ("sesame\r")
	require.Zero(t, p.exits())
	require.FileExists(t, s.far.path(".local/bin/vev"))
	p = tt.vev(s.near, "host", "check", "far") // its link is there
	tt.until("a question", func(screen *vt.Terminal) bool { return strings.Count(textOf(screen), "Enter passphrase") == 3 })
	tt.typ("\x03")
	require.Equal(t, 1, p.exits())
	tt.sees("ssh asked something and got no answer")
}
