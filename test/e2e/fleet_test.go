//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/hostfile"
	"github.com/vev-term/vev/internal/domain"
)

// fleetSSH stands for ssh: every host leads to a vev of its own in one home, those that are silent to nothing, those behind a gate to
// one once there is a file of their name, and one that is off refuses. What is last is the command and what is before that the host,
// as ssh has it.
const fleetSSH = `#!/bin/sh
for word; do host=$command command=$word; done
case $host in
silent*) exec sleep 1000 ;;
gate*) until [ -e %[1]s/$host.open ]; do sleep 0.02; done ;;
off) echo "ssh: connect to host off port 22: Connection refused" >&2; exit 255 ;;
esac
export HOME=%[1]s VEV_HOME=%[1]s/$host PATH=%[1]s/bin:/usr/bin:/bin
exec sh -c "$command"
`

// fleet is a home that has hosts of these names as members, and the one they are in.
func fleet(t *testing.T, names ...string) (near, far *home) {
	t.Helper()
	near, far = newHome(t), newHome(t)
	for _, h := range []*home{near, far} {
		require.NoError(t, os.MkdirAll(h.path("bin"), 0o700))
	}
	require.NoError(t, os.Symlink(vev, far.path("bin/vev")))
	require.NoError(t, os.WriteFile(near.path("bin/ssh"), fmt.Appendf(nil, fleetSSH, far.dir), 0o700))
	near = near.with("PATH=" + near.path("bin") + ":" + os.Getenv("PATH"))
	require.NoError(t, os.MkdirAll(near.state(), 0o700))
	_, _, err := hostfile.In(near.state()).Change(t.Context(), func(hosts domain.Hosts) (_ domain.Hosts, err error) {
		for _, name := range names {
			if hosts, err = hosts.Add(domain.KnownHost{
				Alias: name, Address: domain.Host{Name: name}, Policy: domain.HostPolicy{Transport: domain.TransportSSH},
			}); err != nil {
				return hosts, err
			}
		}
		return hosts, nil
	})
	require.NoError(t, err)
	return near, far
}

// TestTwentyHostsThreeOfThemDead: every host that lives is listed, each that does not is said once, and a host that is silent takes
// no longer than its deadline. What was reached is listed again without another ssh.
func TestTwentyHostsThreeOfThemDead(t *testing.T) {
	const living = 17
	names := []string{"off", "silent1", "silent2"}
	for i := range living {
		names = append(names, fmt.Sprintf("h%d", i))
	}
	near, far := fleet(t, names...)
	atOnce(living, func(i int) {
		far.with("VEV_HOME="+far.path(fmt.Sprintf("h%d", i))).ok("new", "work", "-d", "--", "cat")
	})

	a := near.vev("ls", "--all")
	require.Equal(t, 1, a.code, "%s%s", a.stdout, a.stderr)
	for _, line := range []string{`vev: off: .*Connection refused`, `vev: silent1: no answer in 5s`, `vev: silent2: no answer in 5s`} {
		require.Regexp(t, "(?m)^"+line, a.stderr)
	}
	// Where much else goes on, one that lives may be late at first.
	eventually(t, "all that live are listed", func() bool {
		return strings.Count(near.vev("ls", "--all").stderr, "\n") == len(names)-living
	})
	helpers := func() []int { return far.role("_broker-mux-stdio") }
	eventually(t, "each has one link", func() bool { return len(helpers()) == living })
	links := helpers()
	a = near.vev("ls", "--all")
	require.Equal(t, 1, a.code, "%s%s", a.stdout, a.stderr)
	for i := range living {
		require.NotNil(t, row(a.stdout, fmt.Sprintf("h%d", i), "work"), "%s%s", a.stdout, a.stderr)
	}
	require.Equal(t, 1+living, strings.Count(a.stdout, "\n"), a.stdout)
	for _, name := range []string{"off", "silent1", "silent2"} {
		require.Contains(t, a.stderr, "vev: "+name+": ")
	}
	require.Equal(t, 3, strings.Count(a.stderr, "\n"), a.stderr)

	var rows []struct{ Host, State string }
	a = near.vev("ls", "--all", "--json")
	require.Equal(t, 1, a.code)
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &rows))
	dead := 0
	for _, r := range rows {
		if r.State == "unreachable" {
			dead++
		}
	}
	require.Equal(t, 3, dead)
	require.Len(t, rows, len(names))

	require.Equal(t, links, helpers(), "what was reached is not reached again")
}

// TestWhoLivesIsShownAtOnce: on a terminal the sessions of hosts that live are there while another is waited for, whose come below.
func TestWhoLivesIsShownAtOnce(t *testing.T) {
	near, far := fleet(t, "h0", "gate1", "gate2", "gate3")
	for _, host := range []string{"h0", "gate1", "gate2", "gate3"} {
		far.with("VEV_HOME="+far.path(host)).ok("new", "on-"+host, "-d", "--", "cat")
	}
	attempt := 0
	eventually(t, "a host is listed that answered once the others were", func() bool { // in 5 s, which can be too short
		attempt++
		require.LessOrEqual(t, attempt, 3)
		gate := fmt.Sprintf("gate%d", attempt)
		tt := newTerm(t, 120, 30)
		p := tt.vev(near, "ls", "--all")
		tt.sees("on-h0")
		far.write(gate+".open", nil)
		p.exits()
		text := tt.text()
		return strings.Contains(text, "on-"+gate) && strings.Index(text, "on-h0") < strings.Index(text, "on-"+gate)
	})
}
