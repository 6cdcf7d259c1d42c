//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row finds the line of a table that begins with these cells.
func row(table string, cells ...string) []string {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > len(cells) && strings.Join(fields[:len(cells)], " ") == strings.Join(cells, " ") {
			return fields
		}
	}
	return nil
}

// TestListsOfEveryHost: this machine's sessions and those of the hosts that were added, one of which is not there; what is not
// there is said, with what was known of it.
func TestListsOfEveryHost(t *testing.T) {
	s := newSite(t)
	s.near.ok("new", "mine", "-d", "--", "cat")
	s.near.ok("host", "add", fmt.Sprintf("ssh://%s@127.0.0.1:%d", s.user, s.port), "--name", "desk", "--transport", "ssh")
	s.near.ok("new", "desk:work", "-d", "--", "cat")
	all := s.near.ok("ls", "--all")
	require.NotNil(t, row(all, "HOST", "NAME", "STATE"))
	require.NotNil(t, row(all, "-", "mine"), all)
	require.NotNil(t, row(all, "desk", "work"), all)

	s.near.fails(3, "host", "add", fmt.Sprintf("ssh://%s@127.0.0.1:%d", s.user, freePort(t)), "--name", "dead")
	a := s.near.vev("ls", "--all")
	require.Equal(t, 1, a.code)
	require.NotNil(t, row(a.stdout, "desk", "work"), a.stdout)
	require.Contains(t, a.stderr, "vev: dead: ")
	require.Contains(t, a.stderr, "Connection refused")
	require.Equal(t, 1, strings.Count(a.stderr, "\n"))
	s.near.ok("host", "rm", "dead")
	s.near.ok("ls", "--all")

	var rows []struct {
		Host, Name, State string
		Stale             bool
		Command           []string
	}
	require.NoError(t, json.Unmarshal([]byte(s.near.ok("ls", "--all", "--json")), &rows))
	require.Len(t, rows, 2)
	require.Equal(t, "mine", rows[0].Name)
	require.Equal(t, "", rows[0].Host)
	require.Equal(t, "desk", rows[1].Host)
	require.Equal(t, []string{"cat"}, rows[1].Command)

	require.NotNil(t, row(s.near.ok("ls", "desk"), "work"))
	require.Contains(t, s.near.ok("__complete", "attach", "desk:"), "desk:work\t")
	require.Contains(t, s.near.vev("capture", "work").stderr, `hint: did you mean "desk:work"?`)
	require.Contains(t, s.near.vev("capture", "wrk").stderr, `hint: did you mean "desk:work"?`)

	// A change on the other machine by somebody there.
	s.far.ok("rename", "work", "play")
	eventually(t, "it is told", func() bool { return row(s.near.ok("ls", "--all"), "desk", "play") != nil })

	s.away()
	eventually(t, "it is stale", func() bool {
		a = s.near.vev("ls", "--all")
		return a.code == 1
	})
	require.Contains(t, a.stderr, "vev: desk: ")
	require.Contains(t, a.stderr, "; last contact ")
	require.Regexp(t, `(?m)^desk +play +[a-z ]+, \d+s ago `, a.stdout)
	rows = nil
	require.NoError(t, json.Unmarshal([]byte(s.near.vev("ls", "--all", "--json").stdout), &rows))
	require.Len(t, rows, 3)
	require.True(t, rows[1].Stale)
	require.Equal(t, "unreachable", rows[2].State)

	s.listen()
	eventually(t, "it is back", func() bool { return s.near.vev("ls", "--all").code == 0 })

	address := fmt.Sprintf("ssh://127.0.0.1:%d", s.port)
	require.NotNil(t, row(s.near.ok("ls", address), "play"))
	all = s.near.ok("ls", "--all")
	require.NotNil(t, row(all, "desk", "play"), all)
	require.Nil(t, row(all, address, "play"), "it is the same machine")
}
