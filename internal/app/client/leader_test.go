package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/keys"
)

// scan feeds reads to k as the pump does, and returns what passed and what was asked.
func scan(k *typing, hold bool, reads ...string) (passed string, acts []action) {
	var p []byte
	var out []byte
	for _, r := range reads {
		p = append(p, r...)
		for len(p) > 0 {
			pass, drop, act := k.step(p, hold)
			if pass == 0 && drop == 0 && act == noAction {
				break
			}
			out = append(out, p[:pass]...)
			if act == actMouse || act == actPaste { // a program that wants it as it came
				out = append(out, p[pass:pass+drop]...)
				act = noAction
			}
			p = p[pass+drop:]
			if act != noAction {
				acts = append(acts, act)
			}
		}
		if len(p) >= keys.MaxSequence {
			panic("kept too much")
		}
	}
	return string(out), acts
}

const (
	lead      = "\x1c"
	kittyLead = "\x1b[92;5u"
)

// leaderCases are inputs with what passes and what is done. Each is tried as one read and cut in two at every place.
var leaderCases = []struct {
	name, in, passed string
	acts             []action
}{
	{"nothing special", "ls -l\r\x03\x1b[A\x1bOP\xc3\xa4", "ls -l\r\x03\x1b[A\x1bOP\xc3\xa4", nil},
	{"detach", "ab" + lead + "d", "ab", []action{actPending, actDetach}},
	{"the rest is the shell's", lead + "?x", "x", []action{actPending, actHelp}},
	{"suspend", lead + "zx", "x", []action{actPending, actSuspend}},
	{"twice sends one", "a" + lead + lead + "b", "a" + lead + "b", []action{actPending, actSent}},
	{"three times", lead + lead + lead, lead, []action{actPending, actSent, actPending}},
	{"unknown key is dropped", lead + "xy", "y", []action{actPending, actUnknown}},
	{"unknown long key is dropped whole", lead + "€y", "y", []action{actPending, actUnknown}},
	{"paste hides the leader", "\x1b[200~" + lead + "d\x1b[201~" + lead + "d", "\x1b[200~" + lead + "d\x1b[201~", []action{actPending, actDetach}},
	{
		"paste with sequences in it", "\x1b[200~\x1b[92;5u\x1b[20\x1b[200~\x1b\x1b[201~" + lead + "d",
		"\x1b[200~\x1b[92;5u\x1b[20\x1b[200~\x1b\x1b[201~",
		[]action{actPending, actDetach},
	},
	{"x10 mouse bytes are no keys", "\x1b[M \x1c!d" + lead + "d", "\x1b[M \x1c!d", []action{actPending, actDetach}},
	{"escape then leader", "\x1b" + lead + "d", "\x1b", []action{actPending, actDetach}},
	{"broken sequence then leader", "\x1b[1;" + lead + "d", "\x1b[1;", []action{actPending, actDetach}},
	{"broken SS3 then leader", "\x1bO" + lead + "d", "\x1bO", []action{actPending, actDetach}},
	{"endless sequence", "\x1b[" + string(bytes.Repeat([]byte("1"), 100)) + lead + "d", "\x1b[" + string(bytes.Repeat([]byte("1"), 100)), []action{actPending, actDetach}},
	{"modified key is no leader", "\x1b[92;7u\x1b[92u\x1b[93;5u", "\x1b[92;7u\x1b[92u\x1b[93;5u", nil},
}

func TestLeaderAtEverySplit(t *testing.T) {
	for _, c := range leaderCases {
		for cut := range len(c.in) {
			for _, hold := range []bool{false, true} {
				k := &typing{leader: DefaultLeader, encodes: hold}
				passed, acts := scan(k, hold, c.in[:cut], c.in[cut:])
				require.Equal(t, c.passed, passed, "%s, cut at %d, hold %v", c.name, cut, hold)
				require.Equal(t, c.acts, acts, "%s, cut at %d, hold %v", c.name, cut, hold)
			}
		}
	}
}

func TestEncodedLeaderAtEverySplit(t *testing.T) {
	for _, c := range []struct {
		name, in, passed string
		acts             []action
	}{
		{"detach", "a" + kittyLead + "d", "a", []action{actPending, actDetach}},
		{"locks do not matter", "\x1b[92;69ud\x1b[A", "\x1b[A", []action{actPending, actDetach}},
		{"all keys encoded", kittyLead + "\x1b[100u", "", []action{actPending, actDetach}},
		{"events", "\x1b[92;5:1u\x1b[92;5:2u\x1b[92;5:3u\x1b[57442;1:3u\x1b[100;1:1u", "\x1b[57442;1:3u", []action{actPending, actDetach}},
		{"other layout", "\x1b[1078::92;5u\x1b[47:63;2u", "", []action{actPending, actHelp}},
		{"shifted without layout", kittyLead + "\x1b[47;2u", "", []action{actPending, actHelp}},
		{"text", kittyLead + "\x1b[223;2;63u", "", []action{actPending, actHelp}},
		{"twice sends it as it came", kittyLead + kittyLead + "x", kittyLead + "x", []action{actPending, actSent}},
		{"modifyOtherKeys", "\x1b[27;5;92~d", "", []action{actPending, actDetach}},
		{"other key", kittyLead + "\x1b[100;5ux", "x", []action{actPending, actUnknown}},
		{"escape key", kittyLead + "\x1b[27ux", "x", []action{actPending, actUnknown}},
	} {
		for cut := range len(c.in) {
			if cut > 0 && c.in[cut-1] == esc && strings.IndexByte(c.in, esc) < cut-1 {
				continue // a lone Escape after the leader cancels it
			}
			k := &typing{leader: DefaultLeader, encodes: true}
			passed, acts := scan(k, true, c.in[:cut], c.in[cut:])
			require.Equal(t, c.passed, passed, "%s, cut at %d", c.name, cut)
			require.Equal(t, c.acts, acts, "%s, cut at %d", c.name, cut)
		}
	}
}

