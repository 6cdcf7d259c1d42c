//go:build linux

package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// relayed is a carriage that takes no descriptors: the broker relays each stream, as it does for other machines.
type relayed struct{ io.ReadWriteCloser }

// brokerConnection speaks the broker conversation with a home's broker.
func brokerConnection(t *testing.T, h *home) *brokeripc.Client {
	t.Helper()
	socket, err := net.Dial("unix", filepath.Join(h.run(), "broker.sock"))
	require.NoError(t, err)
	broker, err := brokeripc.Dial(t.Context(), relayed{socket}, "e2e")
	require.NoError(t, err)
	t.Cleanup(func() { _ = broker.Close() })
	return broker
}

// viewer is an attachment without a terminal, and without the client's good manners.
type viewer struct {
	t      *testing.T
	conn   ports.SessionClientConn
	screen *vt.Terminal
	input  uint64 // last input number
	bytes  int    // of drawing received
}

func view(t *testing.T, broker *brokeripc.Client, attach protocol.Attach) *viewer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := broker.OpenStream(ctx, protocol.LocalHost, protocol.ExistingOnly, nil)
	require.NoError(t, err)
	conn, err := sessionwire.Client(ctx, stream, "e2e", protocol.FeatureNone)
	require.NoError(t, err)
	require.NoError(t, conn.Send(&attach))
	first, err := conn.Receive()
	require.NoError(t, err)
	require.IsType(t, &protocol.Attached{}, first)
	return &viewer{t: t, conn: conn}
}

// until takes in states, and acknowledges them, until ok holds of the screen.
func (v *viewer) until(ok func(s *vt.Terminal) bool) {
	v.t.Helper()
	late := time.AfterFunc(patience, func() { _ = v.conn.Close() })
	defer late.Stop()
	for v.screen == nil || !ok(v.screen) {
		m, err := v.conn.Receive()
		require.NoError(v.t, err)
		out, is := m.(*protocol.Output)
		require.True(v.t, is, "%T", m)
		if out.New == 0 {
			continue
		}
		for _, p := range out.Panes {
			if out.Full {
				v.screen = vt.New(vt.Options{Cols: p.Size.Cols, Rows: p.Size.Rows})
			}
			_, _ = v.screen.Write(p.Data)
			v.bytes += len(p.Data)
		}
		require.NoError(v.t, v.conn.Send(&protocol.Ack{Epoch: out.Epoch, State: out.New}))
	}
}

// ended takes in states until the daemon ends the attachment.
func (v *viewer) ended() *protocol.Ended {
	v.t.Helper()
	late := time.AfterFunc(patience, func() { _ = v.conn.Close() })
	defer late.Stop()
	for {
		m, err := v.conn.Receive()
		require.NoError(v.t, err)
		if end, is := m.(*protocol.Ended); is {
			return end
		}
	}
}

// latency is the median time from a key to its echo.
func (v *viewer) latency() time.Duration {
	v.t.Helper()
	var took []time.Duration
	typ := func(data string) {
		v.input++
		require.NoError(v.t, v.conn.Send(&protocol.Input{Seq: v.input, Data: []byte(data)}))
	}
	for i := range 60 {
		start := time.Now()
		typ("k")
		v.until(func(s *vt.Terminal) bool { return s.Cursor().Col == i+1 })
		took = append(took, time.Since(start))
	}
	typ("\x15")
	v.until(func(s *vt.Terminal) bool { return s.Cursor().Col == 0 })
	slices.Sort(took)
	return took[len(took)/2]
}

// TestMust4SiblingsOfUnreadStreams: 24 streams of one connection, each with more than 512 KiB to deliver, are not read;
// a sibling on the same connection keeps its echo, no stream is settled, and nothing is lost.
func TestMust4SiblingsOfUnreadStreams(t *testing.T) {
	h := newHome(t)
	size := domain.Size{Cols: 260, Rows: 100}
	// Every cell has a colour of its own, so that one screen is half a megabyte however it is drawn.
	for i := range 4 {
		picture := []byte("\x1b[H")
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		for range size.Cols * size.Rows {
			picture = fmt.Appendf(picture, "\x1b[38;2;%d;%d;%dm%c", 100+rng.IntN(156), 100+rng.IntN(156), 100+rng.IntN(156), 'a'+rune(rng.IntN(26)))
		}
		h.write(fmt.Sprintf("picture%d", i), picture)
	}
	h.ok("new", "echo", "-d", "--", "cat")
	broker := brokerConnection(t, h)
	sibling := view(t, broker, protocol.Attach{Session: "echo", Size: domain.Size{Cols: 80, Rows: 24}})
	sibling.latency() // not counted: the first finds cold caches
	idle := sibling.latency()

	var unread []*viewer
	for i := range 24 {
		name := fmt.Sprintf("s%d", i)
		h.ok("new", name, "-d", "--size", size.String(), "--", "sh", "-c",
			"stty raw -echo; echo ready; head -c 1 >/dev/null; for i in 0 1 2 3 0 1 2 3; do cat picture$i; done; printf '\\033[m\\033[Hall out'; exec cat")
		h.waitText(name, "^ready")
		unread = append(unread, view(t, broker, protocol.Attach{Session: name, Size: size}))
	}
	for i := range unread {
		h.ok("key", fmt.Sprintf("s%d", i), "Enter")
	}
	beside := sibling.latency()
	for i := range unread {
		h.waitText(fmt.Sprintf("s%d", i), "^all out")
	}
	after := sibling.latency()
	t.Logf("echo: idle %v, while they draw %v, with all of it unread %v", idle, beside, after)
	require.Less(t, after, 2*idle+busy)

	for i, v := range unread {
		v.until(func(s *vt.Terminal) bool { return strings.HasPrefix(rowText(s, 0), "all out") })
		require.Greater(t, v.bytes, 512<<10)
		require.Equal(t, h.ok("capture", fmt.Sprintf("s%d", i)), textOf(v.screen))
	}
	numbers, _ := h.stats()
	require.Zero(t, numbers.FlowErrors, "no stream was settled")
}
