package sessionwire

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// The functions below take values that check.go has passed.

func encodeAttached(m *protocol.Attached) *wire.Attached {
	return wire.Attached_builder{
		SessionId: m.ID[:], Name: m.Name, Token: m.Token[:], InputReceived: m.InputReceived,
		Size: encodeSize(m.Size), ReadOnly: m.ReadOnly, Created: m.Created,
	}.Build()
}

func encodeFailure(f *protocol.Failure) *wire.Failure {
	if f == nil {
		return nil
	}
	return wire.Failure_builder{Code: uint32(f.Kind), Text: f.Text, Hint: f.Hint}.Build()
}

func encodeExit(e domain.ExitStatus) *wire.ExitStatus {
	if e == (domain.ExitStatus{}) {
		return nil
	}
	return wire.ExitStatus_builder{Code: int32(e.Code), Signal: uint32(e.Signal)}.Build()
}

func encodeEnded(m *protocol.Ended) *wire.Ended {
	return wire.Ended_builder{Reason: uint32(m.Reason), Exit: encodeExit(m.Exit), Failure: encodeFailure(m.Failure)}.Build()
}

func encodeRefused(m *protocol.Refused) *wire.Refused {
	return wire.Refused_builder{Failure: encodeFailure(&m.Failure)}.Build()
}

func encodeResult(m *protocol.Result) *wire.Result {
	out := wire.Result_builder{Id: m.ID, Outcome: uint32(m.Outcome), Failure: encodeFailure(m.Failure)}
	switch body := m.Body.(type) {
	case *protocol.Sessions:
		rows := make([]*wire.SessionRow, len(body.List))
		for i := range body.List {
			rows[i] = encodeRow(&body.List[i])
		}
		out.Sessions = wire.SessionList_builder{Sessions: rows}.Build()
	case *protocol.WaitResult:
		out.Wait = wire.WaitResult_builder{Met: body.Met, Match: body.Match, Exit: encodeExit(body.Exit)}.Build()
	case *protocol.Captured:
		out.Capture = encodeCaptured(body)
	case *protocol.Lines:
		out.History = encodeLines(body)
	case *protocol.StatsResult:
		out.Stats = encodeStats(&body.Stats)
	}
	return out.Build()
}

func encodeRow(s *domain.SessionInfo) *wire.SessionRow {
	return wire.SessionRow_builder{
		Id: s.ID[:], Name: s.Name, State: uint32(s.State), Exit: encodeExit(s.Exit), Attached: uint32(s.Attached),
		CreatedUnixMs: unixMS(s.Created), LastUsedUnixMs: unixMS(s.LastUsed), Pid: uint32(s.Pid),
		Command: toBytes(s.Command), Cwd: []byte(s.Cwd), Title: s.Title, Size: encodeSize(s.Size),
	}.Build()
}

// unixMS gives 0 for the zero time, which means "never".
func unixMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func encodeCaptured(m *protocol.Captured) *wire.Capture {
	return wire.Capture_builder{
		Size: encodeSize(m.Size),
		Cursor: wire.Cursor_builder{
			Col: uint32(m.CursorCol), Row: uint32(m.CursorRow), Visible: m.Visible, Style: m.CursorStyle,
		}.Build(),
		Alternate: m.Alternate, Title: m.Title, Cwd: m.Cwd, Modes: m.Modes, Lines: encodeLines(&m.Lines),
		State: uint32(m.State), Exit: encodeExit(m.Exit),
	}.Build()
}

func encodeLines(m *protocol.Lines) *wire.Lines {
	lines := make([]*wire.Line, len(m.List))
	for i := range m.List {
		l := &m.List[i]
		runs := make([]*wire.Run, len(l.Runs))
		for j := range l.Runs {
			runs[j] = encodeRun(&l.Runs[j])
		}
		lines[i] = wire.Line_builder{N: l.N, Text: l.Text, Wrapped: l.Wrapped, Runs: runs}.Build()
	}
	return wire.Lines_builder{FirstLine: m.First, Lines: lines, More: m.More}.Build()
}

func encodeRun(r *protocol.Run) *wire.Run {
	return wire.Run_builder{
		Col: uint32(r.Col), Len: uint32(r.Len), Fg: r.Fg, Bg: r.Bg, UnderlineColor: r.UnderlineColor,
		Underline: uint32(r.Underline), Attrs: uint32(r.Attrs), Link: r.Link,
	}.Build()
}

func encodeStats(s *protocol.DaemonNumbers) *wire.DaemonStats {
	return wire.DaemonStats_builder{
		Pid: uint32(s.Pid), Version: s.Version, UptimeMs: uint64(uptimeMS(s)), Sessions: uint32(s.Sessions),
		Attachments: uint32(s.Attachments), Resumable: uint32(s.Resumable), Conversations: uint32(s.Conversations),
		HistoryBytes: s.HistoryBytes, OutputBytes: s.OutputBytes, StatesSent: s.StatesSent, StateBytes: s.StateBytes,
		WindowWaits: s.WindowWaits, UnackedBytes: s.UnackedBytes, InputBytes: s.InputBytes,
		InputQueued: s.InputQueued, InputWaits: s.InputWaits, HeapBytes: s.HeapBytes,
		Goroutines: uint32(s.Goroutines), ForeignRefused: s.ForeignRefused,
	}.Build()
}
