//go:build linux

package netsim

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/adapters/sshstdio"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/testkit/carriage"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// playQUIC is the broker of the near host: it reaches every host over QUIC, and for the first time with ssh.
func playQUIC(ctx context.Context, ready func()) error {
	ssh := &sshstdio.Dialer{}
	links := &quic.Dialer{
		Roles: ssh, Locate: ssh.Locate,
		Converse: func(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
			client, err := brokeripc.Dial(ctx, c, "vev test broker")
			if err != nil {
				return nil, err
			}
			return client, nil
		},
	}
	remote := broker.Remote{SSH: ssh, QUIC: links, Resumable: links.Resumable, Policy: func(string) domain.Transport {
		return domain.TransportQUIC
	}}
	return carriage.Broker(ctx, remote, func(c ports.BrokerConn) ports.BrokerConn { return c }, ready)
}

// newQUICPlace is a place whose near broker goes over QUIC.
func newQUICPlace(t *testing.T, c simnet.Conditions) *place {
	t.Helper()
	p := newSSHPlace(t, c)
	p.play(p.lab.Near, p.env, quicRole, "-")
	return p
}

// newSSHPlace is a place whose far host has an sshd. The host is "far" to ssh.
func newSSHPlace(t *testing.T, c simnet.Conditions) *place {
	t.Helper()
	keygen, ssh, sshd := tool(t, "ssh-keygen"), tool(t, "ssh"), tool(t, "sshd")
	p := newLabPlace(t, c)
	etc, bin := filepath.Join(p.dir, "etc"), filepath.Join(p.dir, "bin")
	for _, dir := range []string{etc, bin, filepath.Join(p.dir, "farbin")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.MkdirAll("/run/sshd", 0o755)) // for sshd's unprivileged part
	for _, key := range []string{"host_key", "key"} {
		out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(etc, key)).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	p.write("etc/authorized_keys", p.read("etc/key.pub"))
	p.write("etc/known_hosts", fmt.Sprintf("%s %s", p.lab.Far.Addr, p.read("etc/host_key.pub")))
	require.NoError(t, os.Symlink(vev, filepath.Join(p.dir, "farbin/vev")))
	p.write("etc/sshd_config", fmt.Sprintf(`Port 22
ListenAddress %s
HostKey %[2]s/host_key
AuthorizedKeysFile %[2]s/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
SetEnv HOME=%[3]s VEV_HOME=%[3]s/far PATH=%[3]s/farbin:/usr/bin:/bin
`, p.lab.Far.Addr, etc, p.dir))
	p.write("etc/ssh_config", fmt.Sprintf(`Host far
HostName %s
IdentityFile %[2]s/key
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile %[2]s/known_hosts
`, p.lab.Far.Addr, etc))
	p.write("bin/ssh", fmt.Sprintf("#!/bin/sh\ncase $1 in -G) ;; *) echo run >>%[1]s/ssh.log ;; esac\nexec %[2]s -F %[3]s/ssh_config \"$@\"\n", p.dir, ssh, etc))
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "bin/ssh"), 0o700))
	p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"))

	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(etc, "sshd_config"))
	cmd.Env = append(p.farE, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	require.NoError(t, p.lab.Far.Start(cmd))
	p.sshd = cmd
	t.Cleanup(p.stopSSHD)
	require.Eventually(t, func() bool {
		conn, err := p.lab.Near.Dial(t.Context(), net.Dialer{Timeout: time.Second}, p.lab.Far.Addr.String()+":22")
		return err == nil && conn.Close() == nil
	}, 10*time.Second, 10*time.Millisecond)
	return p
}

// stopSSHD ends sshd; the sessions of it that go on are not those of a link over QUIC.
func (p *place) stopSSHD() {
	if p.sshd != nil {
		_ = p.sshd.Process.Kill()
		_ = p.sshd.Wait()
		p.sshd = nil
	}
}

// sshRuns is how often ssh was started.
func (p *place) sshRuns() int {
	b, _ := os.ReadFile(filepath.Join(p.dir, "ssh.log"))
	return strings.Count(string(b), "run")
}

// moves gives the near host another address.
func (p *place) moves(n int) {
	p.t.Helper()
	require.NoError(p.t, p.lab.Near.Readdress(netip.AddrFrom4([4]byte{10, 77, 0, byte(100 + n)})))
}

func (p *place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(p.t, err)
	return string(b)
}

// tool finds a program that a test cannot do without, by its whole path.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("VEV_TEST_STRICT") == "1" {
		t.Fatalf("%s is not installed, and VEV_TEST_STRICT=1 wants every test", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}
