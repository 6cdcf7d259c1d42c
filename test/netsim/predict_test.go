//go:build linux

package netsim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

const (
	slowTrip = 300 * time.Millisecond
	// answered is how long after a key everything it does is on the screen: a round trip, and what the daemon waits for
	// a program's answer.
	answered = slowTrip + 50*time.Millisecond + 100*time.Millisecond
)

func bash(t *testing.T, rtt time.Duration, mode predict.Mode) *typist {
	needs(t, "/bin/bash")
	y := newTypist(t, rtt, mode, "/bin/bash", "--norc", "--noprofile")
	y.at("$ |")
	return y
}

func TestShellLinesAreShownAtOnce(t *testing.T) {
	t.Parallel()
	y := bash(t, slowTrip, predict.Adaptive)
	e := editing{prompt: "$ "}
	for _, line := range []string{"echo the quick brown fox jumps", "printf '%s\\n' over lazy dogs and back again"} {
		e.line, e.at = nil, 0
		y.types(&e, chars(line)...)
		y.settles(&e)
		y.press("\r")
		time.Sleep(answered)
		y.at("$ |")
	}
	e.enough(t, "shell lines", 70)
	y.sees("lazy  ")
}

func TestShellEditingIsShownAtOnce(t *testing.T) {
	t.Parallel()
	y := bash(t, slowTrip, predict.Adaptive)
	e := editing{prompt: "$ "}
	y.types(&e, chars("echo on two three")...)
	y.types(&e, repeat("\x1b[D", 10)...)
	y.types(&e, "e")
	y.types(&e, repeat("\x1b[C", 4)...)
	y.types(&e, "\x7f", "\x7f", "\x7f")
	y.types(&e, chars("2")...)
	y.types(&e, repeat("\x1b[C", 6)...)
	y.types(&e, "\x7f", "\x7f", "\x7f")
	y.types(&e, chars("ee 漢字!")...)
	y.settles(&e)
	e.enough(t, "editing a shell line", 70)
}

// At no time is a character of a password on the terminal, whatever is confirmed before.
func TestPasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	const secret = "qxzjqq*xzj"
	y := bash(t, slowTrip, predict.Always)
	e := editing{prompt: "$ "}
	for range 2 {
		e.line, e.at = nil, 0
		y.types(&e, chars("read -s -p Word: w; echo o$?")...)
		_, mark := y.writtenSince(0)
		y.press("\r")
		y.at("Word:|")
		for _, c := range chars(secret) {
			y.press(c)
			time.Sleep(keyPace / 3)
		}
		time.Sleep(answered)
		y.press("\r")
		y.at("$ |")
		out, _ := y.writtenSince(mark)
		require.False(t, strings.ContainsAny(string(out), "qxzj*"), "%q", out)
		y.sees("o0")
	}
}

func TestPasswordWithMaskIsNeverShown(t *testing.T) {
	t.Parallel()
	y := bash(t, slowTrip, predict.Always)
	e := editing{prompt: "$ "}
	y.types(&e, chars("while read -rsn1 c && [ $c ]; do echo -n '*'; done")...)
	y.press("\r")
	time.Sleep(answered)
	_, mark := y.writtenSince(0)
	for _, c := range chars("**qx*zj**qx*j") {
		y.press(c)
		time.Sleep(keyPace / 2)
	}
	time.Sleep(answered)
	out, _ := y.writtenSince(mark)
	require.False(t, strings.ContainsAny(string(out), "qxzj"), "%q", out)
	y.at(strings.Repeat("*", 13) + "|")
}

func TestEditorIsShownAtOnce(t *testing.T) {
	t.Parallel()
	needs(t, "/usr/bin/vim")
	y := newTypist(t, slowTrip, predict.Adaptive, "/usr/bin/vim", "-u", "NONE", "-N", "--cmd", "set noswapfile ruler showmode")
	y.sees("VIM")
	time.Sleep(answered)
	y.press("i")
	y.sees("-- INSERT --")
	time.Sleep(answered)
	e := editing{}
	for _, line := range []string{"It was the best of times, it was"} {
		e.line, e.at = nil, 0
		y.types(&e, chars(line)...)
		y.settles(&e)
		y.press("\r")
		time.Sleep(answered)
	}
	e.line, e.at = nil, 0
	y.types(&e, chars("age of wisdom")...)
	y.types(&e, repeat("\x1b[D", 6)...)
	y.types(&e, chars("un")...)
	y.types(&e, "\x7f", "\x7f", "\x1b[C", "\x1b[C")
	y.types(&e, chars("xyz")...)
	y.settles(&e)
	e.enough(t, "inserting in vim", 70)

	// Commands are no text: what they do is not guessed wrongly for longer than until their answer.
	y.press("\x1b")
	time.Sleep(answered)
	before := y.text()
	for _, c := range chars("kjkjhlhl0$") {
		y.press(c)
		time.Sleep(keyPace)
	}
	time.Sleep(answered)
	require.Equal(t, strings.Split(before, "\n")[:3], strings.Split(y.text(), "\n")[:3])
}

// A key of a confirmed epoch is on the terminal long before its answer.
func TestGuessWaitsForNothing(t *testing.T) {
	const trip = 200 * time.Millisecond
	y := bash(t, trip, predict.Adaptive)
	e := editing{prompt: "$ "}
	for range 2 {
		e.line, e.at = nil, 0
		y.types(&e, chars("echo the quick brown fox jumps")...)
		time.Sleep(answered)
		y.press("\r")
		y.at("$ |")
	}
	slices.Sort(y.latency)
	p50 := y.latency[len(y.latency)/2]
	t.Logf("%d of %d keys shown at once, p50 %s", e.soon, e.keys, p50)
	require.Less(t, p50, trip/4)
}

// The real binary, with a broker between, measures the same; and in a blackhole it shows what is typed and says that it
// waits.
func TestKeysAreShownAcrossARealLink(t *testing.T) {
	c := simnet.Conditions{Delay: slowTrip / 2}
	p := newPlace(t, c)
	a := p.attach("new", "work", "--", "sh", "-c", "printf '$ '; exec cat")
	a.WaitText("$")
	a.Type("e")
	a.WaitText("$ e")
	time.Sleep(answered)
	began := time.Now()
	a.Type("cho")
	a.WaitText("$ echo")
	require.Less(t, time.Since(began), slowTrip, "no answer can have come")

	down := c
	down.Down = true
	time.Sleep(answered)
	p.lab.Set(down, down)
	a.Type(" dark")
	a.WaitText("$ echo dark")
	a.WaitFor("the notice", func(s ptytest.Screen) bool {
		return strings.Contains(s.String(), "s: 5 keys wait and arrive then")
	})
	p.lab.Set(c, c)
	a.WaitFor("the contact", func(s ptytest.Screen) bool { return !strings.Contains(s.String(), "keys wait") })
	a.Type("\r")
	a.WaitFor("the line and its copy", func(s ptytest.Screen) bool { return strings.Count(s.String(), "echo dark") == 2 })
}
