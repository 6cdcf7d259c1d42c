//go:build linux

package netsim

import (
	"bytes"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/testkit/netlab"
	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// place is a user on the near host of a lab, whose sessions are on the far one.
type place struct {
	t    *testing.T
	lab  *netlab.Lab
	dir  string
	env  []string // of the near host
	farE []string
	sshd *exec.Cmd // of the far host, or nil
}

const carriagePort = 4242

// newPlace makes a lab with the same conditions in both directions, and what runs in it.
func newPlace(t *testing.T, c simnet.Conditions) *place {
	t.Helper()
	p := newLabPlace(t, c)
	addr := netip.AddrPortFrom(p.lab.Far.Addr, carriagePort).String()
	p.play(p.lab.Far, p.farE, farRole, addr, vev)
	p.play(p.lab.Near, p.env, nearRole, addr)
	return p
}

// newLabPlace makes a lab in which nothing runs yet.
func newLabPlace(t *testing.T, c simnet.Conditions) *place {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("VEV_TEST_STRICT") == "1" {
			t.Fatal("real links take root for network namespaces, and VEV_TEST_STRICT=1 wants every test")
		}
		t.Skip("real links take root for network namespaces")
	}
	lab, err := netlab.New(1, c, c)
	require.NoError(t, err)
	p := &place{t: t, lab: lab, dir: t.TempDir()}
	base := ptytest.Env("HOME="+p.dir, "SHELL=/bin/sh", "USER=tester", "LOGNAME=tester", "LANG=C.UTF-8")
	p.env = append(base[:len(base):len(base)], "VEV_HOME="+filepath.Join(p.dir, "near"))
	p.farE = append(base[:len(base):len(base)], "VEV_HOME="+filepath.Join(p.dir, "far"))
	t.Cleanup(p.end)
	return p
}

// play starts a role of this program on a host and waits until it is ready.
func (p *place) play(h *netlab.Host, env []string, args ...string) {
	p.t.Helper()
	self, err := os.Executable()
	require.NoError(p.t, err)
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	ready, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, h.Start(cmd))
	_, err = io.ReadAll(ready) // it closes this when it is
	require.NoError(p.t, err)
}

// end kills what runs here, and joins it.
func (p *place) end() {
	for range 50 {
		left := p.processes()
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
		if len(left) == 0 {
			break
		}
	}
	p.lab.Close()
}

// processes are this process's children, adopted ones too, that have the place's directory in their environment.
func (p *place) processes() []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(rest)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "environ"))
		if len(f) < 2 || f[0] == "Z" || !bytes.Contains(env, []byte(p.dir)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && pid != os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}

// role are the processes that play a role of vev's.
func (p *place) role(role string) (found []int) {
	for _, pid := range p.processes() {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if argv := strings.Split(string(line), "\x00"); len(argv) > 1 && argv[1] == role {
			found = append(found, pid)
		}
	}
	return found
}

// ok runs a command that has to succeed.
func (p *place) ok(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(vev, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
	return string(out)
}

// attach runs a command of vev's on a terminal.
func (p *place) attach(args ...string) *ptytest.Term {
	p.t.Helper()
	return ptytest.Start(p.t, append([]string{vev}, args...), p.env, domain.Size{Cols: 80, Rows: 24})
}

// hole makes a blackhole of the link for a while.
func (p *place) hole(c simnet.Conditions, d time.Duration) {
	down := c
	down.Down = true
	p.lab.Set(down, down)
	time.Sleep(d)
	p.lab.Set(c, c)
}
