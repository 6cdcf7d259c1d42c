//go:build linux

package e2e

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// site is another machine: a home with an sshd of its own, and a home here that knows the way to it as "far".
type site struct {
	near, far *home
	port      int
	user      string
	config    string // of ssh, here
	program   string // ssh
	sshd      []string
	pid       int // of sshd
}

// sshdConfig: a user's sshd. The variables make the login's home that of the site.
const sshdConfig = `Port %[1]d
ListenAddress 127.0.0.1
ListenAddress ::1
HostKey %[2]s/host_key
AuthorizedKeysFile %[2]s/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
SetEnv HOME=%[3]s VEV_HOME=%[3]s/vev PATH=%[4]s PS1=far$
`

const sshConfig = `Host far
HostName 127.0.0.1
Port %[1]d
Host ::1
Port %[1]d
Host *
IdentityFile %[2]s/key
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile %[2]s/known_hosts
`

// newSite makes keys, starts an sshd and waits until it listens. vev is in PATH there.
func newSite(t *testing.T) *site { return newSiteWith(t, "", nil) }

// newSiteWith puts settings before the sshd's own, where the first of a name counts, and starts it behind the words that
// before returns for the site.
func newSiteWith(t *testing.T, settings string, before func(s *site) []string) *site {
	t.Helper()
	keygen, ssh := need(t, "ssh-keygen"), need(t, "ssh")
	sshd, err := exec.LookPath("sshd") // it wants to be started by its whole path
	if err != nil {
		sshd = need(t, "/usr/sbin/sshd")
	}
	s := &site{near: newHome(t), far: newHome(t), port: freePort(t), user: "root", program: ssh}
	if os.Getuid() == 0 {
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755)) // for its unprivileged part
	} else {
		s.user = output(t, exec.Command("id", "-un"))
	}
	etc := s.far.path("etc")
	require.NoError(t, os.MkdirAll(etc, 0o700))
	for _, key := range []string{filepath.Join(etc, "host_key"), s.near.path("key")} {
		output(t, exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", key))
	}
	s.far.write("etc/authorized_keys", []byte(s.near.read("key.pub")))
	s.trust(s.far.read("etc/host_key.pub"))
	bin := s.far.path("bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	require.NoError(t, os.Symlink(vev, filepath.Join(bin, "vev")))
	conf := s.far.write("etc/sshd_config", fmt.Appendf([]byte(settings), sshdConfig, s.port, etc, s.far.dir, bin+":/usr/bin:/bin"))

	// ssh takes the home of its user from the system, whatever HOME says: so a user's own ssh is one with -F.
	s.config = s.near.write("ssh_config", fmt.Appendf(nil, sshConfig, s.port, s.near.dir))
	here := s.near.path("bin")
	require.NoError(t, os.MkdirAll(here, 0o700))
	wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, s.config)
	require.NoError(t, os.WriteFile(filepath.Join(here, "ssh"), []byte(wrapper), 0o700))
	s.near = s.near.with("PATH=" + here + ":" + os.Getenv("PATH"))

	argv := []string{sshd, "-D", "-e", "-f", conf}
	if before != nil {
		argv = append(before(s), argv...)
	}
	s.sshd = argv
	s.listen()
	t.Cleanup(s.away)
	return s
}

