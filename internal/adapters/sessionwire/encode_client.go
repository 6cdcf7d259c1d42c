package sessionwire

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// The functions below take values that check.go has passed.

func encodeSize(s domain.Size) *wire.Size {
	if s == (domain.Size{}) {
		return nil
	}
	return wire.Size_builder{Cols: uint32(s.Cols), Rows: uint32(s.Rows)}.Build()
}

func encodeResize(m *protocol.Resize) *wire.Resize {
	return wire.Resize_builder{Size: encodeSize(m.Size)}.Build()
}

func encodeAttach(m *protocol.Attach) *wire.Attach {
	out := wire.Attach_builder{Session: m.Session, ReadOnly: m.ReadOnly, Take: m.Take, Size: encodeSize(m.Size)}
	if m.Create != nil {
		out.Create = encodeCreate(m.Create)
	}
	if m.Resume != nil {
		out.Resume = wire.Resume_builder{Token: m.Resume.Token[:], EventSeq: m.Resume.EventSeq}.Build()
	}
	return out.Build()
}

func encodeCreate(c *protocol.Create) *wire.Create {
	return wire.Create_builder{
		Name: c.Name,
		Argv: toBytes(c.Command.Argv),
		Env:  toBytes(c.Command.Env),
		Dir:  []byte(c.Command.Dir),
		Size: encodeSize(c.Size),
	}.Build()
}

// toBytes: what the system calls a string need not be UTF-8 and travels as bytes.
func toBytes(in []string) [][]byte {
	out := make([][]byte, len(in))
	for i, s := range in {
		out[i] = []byte(s)
	}
	return out
}

// toMS rounds up, so that the shortest time does not become none.
func toMS(d time.Duration) uint64 {
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}

func encodeRequest(m *protocol.Request) *wire.Request {
	out := wire.Request_builder{Id: m.ID, TimeoutMs: uint32(toMS(m.Timeout))}
	switch body := m.Body.(type) {
	case *protocol.New:
		out.New = encodeCreate(&body.Create)
	case *protocol.List:
		out.List = new(wire.ListRequest)
	case *protocol.Kill:
		out.Kill = wire.KillRequest_builder{Session: body.Session}.Build()
	case *protocol.Rename:
		out.Rename = wire.RenameRequest_builder{Session: body.Session, Name: body.Name}.Build()
	case *protocol.DetachAll:
		out.Detach = wire.DetachRequest_builder{Session: body.Session}.Build()
	case *protocol.Type:
		out.Type = wire.TypeRequest_builder{Session: body.Session, Data: body.Data}.Build()
	case *protocol.Keys:
		out.Keys = wire.KeysRequest_builder{Session: body.Session, Keys: body.Names}.Build()
	case *protocol.Paste:
		out.Paste = wire.PasteRequest_builder{Session: body.Session, Data: body.Data, Begin: body.Begin, End: body.End}.Build()
	case *protocol.Capture:
		out.Capture = wire.CaptureRequest_builder{
			Session: body.Session, HistoryLines: uint32(body.HistoryLines), Look: body.Look,
		}.Build()
	case *protocol.History:
		out.History = wire.HistoryRequest_builder{
			Session: body.Session, Pane: body.Pane, First: body.First, Count: uint32(body.Count),
		}.Build()
	case *protocol.Wait:
		out.Wait = wire.WaitRequest_builder{
			Session: body.Session, Text: body.Text, IdleMs: toMS(body.Idle), Exit: body.Exit,
		}.Build()
	case *protocol.Stats:
		out.Stats = new(wire.StatsQuery)
	}
	return out.Build()
}
