package sessionwire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// canonical is what the generated code makes of our bytes: read and written again.
func canonical(t require.TestingT, frame []byte, env proto.Message) []byte {
	require.NoError(t, proto.Unmarshal(frame, env))
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(env)
	require.NoError(t, err)
	return out
}

func TestClientMessagesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genClient().Draw(t, "message")
		frame, err := appendClient(nil, m)
		require.NoError(t, err)
		got, err := new(clientDecoder).decode(frame)
		require.NoError(t, err)
		require.Equal(t, m, got)
		require.Equal(t, canonical(t, frame, new(wire.SessionClientEnvelope)), frame, "bytes differ from the generated code's")
	})
}

func TestServerMessagesSurviveTheWire(t *testing.T) {
	var dec serverDecoder // one for all: what an earlier message left must not show
	rapid.Check(t, func(t *rapid.T) {
		m := genServer().Draw(t, "message")
		frame, err := appendServer(nil, m)
		require.NoError(t, err)
		got, err := dec.decode(frame)
		require.NoError(t, err)
		require.Equal(t, m, withoutEmpty(got))
		require.Equal(t, canonical(t, frame, new(wire.SessionServerEnvelope)), frame, "bytes differ from the generated code's")
	})
}

// withoutEmpty is a copy of an Output whose empty slices are nil; other messages stay.
func withoutEmpty(m protocol.SessionServerMessage) protocol.SessionServerMessage {
	o, ok := m.(*protocol.Output)
	if !ok {
		return m
	}
	c := *o
	if len(c.Panes) == 0 {
		c.Panes = nil
	}
	if len(c.Events) == 0 {
		c.Events = nil
	}
	if c.Layout != nil && len(c.Layout.Panes) == 0 {
		c.Layout = &protocol.Layout{Size: c.Layout.Size, Policy: c.Layout.Policy}
	}
	return &c
}

// The generated code reads the same values from a hand-written Output.
func TestOutputMeansTheSameToTheGeneratedCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genOutput().Draw(t, "output")
		frame, err := appendServer(nil, m)
		require.NoError(t, err)
		env := new(wire.SessionServerEnvelope)
		require.NoError(t, proto.Unmarshal(frame, env))
		require.Equal(t, m, outputOf(env.GetOutput()))
	})
}

// outputOf converts what the generated code has read, for comparison.
func outputOf(w *wire.Output) *protocol.Output {
	m := &protocol.Output{
		Epoch: w.GetEpoch(), Base: w.GetBase(), New: w.GetNew(), Full: w.GetFull(), Echo: w.GetEcho(), InputAcked: w.GetInputAcked(),
	}
	if w.HasLayout() {
		m.Layout = &protocol.Layout{Size: sizeOf(w.GetLayout().GetSize()), Policy: domain.SizePolicy(w.GetLayout().GetSizePolicy())}
		for _, p := range w.GetLayout().GetPanes() {
			m.Layout.Panes = append(m.Layout.Panes, protocol.PanePlace{
				Pane: p.GetPane(), Col: int(p.GetCol()), Row: int(p.GetRow()), Size: sizeOf(p.GetSize()),
			})
		}
	}
	for _, p := range w.GetPanes() {
		m.Panes = append(m.Panes, protocol.PaneUpdate{
			Pane: p.GetPane(), Data: notEmpty(p.GetData()), ScreenTop: p.GetScreenTop(), FirstLine: p.GetFirstLine(), Size: sizeOf(p.GetSize()),
		})
	}
	for _, e := range w.GetEvents() {
		m.Events = append(m.Events, protocol.Event{Seq: e.GetSeq(), Pane: e.GetPane(), Body: eventOf(e)})
	}
	return m
}

func sizeOf(w *wire.Size) domain.Size {
	return domain.Size{Cols: int(w.GetCols()), Rows: int(w.GetRows())}
}

func eventOf(e *wire.Event) protocol.EventBody {
	switch e.WhichBody() {
	case wire.Event_Bell_case:
		return protocol.Bell{}
	case wire.Event_Title_case:
		return protocol.Title{Text: e.GetTitle()}
	case wire.Event_Cwd_case:
		return protocol.Cwd{Path: e.GetCwd()}
	case wire.Event_Clipboard_case:
		return protocol.Clipboard{Selection: e.GetClipboard().GetSelection(), Data: notEmpty(e.GetClipboard().GetData())}
	case wire.Event_Notification_case:
		return protocol.Notification{Title: e.GetNotification().GetTitle(), Body: e.GetNotification().GetBody()}
	case wire.Event_Progress_case:
		return protocol.ProgressEvent{Percent: int(e.GetProgress())}
	case wire.Event_PromptMark_case:
		m := e.GetPromptMark()
		return protocol.PromptMark{Kind: byte(m.GetKind()), Line: m.GetLine(), Status: int(m.GetStatus())}
	case wire.Event_Renamed_case:
		return protocol.Renamed{Name: e.GetRenamed()}
	}
	return nil
}

func TestDecodedSlicesAliasTheFrame(t *testing.T) {
	frame, err := appendClient(nil, &protocol.Input{Seq: 7, Data: []byte("abc")})
	require.NoError(t, err)
	m, err := new(clientDecoder).decode(frame)
	require.NoError(t, err)
	copy(frame[len(frame)-3:], "xyz")
	require.Equal(t, "xyz", string(m.(*protocol.Input).Data))
}

// hotOutput is an echo's state: one pane, a few bytes.
func hotOutput(n int) *protocol.Output {
	return &protocol.Output{
		Epoch: 1, Base: 41, New: 42, Echo: 40, InputAcked: 41,
		Panes: []protocol.PaneUpdate{{
			Pane: 1, Data: bytes.Repeat([]byte("x"), n), ScreenTop: 100000, Size: domain.Size{Cols: 80, Rows: 24},
		}},
	}
}

func TestHotMessagesAllocateNothing(t *testing.T) {
	var (
		buf    = make([]byte, 0, 4096)
		cd     clientDecoder
		sd     serverDecoder
		input  = &protocol.Input{Seq: 1 << 40, Data: []byte("ls -l\r")}
		ack    = &protocol.Ack{Epoch: 3, State: 1 << 20, EventSeq: 9}
		output = hotOutput(300)
	)
	allocs := func(what string, f func() error) {
		require.NoError(t, f())
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = f() }), what)
	}
	for what, m := range map[string]protocol.SessionClientMessage{"input": input, "ack": ack} {
		allocs(what, func() (err error) { buf, err = appendClient(buf[:0], m); return err })
		allocs(what+" decoded", func() error { _, err := cd.decode(buf); return err })
	}
	allocs("output", func() (err error) { buf, err = appendServer(buf[:0], output); return err })
	allocs("output decoded", func() error { _, err := sd.decode(buf); return err })
}

func BenchmarkOutput(b *testing.B) {
	var (
		buf = make([]byte, 0, 4096)
		dec serverDecoder
		m   = hotOutput(300)
	)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = appendServer(buf[:0], m)
		if _, err := dec.decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}
