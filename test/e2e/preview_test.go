//go:build linux

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// However a preview or a live view is asked to end, the terminal is as it was and the sessions go on.
func TestLooksRestoreTheTerminal(t *testing.T) {
	h := newHome(t)
	h.sh("x", `printf '\033[?1049h\033[?1000h\033[?25l\033[?1h\033='; echo on; exec cat`)
	for _, command := range [][]string{{"preview"}, {"preview", "--all"}, {"watch", "x"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, 0} {
			t.Run(strings.Join(command, " ")+" "+sig.String(), func(t *testing.T) {
				h.t = t
				tt, asBefore := found(t, 80, 24)
				p := tt.vev(h, command...)
				tt.until("the session", func(s *vt.Terminal) bool { return s.Modes().Alternate && strings.Contains(textOf(s), "on\n") })
				if sig != 0 {
					p.signal(sig)
				} else {
					tt.typ("q")
				}
				code := p.exits()
				require.Equal(t, sig == 0, code == 0)
				asBefore()
			})
		}
	}
	h.t = t
	require.Equal(t, "running", h.session("x").State)
	require.Zero(t, h.session("x").Attached)
}

// A broker that is killed, or asked to end, is followed by another one under a preview that goes on.
func TestPreviewOutlivesItsBroker(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo alive; while read x; do echo got $x; done")
	tt, asBefore := found(t, 80, 24)
	p := tt.vev(h, "preview")
	tt.sees("alive")
	for i, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		old := h.one("_broker")
		require.NoError(t, syscall.Kill(old, sig))
		waitGone(t, old)
		h.ok("send", "x", strings.Repeat("more", i+1))
		h.ok("key", "x", "Enter")
		tt.sees("got " + strings.Repeat("more", i+1) + "\n")
	}
	h.sh("y", "echo another; exec cat")
	tt.sees("another")
	kill9(t, h.one("_daemon"))
	tt.sees("no sessions; q leaves")
	tt.typ("q")
	require.Zero(t, p.exits())
	asBefore()
}

// Sessions of another machine are seen, watched and chosen over ssh.
func TestSSHPreviewAndWatch(t *testing.T) {
	s := newSite(t)
	s.far.sh("w", "echo far away; while read x; do echo got $x; done; exit 3")
	tt, asBefore := found(t, 80, 24)
	p := tt.vev(s.near, "preview", "far")
	tt.sees("far:w")
	tt.sees("far away")
	s.near.ok("send", "far:w", "hello")
	s.near.ok("key", "far:w", "Enter")
	tt.sees("got hello")
	require.Zero(t, s.far.session("w").Attached)
	tt.typ("\r")
	eventually(t, "the chosen session is attached", func() bool { return s.far.session("w").Attached == 1 })
	tt.typ("typed here\r")
	tt.sees("got typed here")
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
	asBefore()

	tt = newTerm(t, 80, 24)
	p = tt.vev(s.near, "watch", "far:w")
	tt.sees("got typed here")
	tt.typ("x\r")
	s.near.ok("key", "far:w", "C-d")
	require.Equal(t, 3, p.exits())
	tt.sees("session far:w ended: status 3")
}
