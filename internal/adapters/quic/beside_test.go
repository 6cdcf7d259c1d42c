package quic

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// overSSH is a link to a machine as ssh carries it, whose other end has o.
func (m *machine) overSSH(o broker.Options) ports.Link {
	o.Daemon, o.Version = m, software
	b := broker.New(o)
	near, far := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		conn, err := m.accept(context.Background(), far)
		if err == nil {
			_ = b.Serve(context.Background(), conn)
		}
	})
	l, err := brokeripc.Dial(m.t.Context(), near, software)
	require.NoError(m.t, err)
	m.t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
		b.Close()
	})
	return l
}

// says is an Invite that answers with a line.
func (m *machine) says(line func() ([]byte, error)) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		text, err := line()
		if err != nil {
			return nil, err
		}
		near, far := net.Pipe()
		m.talks.Go(func() {
			_, _ = far.Write(text)
			_ = far.Close()
		})
		return near, nil
	}
}

// A link over ssh leads to the proxy: no ssh runs for that, and nobody is asked. One to an older vev does not, and ssh does.
func TestALinkLeadsToTheProxy(t *testing.T) {
	for _, c := range []struct {
		name   string
		invite bool
		runs   int64
	}{{"a vev that knows how", true, 0}, {"an older one", false, 1}} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, Ports{})
			way := &ssh{to: m}
			d := newDialer(way)
			var o broker.Options
			if c.invite {
				o.Invite = m.says(m.proxy.Invite)
			}
			beside := m.overSSH(o)
			l, err := d.DialBeside(t.Context(), "far", beside)
			require.NoError(t, err)
			defer l.Close()
			echoes(t, open(t, l), "hello")
			require.Equal(t, c.runs, way.runs.Load())
			echoes(t, open(t, beside), "it goes on")
		})
	}
}

// What comes in a readiness line's place is refused, and ssh is not run for it.
func TestALinkThatDoesNotLeadThere(t *testing.T) {
	m := newMachine(t, Ports{})
	text := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	for _, c := range []struct {
		name string
		line func() ([]byte, error)
		kind fault.Kind
	}{
		{"no line", text(""), fault.Unavailable},
		{"no JSON", text("come in"), fault.Violation},
		{"too long", text(strings.Repeat(" ", MaxReadyBytes) + "{}"), fault.Violation},
		{"no proxy", func() ([]byte, error) { return nil, fault.New(fault.Unavailable, "it does not start") }, fault.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			way := &ssh{to: m}
			_, err := newDialer(way).DialBeside(t.Context(), "far", m.overSSH(broker.Options{Invite: m.says(c.line)}))
			require.Equal(t, c.kind, fault.KindOf(err), "%v", err)
			require.Zero(t, way.runs.Load())
		})
	}
	t.Run("silence", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		silent := func(context.Context) (io.ReadWriteCloser, error) {
			near, far := net.Pipe()
			t.Cleanup(func() { _ = far.Close() })
			return near, nil
		}
		way := &ssh{to: m}
		_, err := newDialer(way).DialBeside(ctx, "far", m.overSSH(broker.Options{Invite: silent}))
		require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
		require.Zero(t, way.runs.Load())
	})
}
