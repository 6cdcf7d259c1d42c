//go:build linux

package e2e

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// agent is an ssh agent that only says who it is, and returns its socket.
func agent(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent-") // short: a socket's path
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, name)
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name)
			conn.Close()
		}
	}()
	return path
}

// TestBC55AgentAfterReattach: a program that started before the new login finds the agent of the login whose keys came
// last, at the path it has known from the start; with nobody there it finds none.
func TestBC55AgentAfterReattach(t *testing.T) {
	h := newHome(t)
	h.with("SSH_AUTH_SOCK="+agent(t, "first")).ok("new", "x", "-d", "--size", "200x24", "--", "sh", "-c", `echo "agent=$SSH_AUTH_SOCK"; exec cat`)
	h.waitText("x", "^agent=/")
	place, _, _ := strings.Cut(strings.TrimPrefix(h.ok("capture", "x"), "agent="), "\n")
	answers := func() string {
		conn, err := net.Dial("unix", place)
		if err != nil {
			return "none"
		}
		defer conn.Close()
		name, _ := io.ReadAll(conn)
		return string(name)
	}
	leads := func(name string) {
		t.Helper()
		eventually(t, "the place leads to "+name, func() bool { return answers() == name })
	}
	leads("first")
	login := func(name string) (*term, *program) {
		tt := newTerm(t, 80, 24)
		p := tt.vev(h.with("SSH_AUTH_SOCK="+agent(t, name)), "attach", "x")
		tt.sees("agent=")
		return tt, p
	}
	second, ps := login("second")
	leads("second")
	third, pt := login("third")
	leads("third")
	second.typ("k")
	leads("second")
	third.typ("k")
	leads("third")
	third.typ("\x1cd")
	require.Zero(t, pt.exits())
	leads("second")
	second.typ("\x1cd")
	require.Zero(t, ps.exits())
	leads("none")
}
