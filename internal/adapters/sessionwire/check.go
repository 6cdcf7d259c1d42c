package sessionwire

import (
	"math"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// The checks below are about values; how long and how many things are is the shapes' affair.
// They run on what is to be sent as on what was received.

// maxTimeMS is the last millisecond of the year 9999, the last that JSON can tell.
const maxTimeMS = 253402300799999

func checkRange(what string, v, low, high int64) error {
	if v < low || v > high {
		return outside(what, v, low, high)
	}
	return nil
}

func checkSize(what string, s domain.Size) error {
	if !s.Valid() {
		return &breach{limit: true, msg: what + " size is " + s.String() + ", must be 1x1 to " +
			domain.Size{Cols: domain.MaxCols, Rows: domain.MaxRows}.String()}
	}
	return nil
}

// checkSizeOrNone lets the zero size pass.
func checkSizeOrNone(what string, s domain.Size) error {
	if s == (domain.Size{}) {
		return nil
	}
	return checkSize(what, s)
}

func checkWait(what string, d time.Duration) error {
	if d < 0 || d > protocol.MaxWait {
		return &breach{limit: true, msg: what + " is " + d.String() + ", must be 0 to " + protocol.MaxWait.String()}
	}
	return nil
}

func checkInput(m *protocol.Input) error {
	switch {
	case m.Seq == 0:
		return broken("input has no number")
	case len(m.Data) == 0:
		return broken("input %d is empty", m.Seq)
	case len(m.Data) > protocol.MaxInputBytes:
		return tooLong("input", len(m.Data), protocol.MaxInputBytes)
	}
	return nil
}

func checkResize(m *protocol.Resize) error { return checkSize("terminal", m.Size) }

func checkAttached(m *protocol.Attached) error { return checkSize("session", m.Size) }

func checkAttach(m *protocol.Attach) error {
	if err := checkSize("terminal", m.Size); err != nil {
		return err
	}
	if err := checkOrigin(&m.Origin); err != nil {
		return err
	}
	if m.Create != nil {
		return checkCreate(m.Create)
	}
	return nil
}

func checkOrigin(o *domain.Origin) error {
	return checkRange("process id of client", int64(o.Pid), 0, math.MaxInt32)
}

func checkPolicy(p domain.SizePolicy) error {
	return checkRange("size policy", int64(p), int64(domain.SizeLatest), int64(domain.SizeFixed))
}

func checkCreate(c *protocol.Create) error {
	for _, s := range c.Command.Argv {
		if err := checkNoNul("argument", s); err != nil {
			return err
		}
	}
	for _, s := range c.Command.Env {
		if err := checkNoNul("environment entry", s); err != nil {
			return err
		}
	}
	if dir := c.Command.Dir; dir != "" && dir[0] != '/' {
		return broken("directory %q is not absolute", dir)
	}
	if err := checkNoNul("directory", c.Command.Dir); err != nil {
		return err
	}
	if err := checkRange("history of a session", int64(c.HistoryLines), 0, protocol.MaxKeptLines); err != nil {
		return err
	}
	if err := checkPolicy(c.Policy); err != nil {
		return err
	}
	return checkSizeOrNone("session", c.Size)
}

// checkNoNul: the kernel takes no such string, so a program never sees half of one.
func checkNoNul(what, s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return broken("%s %q holds a NUL", what, s)
	}
	return nil
}

func checkRequest(m *protocol.Request) error {
	if err := checkWait("timeout", m.Timeout); err != nil {
		return err
	}
	switch body := m.Body.(type) {
	case *protocol.New:
		return checkCreate(&body.Create)
	case *protocol.Capture:
		return checkRange("history of capture", int64(body.HistoryLines), 0, math.MaxInt32)
	case *protocol.History:
		return checkRange("count of history", int64(body.Count), 0, math.MaxInt32)
	case *protocol.Search:
		return checkRange("column of search", int64(body.Col), 0, domain.MaxCols)
	case *protocol.SetSize:
		if err := checkPolicy(body.Policy); err != nil {
			return err
		}
		return checkSizeOrNone("session", body.Size)
	case *protocol.Wait:
		return checkWait("idle time", body.Idle)
	case *protocol.Await:
		return checkWait("idle time", body.Idle)
	case *protocol.Guarded:
		return checkGuarded(body)
	}
	return nil
}

func checkGuarded(m *protocol.Guarded) error {
	count := 0
	for _, given := range []bool{m.Type != nil, m.Keys != nil, m.Paste != nil} {
		if given {
			count++
		}
	}
	if count != 1 {
		return broken("a guarded request has %d inputs, must have 1", count)
	}
	return nil
}

func checkEnded(m *protocol.Ended) error {
	if m.Reason < protocol.EndExited || m.Reason > protocol.EndFailed {
		return outside("reason of ended", int64(m.Reason), int64(protocol.EndExited), int64(protocol.EndFailed))
	}
	if m.Reason == protocol.EndFailed && m.Failure == nil {
		return broken("ended has failed and does not say how")
	}
	return checkExit(m.Exit)
}

func checkExit(e domain.ExitStatus) error {
	if err := checkRange("exit code", int64(e.Code), math.MinInt32, math.MaxInt32); err != nil {
		return err
	}
	return checkRange("signal", int64(e.Signal), 0, 127)
}

