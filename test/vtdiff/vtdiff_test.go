package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seeds is how many sessions every run of the tests compares; make vt-diff goes on from others.
const seeds = 300

func TestMain(m *testing.M) {
	if socket := os.Getenv(relayVariable); socket != "" { // this copy runs in xterm
		if err := relay(socket); err != nil {
			fmt.Fprintln(os.Stderr, "relay:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// voices starts what the engine is compared with, or skips the test.
func voices(t *testing.T) *judge {
	t.Helper()
	oracle := filepath.Join("..", "..", "..", "shared", "vt-oracle")
	if _, err := os.Stat(oracle); err != nil {
		t.Skip("the driver of xterm.js, ../shared/vt-oracle, is not beside the checkout")
	}
	for _, name := range []string{"node", "npm", "xterm", "Xvfb"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	j, done, err := open(oracle)
	require.NoError(t, err)
	t.Cleanup(done)
	return j
}

func TestNoNewDifference(t *testing.T) {
	j := voices(t)
	var out strings.Builder
	c := newTally(&out, false)
	for seed := range uint64(seeds) {
		require.NoError(t, c.session(j, generate(seed), seed))
	}
	require.Zero(t, c.found, out.String())
	c.print()
	t.Log(out.String())
	agreement := 0
	for _, count := range c.counts {
		agreement += count[agreed]
	}
	require.Greater(t, agreement, seeds/2, "hardly anything was compared")
}

// TestVoicesAreHeard: each of the others shows what it is given, in every part that is compared.
func TestVoicesAreHeard(t *testing.T) {
	j := voices(t)
	s := &session{profile: profile{xterm: true, xtermjs: true}, cols: 12, rows: 3, steps: []step{
		{bytes: "a\x1b[1;31;44mb\x1b[m中q\u0301\x1b[38;2;1;2;3mc\x1b]2;name\x07\x1b[2;2r\x1b[?6h\x1b[1;3H"},
	}}
	o, err := j.try(s)
	require.NoError(t, err)
	require.Equal(t, outcome{}, o)
	ours := runOurs(s)
	for part, change := range map[string]func(*screen){
		"text": func(s *screen) { s.rows[0][0].base = 'x' }, "attribute": func(s *screen) { s.rows[0][1].attrs = 0 },
		"foreground": func(s *screen) { s.rows[0][5].fg = "" }, "background": func(s *screen) { s.rows[0][1].bg = "3" },
		"wide": func(s *screen) { s.rows[0][3].base = ' ' }, "cursor": func(s *screen) { s.y++ },
		"title": func(s *screen) { s.title = "" },
	} {
		real, err := j.xterm.run(s)
		require.NoError(t, err)
		js, err := j.xtermjs.run(s)
		require.NoError(t, err)
		change(&real)
		change(&js)
		require.Equal(t, oursAlone, weigh(s, &ours, &real, &js, true, true).verdict, part)
	}
}

func TestWeigh(t *testing.T) {
	at := func(x int) *screen { return &screen{x: x} }
	s := &session{}
	for _, c := range []struct {
		ours, real, js int
		xterm, xtermjs bool
		want           verdict
	}{
		{1, 1, 1, true, true, agreed},
		{1, 2, 2, true, true, oursAlone},
		{1, 2, 1, true, true, xtermAlone},
		{1, 1, 2, true, true, xtermjsAlone},
		{1, 2, 3, true, true, noneAgree},
		{1, 2, 9, true, false, oursAlone},
		{1, 9, 2, false, true, oursAlone},
		{1, 1, 9, true, false, agreed},
	} {
		require.Equal(t, c.want, weigh(s, at(c.ours), at(c.real), at(c.js), c.xterm, c.xtermjs).verdict, "%+v", c)
	}
}

func TestShrinkFindsTheCause(t *testing.T) {
	s := &session{cols: 20, rows: 5}
	for i := range 40 {
		s.steps = append(s.steps, step{bytes: fmt.Sprintf("text %d", i)}, step{bytes: "\x1b[m"})
	}
	s.steps[13].bytes = "\x1b[2J"
	small, err := shrink(s, oursAlone, func(s *session) (outcome, error) {
		if text := s.text(); strings.Contains(text, "\x1b[2J") && strings.Contains(text, "9") {
			return outcome{verdict: oursAlone}, nil
		}
		return outcome{}, nil
	})
	require.NoError(t, err)
	require.Len(t, small.steps, 2)
	require.ElementsMatch(t, []step{{bytes: "\x1b[2J"}, {bytes: "9"}}, small.steps)
	require.Contains(t, small.String(), `20x5 "\x1b[2J9"`)
}

func TestSeedsAreRepeatable(t *testing.T) {
	for seed := range uint64(50) {
		require.Equal(t, generate(seed).String(), generate(seed).String())
	}
}

// TestEveryKnownDifferenceIsArgued: the list is a decision, not a place to put things.
func TestEveryKnownDifferenceIsArgued(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range knownDifferences {
		require.False(t, seen[k.name], k.name)
		seen[k.name] = true
		require.Greater(t, len(k.why), 40, k.name)
	}
}

// TestScopeIsOfTheWholeInput: a wide character at the edge is out of scope wherever a step ends in it.
func TestScopeIsOfTheWholeInput(t *testing.T) {
	s := &session{cols: 4, rows: 2, steps: []step{{bytes: "abc\xe4\xb8"}, {bytes: "\x9b"}}}
	require.NotEmpty(t, outOfScope(s))
	require.Empty(t, outOfScope(&session{cols: 4, rows: 2, steps: []step{{bytes: "ab\xe4\xb8"}, {bytes: "\x9b"}}}))
}
