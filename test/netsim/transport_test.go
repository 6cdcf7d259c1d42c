//go:build linux

package netsim

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// newBrokerPlace is a place whose near host runs the program's own broker: it chooses what carries its links.
func newBrokerPlace(t *testing.T, c simnet.Conditions) *place {
	t.Helper()
	p := newSSHPlace(t, c)
	cmd := exec.Command(vev, "_broker")
	cmd.Env, cmd.Dir = p.env, p.dir
	require.NoError(t, p.lab.Near.Start(cmd))
	require.Eventually(t, func() bool {
		sockets, _ := filepath.Glob(filepath.Join(p.dir, "near/state/run-*/broker.sock"))
		return len(sockets) == 1
	}, 10*time.Second, 10*time.Millisecond)
	return p
}

// watch looks at a terminal until it is stopped, and says what was the longest time that a ticking session stood still, and
// which lines about the link there were.
func watch(a *ptytest.Term) (stop func() (still time.Duration, lines []string)) {
	quit, done := make(chan struct{}), make(chan struct{})
	var still time.Duration
	var lines []string
	go func() {
		defer close(done)
		seen, at := 0, time.Now()
		for {
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
			}
			s := a.Screen()
			if n := tick(s); n != seen {
				still, seen, at = max(still, time.Since(at)), n, time.Now()
			}
			for line := range strings.Lines(s.String()) {
				if strings.Contains(line, "link") || strings.Contains(line, "contact") || strings.Contains(line, "connect") {
					if line = strings.TrimSpace(line); len(lines) == 0 || lines[len(lines)-1] != line {
						lines = append(lines, line)
					}
				}
			}
		}
	}()
	return func() (time.Duration, []string) {
		close(quit)
		<-done
		return still, lines
	}
}

// requireNoBreak allows what a busy machine may look like.
func requireNoBreak(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		require.Contains(t, line, "slow link")
	}
}

// overQUIC waits until the place's link goes over QUIC and ssh's has ended.
func (p *place) overQUIC() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		return len(p.role("_broker-mux-quic-proxy")) == 1 && len(p.role("_broker-mux-stdio")) == 0
	}, 20*time.Second, 50*time.Millisecond)
}

// An attachment begins over ssh and goes on over QUIC. When UDP is cut it goes on over ssh. Nothing of it is to be seen but
// that it stands still for a moment, and a line that says so; what is typed arrives once.
func TestTheTransportChangesUnderAnAttachment(t *testing.T) {
	p := newBrokerPlace(t, simnet.Conditions{Delay: 10 * time.Millisecond})
	a := p.attach("new", "far:work", "--", "sh", "-c", counting)
	a.WaitText("ready")
	b := p.attach("new", "far:ticks", "--", "sh", "-c", ticking)
	b.WaitText("tick 3")
	n := 0
	stop := watch(b)
	for range 30 {
		current(a, &n)
		time.Sleep(100 * time.Millisecond)
	}
	p.overQUIC()
	still, lines := stop()
	t.Logf("ssh to QUIC: still for %v at most, said: %q", still, lines)
	require.Less(t, still, busy)
	requireNoBreak(t, lines)
	require.Equal(t, 1, p.sshRuns(), "the link leads to QUIC")

	stop = watch(b)
	p.lab.BlockUDP(true)
	cut := time.Now()
	n++
	a.Type(fmt.Sprintf("typed-%d\r", n))
	a.WaitText(fmt.Sprintf("got typed-%d", n))
	t.Logf("what was typed is there after %v", time.Since(cut))
	time.Sleep(6 * time.Second)
	current(a, &n)
	still, lines = stop()
	t.Logf("QUIC to ssh: still for %v at most, said: %q", still, lines)
	require.Less(t, still, 9*time.Second)
	require.NotEmpty(t, lines)
	require.Greater(t, p.sshRuns(), 1)
	require.Eventually(t, func() bool { return len(p.role("_broker-mux-stdio")) == 1 }, 10*time.Second, 50*time.Millisecond)
	for range 10 {
		current(a, &n)
	}
	p.requireOnce("far:work", n)
}

// Where UDP does not get through from the beginning nobody notices.
func TestUDPIsBlockedFromTheBeginning(t *testing.T) {
	p := newBrokerPlace(t, simnet.Conditions{Delay: 10 * time.Millisecond})
	p.lab.BlockUDP(true)
	a := p.attach("new", "far:work", "--", "sh", "-c", counting)
	a.WaitText("ready")
	b := p.attach("new", "far:ticks", "--", "sh", "-c", ticking)
	b.WaitText("tick 3")
	stop := watch(b)
	n := 0
	for range 80 {
		require.Less(t, current(a, &n), busy)
		time.Sleep(100 * time.Millisecond)
	}
	still, lines := stop()
	t.Logf("still for %v at most, said: %q", still, lines)
	require.Less(t, still, busy)
	requireNoBreak(t, lines)
	require.Len(t, p.role("_broker-mux-stdio"), 1)
	p.requireOnce("far:work", n)
}

// With QUIC under an attachment nothing that happens to the network starts ssh again, and the screen is current soon after.
func TestNoNetworkStartsNoSSH(t *testing.T) {
	c := simnet.Conditions{Delay: 10 * time.Millisecond}
	p := newBrokerPlace(t, c)
	a := p.attach("new", "far:work", "--", "sh", "-c", counting)
	a.WaitText("ready")
	p.overQUIC()
	n := 0
	current(a, &n)
	runs := p.sshRuns()
	down := c
	down.Down = true
	for _, away := range []time.Duration{3 * time.Second, 12 * time.Second} {
		p.lab.Set(down, down)
		n++
		a.Type(fmt.Sprintf("typed-%d\r", n))
		time.Sleep(away)
		p.lab.Set(c, c)
		back := time.Now()
		a.WaitText(fmt.Sprintf("got typed-%d", n))
		t.Logf("away for %v: current after %v", away, time.Since(back))
		require.Less(t, time.Since(back), busy)
		for range 5 {
			current(a, &n)
		}
	}
	p.moves(1)
	current(a, &n)
	require.Equal(t, runs, p.sshRuns())
	p.requireOnce("far:work", n)
}
