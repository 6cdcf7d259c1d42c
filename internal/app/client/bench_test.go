package client

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// sink is a conversation that takes everything, and a terminal too.
type sink struct{ sent, written int }

func (s *sink) Send(protocol.SessionClientMessage) error        { s.sent++; return nil }
func (s *sink) Receive() (protocol.SessionServerMessage, error) { return nil, io.EOF }
func (s *sink) Close() error                                    { return nil }
func (s *sink) Raw() error                                      { return nil }
func (s *sink) Read([]byte) (int, error)                        { return 0, io.EOF }
func (s *sink) Write(p []byte) (int, error)                     { s.written += len(p); return len(p), nil }

func (s *sink) Size() (domain.Size, error)         { return domain.DefaultSize, nil }
func (s *sink) Events() <-chan ports.TerminalEvent { return nil }
func (s *sink) Suspend() error                     { return nil }
func (s *sink) Restore() error                     { return nil }

// echo is one key's work in the client: the key out, the state with its echo in. It is prepared for as many states as
// are asked for.
func echo(tb testing.TB, states int) (step func(i int), s *sink) {
	s = &sink{}
	c := newClient(Options{Terminal: s, Leader: DefaultLeader})
	require.NoError(tb, c.out.begin(s, 0))
	ours, err := c.screen.enter(domain.DefaultSize)
	require.NoError(tb, err)
	require.True(tb, ours)

	daemon, painter := vt.New(vt.Options{Cols: 80, Rows: 24}), render.NewPainter(render.Canonical, render.Capabilities{})
	outs := make([]protocol.Output, states)
	key := []byte("x")
	for i := range outs {
		daemon.Write(key)
		var f render.Frame
		f.SetTerminal(daemon)
		outs[i] = protocol.Output{
			Epoch: 1, Base: uint64(i), New: uint64(i + 1), Full: i == 0, InputAcked: uint64(i + 1),
			Panes: []protocol.PaneUpdate{{Pane: 1, Data: painter.Paint(nil, &f), Size: domain.DefaultSize}},
		}
	}
	return func(i int) {
		if _, detached := c.keysIn(key); detached {
			tb.Fatal("detached")
		}
		if err := c.link.output(&outs[i], nil, time.Now()); err != nil {
			tb.Fatal(err)
		}
	}, s
}

func BenchmarkEcho(b *testing.B) {
	const states = 1 << 14
	step, _ := echo(b, states)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == states {
			b.StopTimer()
			step, _ = echo(b, states)
			i = 0
			b.StartTimer()
		}
		step(i)
	}
}

func TestEchoAllocatesNothing(t *testing.T) {
	const runs = 1000
	step, s := echo(t, 2000+runs+1)
	i := 0
	for ; i < 2000; i++ { // the first ones fill buffers
		step(i)
	}
	require.Zero(t, testing.AllocsPerRun(runs, func() { step(i); i++ }))
	require.Equal(t, i+i/nearStates, s.sent, "a key each, and the acknowledgements")
}
