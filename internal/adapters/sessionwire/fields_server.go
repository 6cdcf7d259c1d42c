package sessionwire

import (
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func visitAttached(f *wirefmt.Fields, m *protocol.Attached) {
	identifier(f, 1, "session id of attached", &m.ID)
	wirefmt.Text(f, 2, &m.Name)
	identifier(f, 3, "token of attached", &m.Token)
	wirefmt.Uint64(f, 4, &m.InputReceived)
	size(f, 5, &m.Size)
	wirefmt.Bool(f, 6, &m.ReadOnly)
	wirefmt.Bool(f, 7, &m.Created)
}

func visitEnded(f *wirefmt.Fields, m *protocol.Ended) {
	wirefmt.Uint32(f, 1, &m.Reason)
	exit(f, 2, &m.Exit)
	wirefmt.Optional(f, 3, &m.Failure, visitFailure)
}

func visitRefused(f *wirefmt.Fields, m *protocol.Refused) {
	wirefmt.Message(f, 1, true, &m.Failure, visitFailure)
	if f.Missed(1) {
		f.Refuse(broken("refused does not say why"))
	}
}

// visitResult leaves the body nil where there is none, or one of a newer peer.
func visitResult(f *wirefmt.Fields, m *protocol.Result) {
	wirefmt.Uint64(f, 1, &m.ID)
	wirefmt.Uint32(f, 2, &m.Outcome)
	wirefmt.Optional(f, 3, &m.Failure, visitFailure)
	wirefmt.Variant(f, 10, &m.Body, visitSessions)
	wirefmt.Variant(f, 11, &m.Body, visitCaptured)
	wirefmt.Variant(f, 12, &m.Body, visitWaitResult)
	wirefmt.Variant(f, 13, &m.Body, visitStats)
	wirefmt.Variant(f, 14, &m.Body, visitLines)
	wirefmt.Variant(f, 15, &m.Body, visitFound)
	wirefmt.Variant(f, 16, &m.Body, visitClientList)
	wirefmt.Variant(f, 17, &m.Body, visitRunStarted)
	wirefmt.Variant(f, 18, &m.Body, visitRunOutput)
	wirefmt.Variant(f, 19, &m.Body, visitAwaited)
}

func visitSessions(f *wirefmt.Fields, m *protocol.Sessions) {
	wirefmt.Messages(f, 1, &m.List, nil, visitRow)
}

func visitRow(f *wirefmt.Fields, s *domain.SessionInfo) {
	identifier(f, 1, "id of session", &s.ID)
	wirefmt.Text(f, 2, &s.Name)
	sessionState(f, 3, &s.State)
	exit(f, 4, &s.Exit)
	wirefmt.Uint32(f, 5, &s.Attached)
	moment(f, 6, &s.Created)
	moment(f, 7, &s.LastUsed)
	wirefmt.Uint32(f, 8, &s.Pid)
	wirefmt.Raws(f, 9, &s.Command)
	wirefmt.Raw(f, 10, &s.Cwd)
	wirefmt.Text(f, 11, &s.Title)
	size(f, 12, &s.Size)
	sizePolicy(f, 13, &s.Policy)
	condition(f, 14, &s.Condition)
	wirefmt.Uint64(f, 15, &s.Generation)
	wirefmt.Bool(f, 16, &s.Locked)
}

func visitClientList(f *wirefmt.Fields, m *protocol.ClientList) {
	wirefmt.Messages(f, 1, &m.List, nil, visitClient)
}

func visitClient(f *wirefmt.Fields, c *domain.ClientInfo) {
	wirefmt.Uint64(f, 1, &c.ID)
	identifier(f, 2, "session id of client", &c.Session)
	wirefmt.Text(f, 3, &c.SessionName)
	size(f, 4, &c.Size)
	wirefmt.Bool(f, 5, &c.ReadOnly)
	moment(f, 6, &c.Attached)
	moment(f, 7, &c.LastActive)
	origin(f, 8, &c.Origin)
}

func visitWaitResult(f *wirefmt.Fields, m *protocol.WaitResult) {
	wirefmt.Bool(f, 1, &m.Met)
	wirefmt.Text(f, 2, &m.Match)
	exit(f, 3, &m.Exit)
}

func visitCaptured(f *wirefmt.Fields, m *protocol.Captured) {
	size(f, 1, &m.Size)
	wirefmt.Message(f, 2, true, m, visitCursor)
	wirefmt.Bool(f, 3, &m.Alternate)
	wirefmt.Text(f, 4, &m.Title)
	wirefmt.Text(f, 5, &m.Cwd)
	wirefmt.Texts(f, 6, &m.Modes)
	wirefmt.Message(f, 7, true, &m.Lines, visitLines)
	sessionState(f, 8, &m.State)
	exit(f, 9, &m.Exit)
}

// visitCursor is a message of its own on the wire only.
func visitCursor(f *wirefmt.Fields, m *protocol.Captured) {
	wirefmt.Uint32(f, 1, &m.CursorCol)
	wirefmt.Uint32(f, 2, &m.CursorRow)
	wirefmt.Bool(f, 3, &m.Visible)
	wirefmt.Text(f, 4, &m.CursorStyle)
}

func visitLines(f *wirefmt.Fields, m *protocol.Lines) {
	wirefmt.Uint64(f, 1, &m.First)
	wirefmt.Messages(f, 2, &m.List, nil, visitLine)
	wirefmt.Bool(f, 3, &m.More)
}

func visitLine(f *wirefmt.Fields, l *protocol.Line) {
	wirefmt.Uint64(f, 1, &l.N)
	wirefmt.Text(f, 2, &l.Text)
	wirefmt.Bool(f, 3, &l.Wrapped)
	wirefmt.Messages(f, 4, &l.Runs, nil, visitRun)
}

func visitRun(f *wirefmt.Fields, r *protocol.Run) {
	wirefmt.Uint32(f, 1, &r.Col)
	wirefmt.Uint32(f, 2, &r.Len)
	wirefmt.Uint32(f, 3, &r.Fg)
	wirefmt.Uint32(f, 4, &r.Bg)
	wirefmt.Uint32(f, 5, &r.UnderlineColor)
	underline := uint32(r.Underline)
	if wirefmt.Uint32(f, 6, &underline) {
		r.Underline = uint8(underline)
		f.Note(6, checkRange("underline of run", int64(underline), 0, maxUnderline))
	}
	wirefmt.Uint32(f, 7, &r.Attrs)
	wirefmt.Text(f, 8, &r.Link)
}

func visitFound(f *wirefmt.Fields, m *protocol.Found) {
	wirefmt.Bool(f, 1, &m.Met)
	wirefmt.Uint64(f, 2, &m.Line)
	wirefmt.Uint32(f, 3, &m.Col)
	wirefmt.Bool(f, 4, &m.Around)
}

func visitStats(f *wirefmt.Fields, m *protocol.StatsResult) {
	s := &m.Stats
	wirefmt.Uint32(f, 1, &s.Pid)
	wirefmt.Text(f, 2, &s.Version)
	uptime := uptimeMS(s)
	if wirefmt.Uint64(f, 3, &uptime) {
		s.UptimeMS, s.Uptime = uptime, time.Duration(uptime)*time.Millisecond
	}
	wirefmt.Uint32(f, 4, &s.Sessions)
	wirefmt.Uint32(f, 5, &s.Attachments)
	wirefmt.Uint32(f, 6, &s.Resumable)
	wirefmt.Uint32(f, 7, &s.Conversations)
	wirefmt.Uint64(f, 8, &s.HistoryBytes)
	wirefmt.Uint64(f, 9, &s.OutputBytes)
	wirefmt.Uint64(f, 10, &s.StatesSent)
	wirefmt.Uint64(f, 11, &s.StateBytes)
	wirefmt.Uint64(f, 12, &s.WindowWaits)
	wirefmt.Uint64(f, 13, &s.UnackedBytes)
	wirefmt.Uint64(f, 14, &s.InputBytes)
	wirefmt.Uint64(f, 15, &s.InputQueued)
	wirefmt.Uint64(f, 16, &s.InputWaits)
	wirefmt.Uint64(f, 17, &s.HeapBytes)
	wirefmt.Uint32(f, 18, &s.Goroutines)
	wirefmt.Uint64(f, 19, &s.ForeignRefused)
}

func visitRunStarted(f *wirefmt.Fields, m *protocol.RunStarted) {
	wirefmt.Uint64(f, 1, &m.Run)
	wirefmt.Uint64(f, 2, &m.Generation)
	size(f, 3, &m.Size)
}

func visitRunOutput(f *wirefmt.Fields, m *protocol.RunOutput) {
	wirefmt.Uint64(f, 1, &m.Offset)
	wirefmt.Data(f, 2, &m.Data)
	wirefmt.Bool(f, 3, &m.Ended)
	wirefmt.Bool(f, 4, &m.HasStatus)
	wirefmt.Int32(f, 5, &m.Status)
	wirefmt.Bool(f, 6, &m.Exited)
	took(f, 7, &m.Took)
}