func checkResult(m *protocol.Result) error {
	if m.Outcome > protocol.OutcomeUnknown {
		return outside("outcome of result", int64(m.Outcome), 0, int64(protocol.OutcomeUnknown))
	}
	if m.Outcome == protocol.OutcomeFailed && m.Failure == nil {
		return broken("result %d has failed and does not say how", m.ID)
	}
	switch body := m.Body.(type) {
	case *protocol.Sessions:
		for i := range body.List {
			if err := checkRow(&body.List[i]); err != nil {
				return err
			}
		}
	case *protocol.ClientList:
		for i := range body.List {
			if err := checkClient(&body.List[i]); err != nil {
				return err
			}
		}
	case *protocol.Found:
		return checkRange("column of found", int64(body.Col), 0, domain.MaxCols)
	case *protocol.WaitResult:
		return checkExit(body.Exit)
	case *protocol.Captured:
		return checkCaptured(body)
	case *protocol.Lines:
		return checkLines(body)
	case *protocol.StatsResult:
		return checkStats(&body.Stats)
	case *protocol.Awaited:
		return checkAwaited(body)
	case *protocol.RunStarted:
		return checkSize("session", body.Size)
	case *protocol.RunOutput:
		if err := checkRange("took of run output in ms", body.Took.Milliseconds(), 0, int64(maxTookMS)); err != nil {
			return err
		}
		return checkRange("status of run output", int64(body.Status), math.MinInt32, math.MaxInt32)
	}
	return nil
}

func checkWatch(m *protocol.Watch) error {
	p := m.Previews
	if p == nil {
		return nil
	}
	if p.Session.IsZero() {
		return broken("previews of no session")
	}
	if p.Interval > protocol.MaxPreviewInterval {
		return broken("interval of previews is %s, must be at most %s", p.Interval, protocol.MaxPreviewInterval)
	}
	return checkSize("preview", p.Size)
}

func checkPreview(m *protocol.Preview) error {
	switch {
	case m.Sequence == 0:
		return broken("preview has no sequence")
	case m.Ended && len(m.Content) > 0:
		return broken("the preview that ends has content")
	}
	return nil
}

func checkUpdate(m *protocol.CatalogueUpdate) error {
	if m.Revision == 0 || m.Revision-1 != m.Base {
		return broken("revision %d of the catalogue follows %d", m.Revision, m.Base)
	}
	for i := range m.Sessions {
		if err := checkRow(&m.Sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkRow(s *domain.SessionInfo) error {
	if err := checkState(s.State); err != nil {
		return err
	}
	if err := checkRange("creation of session in ms", unixMS(s.Created), 0, maxTimeMS); err != nil {
		return err
	}
	if err := checkRange("last use of session in ms", unixMS(s.LastUsed), 0, maxTimeMS); err != nil {
		return err
	}
	if err := checkRange("attached clients of session", int64(s.Attached), 0, math.MaxInt32); err != nil {
		return err
	}
	if err := checkRange("process id of session", int64(s.Pid), 0, math.MaxInt32); err != nil {
		return err
	}
	if err := checkExit(s.Exit); err != nil {
		return err
	}
	if err := checkPolicy(s.Policy); err != nil {
		return err
	}
	if err := checkCondition(&s.Condition); err != nil {
		return err
	}
	return checkSizeOrNone("session", s.Size)
}

func checkClient(c *domain.ClientInfo) error {
	if err := checkRange("attach of client in ms", unixMS(c.Attached), 0, maxTimeMS); err != nil {
		return err
	}
	if err := checkRange("last use of client in ms", unixMS(c.LastActive), 0, maxTimeMS); err != nil {
		return err
	}
	if err := checkOrigin(&c.Origin); err != nil {
		return err
	}
	return checkSize("client", c.Size)
}

func checkState(s domain.SessionState) error {
	return checkRange("session state", int64(s), int64(domain.Running), int64(domain.Exited))
}

func checkCaptured(m *protocol.Captured) error {
	if err := checkSize("capture", m.Size); err != nil {
		return err
	}
	if err := checkRange("cursor column", int64(m.CursorCol), 1, int64(m.Size.Cols)); err != nil {
		return err
	}
	if err := checkRange("cursor row", int64(m.CursorRow), 1, int64(m.Size.Rows)); err != nil {
		return err
	}
	if err := checkState(m.State); err != nil {
		return err
	}
	if err := checkExit(m.Exit); err != nil {
		return err
	}
	return checkLines(&m.Lines)
}

func checkLines(m *protocol.Lines) error {
	for i := range m.List {
		runs := m.List[i].Runs
		for j := range runs {
			r := &runs[j]
			switch {
			case r.Col < 1 || r.Col > domain.MaxCols:
				return outside("column of run", int64(r.Col), 1, domain.MaxCols)
			case r.Len < 1 || r.Len > domain.MaxCols+1-r.Col:
				return outside("length of run", int64(r.Len), 1, int64(domain.MaxCols+1-r.Col))
			case r.Underline > maxUnderline:
				return outside("underline of run", int64(r.Underline), 0, maxUnderline)
			}
		}
	}
	return nil
}

const maxUnderline = 5 // dashed

func checkStats(s *protocol.DaemonNumbers) error {
	for _, n := range []int{s.Pid, s.Sessions, s.Attachments, s.Resumable, s.Conversations, s.Goroutines} {
		if err := checkRange("a number of stats", int64(n), 0, math.MaxInt32); err != nil {
			return err
		}
	}
	return checkRange("uptime of stats in ms", uptimeMS(s), 0, math.MaxInt64/int64(time.Millisecond))
}

// uptimeMS is the field that travels; whoever fills the numbers gives one of the two.
func uptimeMS(s *protocol.DaemonNumbers) int64 {
	if s.UptimeMS != 0 {
		return s.UptimeMS
	}
	return s.Uptime.Milliseconds()
}
