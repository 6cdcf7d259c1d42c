//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/testkit/netlab"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// link is what a table wants of the network, the same in both directions: loss is each way.
type link struct {
	rtt   time.Duration
	loss  float64
	rate  int64 // bits a second, 0 for no limit
	queue int   // bytes that may wait for the rate
}

func (l link) conditions(down bool) simnet.Conditions {
	return simnet.Conditions{Delay: l.rtt / 2, Loss: l.loss, Rate: l.rate, Queue: l.queue, Down: down}
}

const (
	usualRTT = 50 * time.Millisecond
	// megabits8 is the slow link of the targets, with a queue of a quarter of a second.
	megabits8 = 8_000_000
	queue8    = 256 << 10
)

// site is one peer at work across a link of its own: its client on the near host, its sessions on the far one.
type site struct {
	*netPeer
	b    *bench
	lab  *netlab.Lab
	link link
	dir  string
	env  []string // of what runs near
	farE []string
}

const (
	sshPort      = 2222
	carriagePort = 4242
)

// site sets a peer up across a link. The caller closes it.
func (b *bench) site(p *netPeer, l link) (s *site, err error) {
	dir, err := os.MkdirTemp(b.dir, strings.ReplaceAll(p.name, "+", "-")+"-")
	if err != nil {
		return nil, err
	}
	base := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "USER=bench", "LOGNAME=bench",
		"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "VEVBENCH=" + dir,
	}
	s = &site{netPeer: p, b: b, link: l, dir: dir, env: base, farE: base}
	b.seed++
	if s.lab, err = netlab.New(b.seed, l.conditions(false), l.conditions(false)); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err = p.prepare(s); err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return s, nil
}

// close ends all the site's processes and takes the link down.
func (s *site) close() {
	endAll(func() []int {
		var pids []int
		for _, pid := range descendants(os.Getpid()) {
			if mentions(pid, s.dir) {
				pids = append(pids, pid)
			}
		}
		return pids
	})
	s.lab.Close()
	os.RemoveAll(s.dir)
}

// down makes the link a blackhole, or ends that.
func (s *site) down(down bool) {
	c := s.link.conditions(down)
	s.lab.Set(c, c)
}

// wire is how many bytes of IP packets were sent so far, both ways.
func (s *site) wire() int64 {
	up, down := s.lab.Counters()
	return up.Bytes + down.Bytes
}

// open starts one of the peer's commands in a pty on the near host.
func (s *site) open(c netCommand, session string, program []string) (*client, error) {
	return openClient(s.b.ctx, c(s, session, program), s.env, s.dir, s.lab.Near.Start)
}

// make has a session run on the far host that nobody is attached to.
func (s *site) make(session string, program []string) error {
	argv := s.detached(s, session, program)
	out, err := os.CreateTemp(s.b.dir, "out-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.farE, s.dir, out, out
	if err := s.lab.Far.Start(cmd); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		said, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%v: %w: %s", argv, err, said)
	}
	return nil
}

// settled waits until the peer's link is the one that is measured.
func (s *site) settled() error {
	if s.name != vevQUIC {
		return nil
	}
	return s.onQUIC()
}

// onQUIC waits until the attachments of vev-quic have left ssh, with which they begin: its processes end then.
func (s *site) onQUIC() error {
	config := []byte(filepath.Join(s.dir, "ssh_config"))
	for end := time.Now().Add(patience); time.Now().Before(end) && s.b.ctx.Err() == nil; s.b.pause(100 * time.Millisecond) {
		found := false
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, line := range lines {
			argv, _ := os.ReadFile(line) // the process may have ended
			found = found || bytes.Contains(argv, config)
		}
		if !found {
			return nil
		}
	}
	return errors.New("the link does not leave ssh")
}

