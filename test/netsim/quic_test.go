//go:build linux

package netsim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// Every command reaches the far machine's sessions over QUIC, with one ssh for the first time and none after that.
func TestQUICAcrossALink(t *testing.T) {
	p := newQUICPlace(t, simnet.Conditions{Delay: 10 * time.Millisecond})
	require.Equal(t, "far:work\n", p.ok("new", "far:work", "-d", "--", "sh", "-c", "echo hello from afar; exec cat"))
	require.Equal(t, 1, p.sshRuns())
	p.stopSSHD()
	require.Contains(t, p.ok("ls", "far"), "work")
	p.ok("send", "far:work", "sent text")
	p.ok("key", "far:work", "Enter")
	p.ok("wait", "far:work", "--text", "^sent text$")
	a := p.attach("attach", "far:work")
	a.WaitText("hello from afar")
	a.Type("typed here\r")
	a.WaitFor("the line and its echo", func(s ptytest.Screen) bool { return strings.Count(s.String(), "typed here") == 2 })
	require.Contains(t, p.ok("capture", "far:work"), "typed here")
	require.Len(t, p.role("_broker-mux-quic-proxy"), 1)
	require.Empty(t, p.role("_broker-mux-quic-bootstrap"))
	require.Empty(t, p.role("_broker-mux-stdio"))
	a.Type("\x1cd")
	require.Zero(t, a.Wait().Code)
	require.Equal(t, "killed far:work\n", p.ok("kill", "far:work"))
	require.Equal(t, 1, p.sshRuns())
}

// current has the session print a number and says how long it takes until the screen has it.
func current(a *ptytest.Term, n *int) time.Duration {
	start := time.Now()
	*n++
	a.Type(fmt.Sprintf("typed-%d\r", *n))
	want := fmt.Sprintf("got typed-%d", *n)
	a.WaitFor(want, func(s ptytest.Screen) bool { return strings.Contains(s.String(), want) })
	return time.Since(start)
}

// busy is how long anything may take that takes less than a second: the machine may have other things to do.
const busy = 3 * time.Second

// counting is a program that says each line that it reads, with a number in front.
const counting = `stty -echo; echo ready; n=0; while read line; do n=$((n+1)); echo "$n got $line"; done`

// requireOnce says that each line of n arrived once and in order.
func (p *place) requireOnce(session string, n int) {
	p.t.Helper()
	var got []string
	for line := range strings.Lines(p.ok("capture", session, "--history", "1000")) {
		if number, rest, ok := strings.Cut(strings.TrimSpace(line), " got typed-"); ok {
			require.Equal(p.t, number, rest)
			got = append(got, rest)
		}
	}
	require.Len(p.t, got, n)
}

// The near host gets another address, again and again, while sshd is not there any more: nobody notices.
func TestQUICRoams(t *testing.T) {
	const delay = 25 * time.Millisecond
	p := newQUICPlace(t, simnet.Conditions{Delay: delay})
	a := p.attach("new", "far:work", "--", "sh", "-c", counting)
	a.WaitText("ready")
	b := p.attach("new", "far:ticks", "--", "sh", "-c", ticking)
	b.WaitText("tick 3")
	p.stopSSHD()
	n := 0
	var took, shown []time.Duration
	for i := range 20 {
		current(a, &n)
		moved := time.Now()
		p.moves(i)
		if i%2 == 0 { // nothing is typed: what is shown goes on all the same
			last := tick(b.Screen())
			b.WaitFor("three more ticks", func(s ptytest.Screen) bool { return tick(s) > last+3 })
			shown = append(shown, time.Since(moved))
		} else {
			took = append(took, current(a, &n))
		}
	}
	slices.Sort(shown)
	t.Logf("three ticks of 0.1 s later after another address: median %v, worst %v", shown[len(shown)/2], shown[len(shown)-1])
	require.Less(t, shown[len(shown)/2], time.Second)
	require.Less(t, shown[len(shown)-1], busy)
	slices.Sort(took)
	t.Logf("current after another address: median %v, worst %v", took[len(took)/2], took[len(took)-1])
	require.Less(t, took[len(took)-1], busy)
	require.Less(t, took[len(took)/2], time.Second)
	p.requireOnce("far:work", n)
	require.Equal(t, 1, p.sshRuns())
}

// ticking prints a number a tenth of a second: what a screen shows says how old it is.
const ticking = `echo ready; n=0; while sleep 0.1; do n=$((n+1)); printf '\r tick %d. ' $n; done`

// tick is the newest that the screen has.
func tick(s ptytest.Screen) int {
	_, rest, _ := strings.Cut(s.String(), " tick ")
	number, _, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(number)
	return n
}

// Nothing gets through for a while, because the link is a blackhole or there is no interface, and sshd is not there any
// more: when there is a link again the screen is current soon, and what was typed arrived once.
func TestQUICComesBack(t *testing.T) {
	c := simnet.Conditions{Delay: 25 * time.Millisecond}
	p := newQUICPlace(t, c)
	a := p.attach("new", "far:work", "--", "sh", "-c", counting)
	a.WaitText("ready")
	b := p.attach("new", "far:ticks", "--", "sh", "-c", ticking)
	b.WaitText("tick 3")
	p.stopSSHD()
	n := 0
	current(a, &n)
	down := c
	down.Down = true
	var took []time.Duration
	outages := []time.Duration{500 * time.Millisecond, 3 * time.Second, 5 * time.Second, 2 * time.Second}
	if long, err := time.ParseDuration(os.Getenv("VEV_NETSIM_OUTAGE")); err == nil {
		outages = append(outages, long) // beyond idle times: five minutes, say
	}
	for i, d := range outages {
		if i%2 == 0 {
			p.lab.Set(down, down)
		} else {
			require.NoError(t, p.lab.Near.SetUp(false))
		}
		time.Sleep(d / 2)
		n++
		a.Type(fmt.Sprintf("typed-%d\r", n))
		time.Sleep(d / 2)
		p.lab.Set(c, c)
		require.NoError(t, p.lab.Near.SetUp(true))
		if i%3 == 0 {
			p.moves(i)
		}
		back := time.Now()
		want := fmt.Sprintf("got typed-%d", n)
		a.WaitFor(want, func(s ptytest.Screen) bool { return strings.Contains(s.String(), want) })
		one := time.Since(back)
		last := tick(b.Screen())
		b.WaitFor("the next tick", func(s ptytest.Screen) bool { return tick(s) > last })
		took = append(took, max(one, time.Since(back)))
		t.Logf("away for %v: what was typed is there after %v, the other session is current after %v", d, one, time.Since(back))
	}
	slices.Sort(took)
	require.Less(t, took[len(took)/2], time.Second)
	require.Less(t, took[len(took)-1], busy)
	p.requireOnce("far:work", n)
	require.Equal(t, 1, p.sshRuns())
}
