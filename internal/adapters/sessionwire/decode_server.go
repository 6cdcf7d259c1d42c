package sessionwire

import (
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func decodeAttached(w *wire.Attached) (protocol.SessionServerMessage, error) {
	m := &protocol.Attached{
		Name: w.GetName(), InputReceived: w.GetInputReceived(), Size: decodeSize(w.GetSize()),
		ReadOnly: w.GetReadOnly(), Created: w.GetCreated(),
	}
	if err := takeExactly(m.ID[:], w.GetSessionId(), "session id of attached"); err != nil {
		return nil, err
	}
	if err := takeExactly(m.Token[:], w.GetToken(), "token of attached"); err != nil {
		return nil, err
	}
	return m, checkSize("session", m.Size)
}

// decodeFailure takes a code of a newer peer for Internal: nobody here can act on it.
func decodeFailure(w *wire.Failure) *protocol.Failure {
	if w == nil {
		return nil
	}
	f := &protocol.Failure{Text: w.GetText(), Hint: w.GetHint()}
	if code := w.GetCode(); code <= 0xff && fault.Kind(code).Valid() {
		f.Kind = fault.Kind(code)
	}
	return f
}

// decodeExit takes a signal that no system has for an impossible one, which the checks refuse.
func decodeExit(w *wire.ExitStatus) domain.ExitStatus {
	return domain.ExitStatus{Code: int(w.GetCode()), Signal: syscall.Signal(w.GetSignal())}
}

func decodeEnded(w *wire.Ended) (protocol.SessionServerMessage, error) {
	m := &protocol.Ended{
		Reason: protocol.EndReason(w.GetReason()), Exit: decodeExit(w.GetExit()), Failure: decodeFailure(w.GetFailure()),
	}
	return m, checkEnded(m)
}

func decodeRefused(w *wire.Refused) (protocol.SessionServerMessage, error) {
	if !w.HasFailure() {
		return nil, broken("refused does not say why")
	}
	return &protocol.Refused{Failure: *decodeFailure(w.GetFailure())}, nil
}

func decodeResult(w *wire.Result) (protocol.SessionServerMessage, error) {
	m := &protocol.Result{
		ID: w.GetId(), Outcome: protocol.Outcome(w.GetOutcome()), Failure: decodeFailure(w.GetFailure()),
	}
	var err error
	if m.Body, err = decodeResultBody(w); err != nil {
		return nil, err
	}
	return m, checkResult(m)
}

// decodeResultBody returns nil where there is none, or one of a newer peer.
func decodeResultBody(w *wire.Result) (protocol.ResultBody, error) {
	switch w.WhichBody() {
	case wire.Result_Sessions_case:
		return decodeSessions(w.GetSessions())
	case wire.Result_Wait_case:
		r := w.GetWait()
		return &protocol.WaitResult{Met: r.GetMet(), Match: r.GetMatch(), Exit: decodeExit(r.GetExit())}, nil
	case wire.Result_Capture_case:
		return decodeCaptured(w.GetCapture())
	case wire.Result_History_case:
		lines, err := decodeLines(w.GetHistory())
		return &lines, err
	case wire.Result_Stats_case:
		return decodeStats(w.GetStats())
	}
	return nil, nil
}

func decodeSessions(w *wire.SessionList) (*protocol.Sessions, error) {
	m := &protocol.Sessions{}
	for _, r := range w.GetSessions() {
		state, err := decodeState(r.GetState())
		if err != nil {
			return nil, err
		}
		s := domain.SessionInfo{
			Name: r.GetName(), State: state, Exit: decodeExit(r.GetExit()), Attached: int(r.GetAttached()),
			Created: fromUnixMS(r.GetCreatedUnixMs()), LastUsed: fromUnixMS(r.GetLastUsedUnixMs()), Pid: int(r.GetPid()),
			Command: toStrings(r.GetCommand()), Cwd: string(r.GetCwd()), Title: r.GetTitle(), Size: decodeSize(r.GetSize()),
		}
		if err := takeExactly(s.ID[:], r.GetId(), "id of session"); err != nil {
			return nil, err
		}
		m.List = append(m.List, s)
	}
	return m, nil
}

// decodeState checks before it narrows.
func decodeState(v uint32) (domain.SessionState, error) {
	err := checkRange("session state", int64(v), int64(domain.Running), int64(domain.Exited))
	return domain.SessionState(v), err
}

func fromUnixMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func decodeCaptured(w *wire.Capture) (*protocol.Captured, error) {
	state, err := decodeState(w.GetState())
	if err != nil {
		return nil, err
	}
	lines, err := decodeLines(w.GetLines())
	if err != nil {
		return nil, err
	}
	c := w.GetCursor()
	return &protocol.Captured{
		Size: decodeSize(w.GetSize()), CursorCol: int(c.GetCol()), CursorRow: int(c.GetRow()), Visible: c.GetVisible(),
		CursorStyle: c.GetStyle(), Alternate: w.GetAlternate(), Title: w.GetTitle(), Cwd: w.GetCwd(),
		Modes: w.GetModes(), Lines: lines, State: state, Exit: decodeExit(w.GetExit()),
	}, nil
}

func decodeLines(w *wire.Lines) (protocol.Lines, error) {
	m := protocol.Lines{First: w.GetFirstLine(), More: w.GetMore()}
	if n := len(w.GetLines()); n > 0 {
		m.List = make([]protocol.Line, n)
	}
	for i, l := range w.GetLines() {
		m.List[i] = protocol.Line{N: l.GetN(), Text: l.GetText(), Wrapped: l.GetWrapped()}
		for _, r := range l.GetRuns() {
			if r.GetUnderline() > maxUnderline {
				return m, outside("underline of run", int64(r.GetUnderline()), 0, maxUnderline)
			}
			m.List[i].Runs = append(m.List[i].Runs, protocol.Run{
				Col: int(r.GetCol()), Len: int(r.GetLen()), Fg: r.GetFg(), Bg: r.GetBg(), UnderlineColor: r.GetUnderlineColor(),
				Underline: uint8(r.GetUnderline()), Attrs: protocol.RunAttrs(r.GetAttrs()), Link: r.GetLink(),
			})
		}
	}
	return m, nil
}

func decodeStats(w *wire.DaemonStats) (*protocol.StatsResult, error) {
	m := &protocol.StatsResult{Stats: protocol.DaemonNumbers{
		Pid: int(w.GetPid()), Version: w.GetVersion(), UptimeMS: int64(w.GetUptimeMs()), Sessions: int(w.GetSessions()),
		Attachments: int(w.GetAttachments()), Resumable: int(w.GetResumable()), Conversations: int(w.GetConversations()),
		HistoryBytes: w.GetHistoryBytes(), OutputBytes: w.GetOutputBytes(), StatesSent: w.GetStatesSent(),
		StateBytes: w.GetStateBytes(), WindowWaits: w.GetWindowWaits(), UnackedBytes: w.GetUnackedBytes(),
		InputBytes: w.GetInputBytes(), InputQueued: w.GetInputQueued(), InputWaits: w.GetInputWaits(),
		HeapBytes: w.GetHeapBytes(), Goroutines: int(w.GetGoroutines()), ForeignRefused: w.GetForeignRefused(),
	}}
	err := checkStats(&m.Stats)
	m.Stats.Uptime = time.Duration(m.Stats.UptimeMS) * time.Millisecond
	return m, err
}