// shown has a client of its own, in another process, show a session.
func (s *site) shown(c netCommand, session string, program []string) error {
	argv := append([]string{programArg, "drain"}, c(s, session, program)...)
	cmd := exec.Command(s.b.self, argv...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return s.lab.Near.Start(cmd) // reaped and ended with the site
}

// service starts a process of this program on a host and waits until it says that it is ready.
func (s *site) service(h *netlab.Host, env []string, args ...string) error {
	cmd := exec.Command(s.b.self, append([]string{programArg}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = env, s.dir, os.Stderr
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := h.Start(cmd); err != nil {
		return err
	}
	_, err = io.ReadAll(ready)
	return err
}

// startVev joins a near broker and a far daemon by one TCP connection.
func startVev(s *site) error {
	s.env = append(s.env[:len(s.env):len(s.env)], "VEV_HOME="+filepath.Join(s.dir, "near"))
	s.farE = append(s.farE[:len(s.farE):len(s.farE)], "VEV_HOME="+filepath.Join(s.dir, "far"))
	addr := netip.AddrPortFrom(s.lab.Far.Addr, carriagePort).String()
	if err := s.service(s.lab.Far, s.farE, "far", addr, s.b.vev); err != nil {
		return err
	}
	return s.service(s.lab.Near, s.env, "near", addr)
}

// startVevSSH lets vev find the far host's sshd, and itself there, and has it go there by a transport.
func startVevSSH(transport string) func(*site) error {
	return func(s *site) error { return s.startVevSSH(transport) }
}

func (s *site) startVevSSH(transport string) error {
	if err := startSSHD(s); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, ".local/bin"), 0o700); err != nil {
		return err
	}
	if err := os.Symlink(s.b.vev, filepath.Join(s.dir, ".local/bin/vev")); err != nil {
		return err
	}
	s.env = append(s.env[:len(s.env):len(s.env)], "VEV_HOME="+filepath.Join(s.dir, "near"), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	s.farE = append(s.farE[:len(s.farE):len(s.farE)], "VEV_HOME="+filepath.Join(s.dir, "far"))
	return s.runNear(s.b.vev, "host", "add", "far", "--transport", transport)
}

// runNear runs a command on the near host, where what it starts stays.
func (s *site) runNear(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = s.env, s.dir
	if err := s.lab.Near.Start(cmd); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%v: %w", argv, err)
	}
	return nil
}

// forget ends vev's near broker, and with it all that leads to the far host.
func (s *site) forget() error {
	brokers := func() (pids []int) {
		for _, pid := range descendants(os.Getpid()) {
			f := statFields(pid)
			argv := strings.Split(procFile(pid, "cmdline"), "\x00")
			if len(f) > 0 && f[0] != "Z" && len(argv) > 1 && argv[1] == "_broker" && strings.Contains(procFile(pid, "environ"), "VEV_HOME="+filepath.Join(s.dir, "near")) {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	for _, pid := range brokers() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	for end := time.Now().Add(patience); time.Now().Before(end) && s.b.ctx.Err() == nil; s.b.pause(50 * time.Millisecond) {
		reapOrphans()
		if len(brokers()) == 0 {
			return nil
		}
	}
	return errors.New("the broker does not end")
}

const (
	// A home of its own keeps the user's start-up files out of what is measured.
	sshdConfig = `Port %d
ListenAddress %s
HostKey %[3]s/host
AuthorizedKeysFile %[3]s/user.pub
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
StrictModes no
PidFile none
PrintMotd no
PrintLastLog no
LogLevel FATAL
SetEnv HOME=%[3]s VEVBENCH=%[3]s VEV_HOME=%[3]s/far LANG=C.UTF-8 LC_ALL=C.UTF-8
`
	// The host "cm" is the same one over a connection that is kept.
	sshConfig = `Host far cm
HostName %s
Port %d
User %s
IdentityFile %[4]s/user
IdentitiesOnly yes
UserKnownHostsFile %[4]s/known
StrictHostKeyChecking yes
CheckHostIP no
LogLevel ERROR
Host cm
ControlPath %[4]s/cm
ControlMaster auto
ControlPersist 600
`
)

// startSSHD runs the far host's ssh server, with keys of its own.
func startSSHD(s *site) error {
	who, err := user.Current()
	if err != nil {
		return err
	}
	for _, key := range []string{"host", "user"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, key)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	addr := s.lab.Far.Addr.String()
	hostKey, err := os.ReadFile(filepath.Join(s.dir, "host.pub"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"sshd_config": fmt.Sprintf(sshdConfig, sshPort, addr, s.dir),
		"ssh_config":  fmt.Sprintf(sshConfig, addr, sshPort, who.Username, s.dir),
		"known":       fmt.Sprintf("[%s]:%d %s", addr, sshPort, hostKey),
		"tmux.conf":   "set -g history-limit 10000\n", // vev keeps as many
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := s.wrapSSH(); err != nil {
		return err
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd wants it for its unprivileged part
		return err
	}
	sshd, err := exec.LookPath("sshd") // it must be started by its whole path
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	cmd.Env, cmd.Stderr = s.farE, os.Stderr
	if err := s.lab.Far.Start(cmd); err != nil {
		return err
	}
	return s.answers(netip.AddrPortFrom(s.lab.Far.Addr, sshPort).String())
}

// wrappedSSH is the ssh of a site. vev finds it in PATH, and takes no configuration file for it: it is a script, which every
// peer that starts ssh starts, since it takes a millisecond.
func (s *site) wrappedSSH() string { return filepath.Join(s.dir, "bin/ssh") }

func (s *site) wrapSSH() error {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.wrappedSSH()), 0o700); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", ssh, s.dir)
	return os.WriteFile(s.wrappedSSH(), []byte(script), 0o700)
}

// answers waits until something listens on an address of the far host.
func (s *site) answers(addr string) error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end) && s.b.ctx.Err() == nil; s.b.pause(20 * time.Millisecond) {
		var c net.Conn
		if c, err = s.lab.Far.Dial(s.b.ctx, net.Dialer{Timeout: time.Second}, addr); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("nothing listens on %s: %w", addr, err)
}