// listen starts sshd and waits until it listens.
func (s *site) listen() {
	t := s.near.t
	t.Helper()
	cmd := exec.Command(s.sshd[0], s.sshd[1:]...)
	cmd.Env = append(s.far.env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	require.NoError(t, cmd.Start())
	s.pid = cmd.Process.Pid
	eventually(t, "sshd listens", func() bool {
		conn, err := net.Dial("tcp", s.addr())
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// away kills sshd, and the processes of it that serve connections: a home does not know them for its own, since they
// write their titles over their environment. It may be called again.
func (s *site) away() {
	if s.pid == 0 {
		return
	}
	// It is stopped first: who loses a connection asks for another at once, and would get it.
	_ = syscall.Kill(s.pid, syscall.SIGSTOP)
	eventually(s.near.t, "sshd stands still", func() bool { return procState(s.pid) == "T" })
	for _, pid := range append(descendants(s.pid), s.pid) {
		if strings.HasPrefix(procFile(pid, "comm"), "sshd") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	waitGone(s.near.t, s.pid)
	s.pid = 0
}

// sshOnly keeps links to the site from going over QUIC.
func (s *site) sshOnly() {
	s.near.t.Helper()
	s.near.vev("host", "add", "far", "--transport", "ssh") // which cannot use it yet where ssh must ask
	s.restart()                                            // it has looked whether there are sessions
}

// restart ends the broker here, and with it its links: the next command makes new ones.
func (s *site) restart() {
	s.near.t.Helper()
	broker := s.near.one("_broker")
	require.NoError(s.near.t, syscall.Kill(broker, syscall.SIGTERM))
	waitGone(s.near.t, broker)
	eventually(s.near.t, "ssh ends with its broker", func() bool { return len(s.ssh()) == 0 })
}

// oneSSH waits until one process of ssh is left: others that were begun to find a way may be ending.
func (s *site) oneSSH() (pid int) {
	s.near.t.Helper()
	eventually(s.near.t, "one ssh is left", func() bool {
		found := s.ssh()
		if len(found) == 1 {
			pid = found[0]
		}
		return len(found) == 1
	})
	return pid
}

// ssh are the processes of ssh here.
func (s *site) ssh() (found []int) {
	for _, pid := range s.near.processes() {
		if strings.HasPrefix(procFile(pid, "cmdline"), s.program+"\x00") {
			found = append(found, pid)
		}
	}
	return found
}

func (s *site) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// trust makes a public key the one that ssh here knows the site by.
func (s *site) trust(key string) {
	s.near.t.Helper()
	s.near.write("known_hosts", fmt.Appendf(nil, "[127.0.0.1]:%[1]d %[2]s[::1]:%[1]d %[2]s", s.port, key))
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	a := finish(t, cmd)
	require.Zero(t, a.code, "%v: %s", cmd.Args, a.stderr)
	return strings.TrimSpace(a.stdout)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestSSHEveryCommandTakesAnAddress: each form of an address leads to the same session.
func TestSSHEveryCommandTakesAnAddress(t *testing.T) {
	s := newSite(t)
	require.Equal(t, "far:work\n", s.near.ok("new", "far:work", "-d", "-e", "WHO=me", "--", "sh"))
	require.Empty(t, s.near.role("_daemon"), "nothing is started here but the broker")
	forms := []string{
		"far:work", s.user + "@far:work", "[::1]:work",
		fmt.Sprintf("ssh://127.0.0.1:%d/work", s.port), fmt.Sprintf("ssh://%s@[::1]:%d/work", s.user, s.port),
	}
	for i, form := range forms {
		s.near.ok("send", form, fmt.Sprintf("echo $WHO-%d-$((%d+1)) in $HOME", i, i))
		s.near.ok("key", form, "Enter")
		s.near.waitText(form, fmt.Sprintf("^me-%d-%d in %s$", i, i+1, s.far.dir))
		require.Contains(t, s.near.ok("capture", form), s.far.dir)
	}
	require.Equal(t, "work", s.far.session("work").Name, "it is the far machine's own")
	require.Contains(t, s.near.ok("ls", "far"), "work")
	require.Contains(t, s.near.ok("ls", s.user+"@far"), "work")
	require.Empty(t, s.near.ok("ls"))

	require.Equal(t, "far:0\n", s.near.ok("new", "far:", "-d", "--", "sh", "-c", "pwd; env; echo that is all; exec cat"))
	s.near.waitText("far:0", "^that is all$")
	environment := s.near.ok("capture", "far:0", "--history", "1000")
	require.True(t, strings.HasPrefix(environment, s.far.dir+"\n"), "it starts in the home directory there")
	require.Contains(t, environment, "HOME="+s.far.dir)
	require.NotContains(t, environment, s.near.dir, "nothing of this machine's environment")
	require.NotContains(t, environment, "SSH_", "nor of the login that started the daemon")
	pasted := finish(t, s.near.command("paste", "far:0", s.near.write("paste.txt", []byte("pasted text\n"))))
	require.Zero(t, pasted.code, pasted.stderr)
	s.near.waitText("far:0", "^pasted text$")
	s.near.ok("resize", "far:0", "91x17")
	s.near.ok("rename", "far:0", "job")
	job := s.far.session("job")
	require.Equal(t, [2]int{91, 17}, [2]int{job.Cols, job.Rows})

	tt := newTerm(t, 91, 17)
	p := tt.vev(s.near, "attach", s.user+"@far:job")
	tt.sees("pasted text")
	require.Contains(t, s.near.ok("clients", "far:"), "job")
	s.near.ok("detach", "far:job")
	require.Zero(t, p.exits())
	tt.sees("detached from session " + s.user + "@far:job")
	s.near.ok("new", "here", "-d", "--", "cat")
	require.Equal(t, "killed far:job\nkilled here\nkilled far:work\n", s.near.ok("kill", "far:job", "here", "far:work"))
	require.Equal(t, "7\n", s.near.ok("wait", strings.TrimSpace(s.near.ok("new", "far:end", "-d", "--", "sh", "-c", "exit 7")), "--exit"))
}

// TestSSHShowsNoSecrets: of what a first link is wanted for its command line has the name of a session that is attached to, and
// never what was typed, a command, an environment or a token.
func TestSSHShowsNoSecrets(t *testing.T) {
	s := newSite(t)
	lines := s.near.path("ssh_lines")
	wrapper := fmt.Sprintf("#!/bin/sh\n{ printf '%%s\\n' \"$@\"; tr '\\0' '\\n' </proc/self/environ; } >>%s\nexec %s -F %s \"$@\"\n", lines, s.program, s.config)
	s.near.write("bin/ssh", []byte(wrapper))
	s.sshOnly()
	// began are the bytes that command lines have had for the helper since the last call.
	began := func() (all []byte) {
		t.Helper()
		text := s.near.read("ssh_lines")
		s.near.write("ssh_lines", nil)
		require.Contains(t, text, "_broker-mux-stdio", "there was a link")
		require.NotContains(t, text, "hush")
		for _, word := range regexp.MustCompile(`(?m)_broker-mux-stdio.* vev (\S+)$`).FindAllStringSubmatch(text, -1) {
			first, err := base64.RawURLEncoding.DecodeString(word[1])
			require.NoError(t, err)
			all = append(all, first...)
		}
		require.NotContains(t, string(all), "hush")
		return all
	}
	private := func(what string) {
		t.Helper()
		require.Empty(t, began(), what)
		for _, pid := range append(s.near.processes(), s.far.processes()...) {
			require.NotRegexp(t, `VEV_AHEAD=[^\x00]`, procFile(pid, "environ"), what)
		}
	}
	s.near.ok("new", "far:work", "-d", "-e", "KEY=hush-value", "--", "sh", "-c", "echo $KEY; : hush-argument; exec cat")
	private("new")
	s.restart() // the next link is a new broker's first
	s.near.ok("send", "far:work", "hush-sent\n")
	private("send")
	s.restart()
	pasted := finish(t, s.near.command("paste", "far:work", s.near.write("paste.txt", []byte("hush-pasted\n"))))
	require.Zero(t, pasted.code, pasted.stderr)
	private("paste")
	s.restart()
	s.near.waitText("far:work", "^hush-pasted$")
	private("wait")
	s.restart()
	s.near.ok("key", "far:work", "h", "Enter")
	private("key")
	s.restart()

	tt := newTerm(t, 80, 24)
	p := tt.vev(s.near.with("TERM_PROGRAM=shown"), "attach", "far:work")
	tt.sees("hush-pasted")
	first := string(began())
	require.Contains(t, first, "work")
	require.NotContains(t, first, "xterm", "nothing of the environment")
	require.NotContains(t, first, "shown")
	eventually(t, "the terminal is told behind that", func() bool {
		return strings.Contains(s.near.ok("clients", "far:"), "xterm-256color (shown)")
	})
	broker := s.near.one("_broker")
	require.NoError(t, syscall.Kill(broker, syscall.SIGTERM))
	waitGone(t, broker)
	tt.typ("typed\r")
	tt.sees("typed\ntyped")
	private("resume")
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
	s.restart()

	made := tt.vev(s.near, "new", "far:other", "-e", "KEY=hush-value", "--", "sh", "-c", "echo ready; exec cat")
	tt.sees("ready")
	private("new, attached")
	tt.typ("\x1cd")
	require.Zero(t, made.exits())
}

// TestSSHOneForAll: clients that come at once share one ssh, which stays for the next ones.
func TestSSHOneForAll(t *testing.T) {
	s := newSite(t)
	s.sshOnly() // QUIC begins with another one
	answers := make([]answer, 12)
	atOnce(len(answers), func(i int) {
		answers[i] = s.near.vev("new", fmt.Sprintf("far:s%d", i), "-d", "--", "cat")
	})
	for i, a := range answers {
		require.Zero(t, a.code, a.stderr)
		require.Equal(t, fmt.Sprintf("far:s%d\n", i), a.stdout)
	}
	ssh := s.ssh()
	require.Len(t, ssh, 1)
	require.Len(t, s.far.ls(), len(answers))
	s.near.ok("kill", "far:s0", "far:s1")
	require.Equal(t, ssh, s.ssh())
	eventually(t, "one is left there, too", func() bool { return len(s.far.role("_broker-mux-stdio")) == 1 })
}

// TestSSHBehindAShellThatTalks: what start-up files print does no harm, and too much of it is said.
func TestSSHBehindAShellThatTalks(t *testing.T) {
	s := newSite(t)
	s.far.write("etc/authorized_keys", []byte(`command="printf 'Welcome to far'; eval \"$SSH_ORIGINAL_COMMAND\"" `+s.near.read("key.pub")))
	s.near.ok("new", "far:work", "-d", "--", "cat")
	require.Contains(t, s.near.ok("ls", "far"), "work")
	s.restart()
	s.far.write("etc/authorized_keys", []byte(`command="yes Welcome" `+s.near.read("key.pub")))
	a := s.near.vev("ls", "far")
	require.Equal(t, 1, a.code)
	require.Contains(t, a.stderr, `vev: far: its shell says "Welcome" and does not start vev`)
	eventually(t, "it is not listened to any more", func() bool { return len(s.ssh()) == 0 })
}

// TestSSHSaysWhatIsWrong: each failure is one line that names the host, and a hint that says what to do. Nobody is asked.
func TestSSHSaysWhatIsWrong(t *testing.T) {
	s := newSite(t)
	fails := func(code int, what, hint string, args ...string) {
		t.Helper()
		a := s.near.vev(args...)
		require.Equal(t, code, a.code, "%v: %s", args, a.stderr)
		lines := strings.Split(strings.TrimSpace(a.stderr), "\n")
		require.Len(t, lines, 2, "%q", a.stderr)
		require.Regexp(t, "^vev: "+what, lines[0])
		require.Regexp(t, "^hint: .*"+hint, lines[1])
		require.Empty(t, a.stdout)
	}
	fails(1, `far: no session "none"`, "vev new", "capture", "far:none")
	require.Empty(t, s.near.ok("ls", "far"), "no daemon runs there: there are no sessions")
	require.Empty(t, s.far.role("_daemon"), "and none was started to say so")

	unused := fmt.Sprintf("ssh://127.0.0.1:%d", freePort(t))
	fails(3, unused+": ssh: connect to host 127.0.0.1 .*Connection refused", "ssh "+unused, "ls", unused)
	// What is no name at all is not looked for in the network.
	fails(3, "no..host: ssh: Could not resolve hostname", "check the name", "clients", "no..host:work")

	s.near.write("known_hosts", nil)
	s.restart()
	fails(1, "far: ssh does not know its host key", "ssh far$", "ls", "far")
	other := s.near.path("other")
	output(t, exec.Command(need(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", other))
	s.trust(s.near.read("other.pub"))
	fails(1, "far: its host key is not the one that ssh knows", "find out why", "kill", "far:work")
	s.trust(s.far.read("etc/host_key.pub"))

	s.far.write("etc/authorized_keys", []byte(s.near.read("other.pub")))
	fails(1, "far: ssh: .*Permission denied .publickey", "ssh-add", "send", "far:work", "x")
	s.far.write("etc/authorized_keys", []byte(s.near.read("key.pub")))

	require.NoError(t, os.Remove(s.far.path("bin/vev")))
	fails(1, "far: there is no vev there", "vev host install far", "new", "far:work", "-d")
	s.far.write("bin/vev", []byte("not a program\x00\x00"))
	require.NoError(t, os.Chmod(s.far.path("bin/vev"), 0o700))
	fails(3, "far: vev ended there: .*vev", "vev doctor", "new", "far:work", "-d")
	require.NoError(t, os.Remove(s.far.path("bin/vev")))

	s.far.write("etc/authorized_keys", []byte(`command="echo; echo This account is closed." `+s.near.read("key.pub")))
	fails(1, `far: its shell says "This account is closed."`, "ssh far true", "ls", "far")
	s.far.write("etc/authorized_keys", []byte(s.near.read("key.pub")))

	require.NoError(t, os.MkdirAll(s.far.path(".local/bin"), 0o700))
	require.NoError(t, os.Symlink(vev, s.far.path(".local/bin/vev")))
	require.Equal(t, "far:work\n", s.near.ok("new", "far:work", "-d", "--", "cat"), "PATH does not have ~/.local/bin")
	fails(2, `cannot start in src`, "-c /DIR", "new", "far:", "-d", "-c", "src")
	fails(1, `far: session "work" exists`, "", "new", "far:work", "-d")
	eventually(t, "no ssh is left of those that failed", func() bool { return len(s.ssh()) == 1 })
}

// TestSSHKilledWhileTyping: an attachment goes on over another ssh when its own is killed, again and again; what is typed
// meanwhile arrives once and in order, and nothing is left of the old ways, here or there.
func TestSSHKilledWhileTyping(t *testing.T) {
	const size, bit = 64 << 10, 256
	s := newSite(t)
	s.sshOnly()
	text := pasteText(size)
	script := fmt.Sprintf("stty raw -echo; echo ready; head -c %d > raw.out; head -c 3 > raw.tail; stty sane; exec cat", size)
	s.near.ok("new", "far:raw", "-d", "-c", s.far.dir, "--", "sh", "-c", script)
	tt := newTerm(t, 80, 24)
	p := tt.vev(s.near, "attach", "far:raw")
	tt.sees("ready")
	pasted := make(chan error, 1)
	go func() {
		pace := time.NewTicker(5 * time.Second / (size / bit))
		defer pace.Stop()
		for rest := text; len(rest) > 0; rest = rest[bit:] {
			if _, err := tt.master.WriteString(rest[:bit]); err != nil {
				pasted <- err
				return
			}
			<-pace.C
		}
		pasted <- nil
	}()
	beat := time.NewTicker(500 * time.Millisecond)
	defer beat.Stop()
	kills := 0
	late := time.Now().Add(patience)
	for i := 0; i < 9 || kills <= 4; i++ { // on a slow machine an ssh is there after some beats
		require.True(t, time.Now().Before(late), "ssh was killed %d times", kills)
		<-beat.C
		for _, pid := range s.ssh() {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
			}
		}
	}
	require.NoError(t, <-pasted)
	tt.typ("END")
	eventually(t, "the end of the text", func() bool {
		b, _ := os.ReadFile(s.far.path("raw.tail"))
		return len(b) == 3
	})
	requireSame(t, text, s.far.read("raw.out"))
	require.Equal(t, "END", s.far.read("raw.tail"), "nothing came twice")

	// Of what is typed right after a cut, the answer comes soon.
	for i := range 3 {
		kill9(t, s.oneSSH())
		cut := time.Now()
		tt.typ(fmt.Sprintf("after%d\r", i))
		tt.sees(fmt.Sprintf("after%d\nafter%d", i, i)) // the terminal's echo, and cat's
		took := time.Since(cut)
		t.Logf("back after %v", took)
		require.Less(t, took, 5*time.Second)
	}
	// A connection that is silent, and not closed, is left for another one; its ssh ends though it is stopped.
	old := s.oneSSH()
	require.NoError(t, syscall.Kill(old, syscall.SIGSTOP))
	tt.typ("silent\r")
	tt.sees("silent\nsilent")
	waitGone(t, old)

	eventually(t, "one way is left", func() bool {
		return len(s.ssh()) == 1 && len(s.far.role("_broker-mux-stdio")) == 1
	})
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
	tt.sees("detached from session far:raw")
	s.restart()
	eventually(t, "nothing is left there but the session", func() bool { return len(s.far.role("_broker-mux-stdio")) == 0 })
	require.Equal(t, 0, s.far.session("raw").Attached)
	require.Equal(t, "killed far:raw\n", s.near.ok("kill", "far:raw"))
	require.Empty(t, s.far.ls())
}

// TestSSHHasTheNewestClientsAgent: the broker was started by a login without an agent; who comes with one is let in.
func TestSSHHasTheNewestClientsAgent(t *testing.T) {
	s := newSite(t)
	key, socket := s.near.path("key"), s.near.path("agent")
	s.near.write("ssh_config", fmt.Appendf(nil, "Host far\nHostName 127.0.0.1\nPort %d\nIdentityFile %s/none\nUserKnownHostsFile %s/known_hosts\n",
		s.port, s.near.dir, s.near.dir))
	agent := exec.Command(need(t, "ssh-agent"), "-D", "-a", socket)
	agent.Env = s.near.env
	require.NoError(t, agent.Start())
	eventually(t, "the agent listens", func() bool { _, err := os.Stat(socket); return err == nil })
	add := exec.Command(need(t, "ssh-add"), "-q", key)
	add.Env = append(s.near.env, "SSH_AUTH_SOCK="+socket)
	output(t, add)

	require.Contains(t, s.near.vev("ls", "far").stderr, "Permission denied")
	broker := s.near.one("_broker")
	require.Zero(t, s.near.with("SSH_AUTH_SOCK="+socket).vev("ls", "far").code)
	require.Equal(t, broker, s.near.one("_broker"))
}

// TestSSHAsksInTheTerminal: what ssh wants to know it asks where the command was typed, before a session is shown; an
// answer leads on, none ends the attempt, and two terminals that ask at once each have their own.
func TestSSHAsksInTheTerminal(t *testing.T) {
	s := newSite(t)
	output(t, exec.Command(need(t, "ssh-keygen"), "-q", "-p", "-P", "", "-N", "sesame", "-f", s.near.path("key")))
	s.near.write("known_hosts", nil)
	a := s.near.vev("ls", "far")
	require.Equal(t, 1, a.code, "without a terminal nobody is asked")
	require.Contains(t, a.stderr, "ssh does not know its host key")

	s.far.sh("work", "echo here; exec cat")
	tt := newTerm(t, 100, 24)
	declined := tt.vev(s.near, "attach", "far:work")
	tt.sees("far: The authenticity of host")
	tt.typ("\x03")
	require.Equal(t, 1, declined.exits())
	tt.sees("vev: far: ssh asked something and got no answer")
	require.Empty(t, s.near.read("known_hosts"))
	eventually(t, "no ssh is left", func() bool { return len(s.ssh()) == 0 })

	attached := tt.vev(s.near, "attach", "far:work")
	tt.sees("(yes/no/[fingerprint])?")
	tt.typ("yes\r")
	tt.sees("Enter passphrase for key")
	other := newTerm(t, 100, 24)
	aside := other.vev(s.near, "ls", fmt.Sprintf("ssh://%s@127.0.0.1:%d", s.user, s.port))
	other.sees("Enter passphrase for key")
	other.typ("wrong\x15sesame\r")
	other.sees("work")
	require.Zero(t, aside.exits())
	require.NotContains(t, other.text(), "sesame")
	tt.typ("wrong\r")
	tt.until("a second question", func(screen *vt.Terminal) bool { return strings.Count(textOf(screen), "Enter passphrase") == 2 })
	tt.typ("sesame\r")
	tt.sees("here")
	tt.typ("typed\r")
	tt.sees("typed\ntyped")
	require.NotEmpty(t, s.near.read("known_hosts"))
	for _, pid := range s.near.processes() {
		require.NotContains(t, procFile(pid, "cmdline")+procFile(pid, "environ"), "sesame")
	}
	tt.typ("\x1cd")
	require.Zero(t, attached.exits())
	require.Contains(t, s.near.ok("ls", "far"), "work", "the way is there, and nothing is asked")
	logs, err := filepath.Glob(filepath.Join(s.near.state(), "*.log"))
	require.NoError(t, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NotContains(t, string(text), "sesame")
	}
}

// newSecondFactor is a site whose sshd wants a code beside a key, by keyboard-interactive: 424242.
func newSecondFactor(t *testing.T) *site {
	t.Helper()
	needRoot(t)
	need(t, "unshare")
	const settings = "UsePAM yes\nKbdInteractiveAuthentication yes\nAuthenticationMethods publickey,keyboard-interactive\n"
	return newSiteWith(t, settings, func(s *site) []string {
		check := s.far.write("etc/check", []byte("#!/bin/sh\ntr -d '\\000' | grep -qx 424242\n"))
		require.NoError(t, os.Chmod(check, 0o700))
		pam := s.far.write("etc/pam", fmt.Appendf(nil,
			"auth required pam_exec.so quiet expose_authtok %s\nauth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n", check))
		return []string{"unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/pam.d/sshd && exec "$@"`, pam}
	})
}

// TestQUICAsksNobody: where ssh asked for a second factor QUIC takes over all the same, and nobody is asked again: not then,
// and not when contact is lost with sshd gone.
func TestQUICAsksNobody(t *testing.T) {
	s := newSecondFactor(t)
	s.far.sh("work", "echo here; exec cat")
	tt := newTerm(t, 80, 24)
	tt.vev(s.near, "attach", "far:work")
	tt.sees("Password:")
	tt.typ("424242\r")
	tt.sees("here")
	eventually(t, "ssh is needed no more", func() bool { return len(s.ssh()) == 0 })
	s.away()
	tt.typ("typed\r")
	tt.sees("typed\ntyped")
	require.NotContains(t, tt.text(), "Password")
}

// TestSSHAsksForASecondFactor: beside a key the sshd wants a code, by keyboard-interactive. It is asked again after a wrong
// one, and in the terminal of whoever wants the host while the first one's question stands.
func TestSSHAsksForASecondFactor(t *testing.T) {
	s := newSecondFactor(t)
	s.sshOnly()
	s.far.sh("work", "echo here; exec cat")
	a := s.near.vev("ls", "far")
	require.Contains(t, a.stderr, "Permission denied (keyboard-interactive)", "without a terminal nobody is asked")

	first, second := newTerm(t, 100, 24), newTerm(t, 100, 24)
	gone := first.vev(s.near, "attach", "far:work")
	first.sees("far: (" + s.user + "@127.0.0.1) Password:")
	attached := second.vev(s.near, "attach", "far:work")
	first.typ("\x03")
	require.Equal(t, 1, gone.exits())
	second.sees("Password:")
	second.typ("111111\r")
	second.until("a second question", func(screen *vt.Terminal) bool { return strings.Count(textOf(screen), "Password:") == 2 })
	second.typ("424242\r")
	second.sees("here")
	third := newTerm(t, 100, 24)
	aside := third.vev(s.near, "ls", "far")
	third.sees("work")
	require.Zero(t, aside.exits(), "the way is shared, and nobody is asked again")

	// Over a session's screen too: what is typed is the answer until it is given, then the session's again.
	lost := func() {
		for _, pid := range s.ssh() {
			kill9(t, pid)
		}
		second.sees("Password: (Enter answers, Esc gives up)")
	}
	lost()
	second.typ("424242\r")
	second.until("the session alone", func(screen *vt.Terminal) bool { return !strings.Contains(textOf(screen), "Password:") })
	second.typ("typed\r")
	second.sees("typed\ntyped")
	require.NotContains(t, second.text(), "424242")
	lost()
	second.typ("\x1b")
	require.Equal(t, 1, attached.exits())
	second.sees("vev: far: contact was lost, and ssh is not let in any more")
	second.sees("the session goes on; vev attach far:work asks")
}

// TestSSHComesBack: the machine cannot be reached for a while, and the broker here is killed: each time the attachment goes
// on with what was typed meanwhile, and no ssh is left over.
func TestSSHComesBack(t *testing.T) {
	s := newSite(t)
	s.sshOnly() // a link over QUIC would outlive sshd
	s.near.ok("new", "far:work", "-d", "--", "cat")
	tt := newTerm(t, 80, 24)
	p := tt.vev(s.near, "attach", "far:work")
	tt.until("the session", func(*vt.Terminal) bool { return tt.total > 0 })
	tt.typ("first\r")
	tt.sees("first\nfirst")

	s.away()
	tt.typ("meanwhile\r")
	waits := regexp.MustCompile(`reconnecting for \d+ s: 10 keys wait`)
	tt.until("a line that says so", func(s *vt.Terminal) bool { return waits.MatchString(textOf(s)) })
	s.listen()
	tt.sees("meanwhile\nmeanwhile")

	kill9(t, s.near.one("_broker"))
	tt.typ("another\r")
	tt.sees("another\nanother")
	s.oneSSH()
	tt.typ("\x04")
	require.Zero(t, p.exits())
	require.Equal(t, 1, s.near.vev("capture", "far:work").code, "it has ended")
}

// TestSSHShares: ssh goes over a connection that the user shares, and leaves it when it is silent.
func TestSSHShares(t *testing.T) {
	s := newSite(t)
	s.sshOnly()
	socket := s.near.path("cm")
	s.near.write("ssh_config", []byte(s.near.read("ssh_config")+"ControlPath "+socket+"\n"))
	master := exec.Command(s.near.path("bin/ssh"), "-M", "-N", "far")
	master.Env = s.near.env
	require.NoError(t, master.Start())
	eventually(t, "there is a connection to share", func() bool { _, err := os.Stat(socket); return err == nil })
	logins := func() (n int) {
		for _, pid := range childrenByParent()[s.pid] {
			if procState(pid) != "Z" {
				n++
			}
		}
		return n
	}
	eventually(t, "one login is left", func() bool { return logins() == 1 })

	s.far.sh("work", "echo here; exec cat")
	tt := newTerm(t, 80, 24)
	p := tt.vev(s.near, "attach", "far:work")
	tt.sees("here")
	require.Equal(t, 1, logins(), "it is shared")
	require.NoError(t, syscall.Kill(master.Process.Pid, syscall.SIGSTOP))
	tt.typ("typed\r")
	tt.sees("typed\ntyped")
	eventually(t, "one login more", func() bool { return logins() == 2 }) // others that were begun to find a way may be ending
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
}