func TestAfterTheLeader(t *testing.T) {
	for _, c := range []struct {
		name, in, passed string
		acts             []action
	}{
		{"escape cancels", lead + "\x1b", "", []action{actPending, actCancel}},
		{"two escapes", lead + "\x1b\x1b[A", "\x1b[A", []action{actPending, actCancel}},
		{"an arrow is an unknown key", lead + "\x1b[Ax", "x", []action{actPending, actUnknown}},
		{"a linux function key", lead + "\x1b[[Ax", "x", []action{actPending, actUnknown}},
		{"an application arrow", lead + "\x1bOAx", "x", []action{actPending, actUnknown}},
		{"alt and a key", lead + "\x1bdx", "x", []action{actPending, actUnknown}},
		{"the mouse is no key", lead + "\x1b[<35;1;1M\x1b[<0;1;1md", "\x1b[<35;1;1M\x1b[<0;1;1m", []action{actPending, actDetach}},
		{"the old mouse is no key", lead + "\x1b[Mdd d", "\x1b[Mdd ", []action{actPending, actDetach}},
		{"the focus is no key", lead + "\x1b[O\x1b[Id", "", []action{actPending, actFocus, actFocus, actDetach}},
		{"a release is no key", lead + "\x1b[1;1:3Ad", "\x1b[1;1:3A", []action{actPending, actDetach}},
		{"an answer is no key", lead + "\x1b[?1ud", "\x1b[?1u", []action{actPending, actDetach}},
		{"a paste cancels", lead + "\x1b[200~" + lead + "d\x1b[201~", "\x1b[200~" + lead + "d\x1b[201~", []action{actPending, actCancel}},
	} {
		k := &typing{leader: DefaultLeader}
		passed, acts := scan(k, false, c.in)
		require.Equal(t, c.passed, passed, c.name)
		require.Equal(t, c.acts, acts, c.name)
	}
}

func TestLoneEscapePassesAtOnceUntilTheTerminalEncodesIt(t *testing.T) {
	k := &typing{leader: DefaultLeader}
	passed, _ := scan(k, true, "\x1b")
	require.Equal(t, "\x1b", passed)
	passed, acts := scan(k, true, "[92;5u")
	require.Equal(t, "[92;5u", passed, "a leader cut after its Escape is an ordinary key")
	require.Empty(t, acts)
	passed, _ = scan(k, true, "\x1b[97u\x1b")
	require.Equal(t, "\x1b[97u", passed, "from here on Escape comes encoded, so this one has a rest")
}

// TestLeaderInAnyTyping puts known pieces together and cuts them anywhere.
func TestLeaderInAnyTyping(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var in, want []byte
		var acts []action
		for range rapid.IntRange(1, 12).Draw(rt, "pieces") {
			switch rapid.IntRange(0, 4).Draw(rt, "piece") {
			case 0:
				s := rapid.SampledFrom([]string{"a", "\r", "\x03", "é", "\x1bx", "\x1b[1;5D", "\x1bOH", "\x1b[<0;3;4M", "\x1b[MdA\x1c", "\x1b[?1;2c"}).Draw(rt, "key")
				in, want = append(in, s...), append(want, s...)
			case 1:
				s := "\x1b[200~" + rapid.StringMatching("[a\x1c\x1b\\[201]{0,40}").Draw(rt, "paste") + "\x1b[201~"
				in, want = append(in, s...), append(want, s...)
			case 2:
				in, want = append(in, lead+lead...), append(want, lead...)
				acts = append(acts, actPending, actSent)
			case 3:
				in, acts = append(in, lead+"?"...), append(acts, actPending, actHelp)
			case 4:
				in, acts = append(in, lead+"ß"...), append(acts, actPending, actUnknown)
			}
		}
		var reads []string
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "read")
			reads, rest = append(reads, string(rest[:n])), rest[n:]
		}
		passed, got := scan(&typing{leader: DefaultLeader}, false, reads...)
		if passed != string(want) || fmt.Sprint(got) != fmt.Sprint(acts) {
			rt.Fatalf("passed %q, want %q; did %v, want %v", passed, want, got, acts)
		}
	})
}
