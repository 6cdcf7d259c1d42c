//go:build linux

package e2e

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// muxHelper is a running _broker-mux-stdio and our end of its standard input and output.
type muxHelper struct {
	cmd     *exec.Cmd
	in, out *os.File
}

func (m muxHelper) Read(p []byte) (int, error)  { return m.out.Read(p) }
func (m muxHelper) Write(p []byte) (int, error) { return m.in.Write(p) }
func (m muxHelper) Close() error                { m.in.Close(); return m.out.Close() }

// mux starts a helper as ssh would: pipes, or one socket for both.
func (h *home) mux(socket bool) muxHelper {
	h.t.Helper()
	m := muxHelper{cmd: h.command("_broker-mux-stdio")}
	if socket {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		require.NoError(h.t, err)
		theirs := os.NewFile(uintptr(fds[1]), "theirs")
		defer theirs.Close()
		m.in = os.NewFile(uintptr(fds[0]), "ours")
		m.out, m.cmd.Stdin, m.cmd.Stdout = m.in, theirs, theirs
	} else {
		in, ours, err := os.Pipe()
		require.NoError(h.t, err)
		defer in.Close()
		ours2, out, err := os.Pipe()
		require.NoError(h.t, err)
		defer out.Close()
		m.in, m.out, m.cmd.Stdin, m.cmd.Stdout = ours, ours2, in, out
	}
	require.NoError(h.t, m.cmd.Start())
	return m
}

// TestTheHelperLeadsToTheDaemon: over the stdio of a helper a broker reaches the daemon of the helper's machine, many
// streams at once, each with bytes of its own; the helper ends with its broker, and what it started stays.
func TestTheHelperLeadsToTheDaemon(t *testing.T) {
	for name, socket := range map[string]bool{"pipes": false, "a socket": true} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			m := h.mux(socket)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			link, err := brokeripc.Dial(ctx, m, "test")
			require.NoError(t, err)

			_, err = link.OpenStream(ctx, "elsewhere", protocol.StartIfNeeded, nil)
			require.Equal(t, fault.NotFound, fault.KindOf(err), "a helper knows its own machine only")
			_, err = link.OpenStream(ctx, protocol.LocalHost, protocol.ExistingOnly, nil)
			require.Equal(t, fault.NotFound, fault.KindOf(err), "no daemon runs, and none was to be started")
			require.Empty(t, h.role("_daemon"))

			for _, session := range []string{"a", "b"} {
				stream, err := link.OpenStream(ctx, protocol.LocalHost, protocol.StartIfNeeded, nil)
				require.NoError(t, err)
				conn, err := sessionwire.Client(ctx, stream, "test", protocol.FeaturePacked)
				require.NoError(t, err)
				defer conn.Close()
				require.NoError(t, conn.Send(&protocol.Request{ID: 1, Body: &protocol.New{Create: protocol.Create{
					Name: session, Command: domain.Command{Argv: []string{"sh", "-c", "echo in " + session + "; cat"}, Dir: "/"},
				}}}))
				answer, err := conn.Receive()
				require.NoError(t, err)
				require.Nil(t, answer.(*protocol.Result).Failure)
			}
			require.Empty(t, h.role("_broker"), "a helper is a broker itself")
			require.Len(t, h.role("_daemon"), 1)

			require.NoError(t, link.Close())
			require.NoError(t, m.cmd.Wait())
			h.waitText("a", "in a")
			h.waitText("b", "in b")
		})
	}
}

func TestTheHelperIsNotForPeople(t *testing.T) {
	h := newHome(t)
	tt := newTerm(t, 80, 24)
	tt.vev(h, "_broker-mux-stdio")
	tt.sees("speaks to a broker")

	m := h.mux(false)
	_, err := io.WriteString(m.in, strings.Repeat("x", 100))
	require.NoError(t, err)
	err = m.cmd.Wait()
	require.Error(t, err, "what does not speak the protocol is not waited for")
	m.Close()
}
