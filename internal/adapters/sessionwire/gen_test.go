package sessionwire

import (
	"strings"
	"syscall"
	"time"

	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// Generators of legal messages. What is empty is nil, as a decoder makes it.

func genData(most int) *rapid.Generator[[]byte] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, most), func(b []byte) []byte {
		if len(b) == 0 {
			return nil
		}
		return b
	})
}

func genText(most int) *rapid.Generator[string] { return rapid.StringN(0, most/4, most) }

func genSize() *rapid.Generator[domain.Size] {
	return rapid.Custom(func(t *rapid.T) domain.Size {
		return domain.Size{
			Cols: rapid.IntRange(1, domain.MaxCols).Draw(t, "cols"),
			Rows: rapid.IntRange(1, domain.MaxRows).Draw(t, "rows"),
		}
	})
}

func genSizeOrNone() *rapid.Generator[domain.Size] {
	return rapid.OneOf(rapid.Just(domain.Size{}), genSize())
}

// genStrings makes byte strings without NUL that need not be UTF-8.
func genStrings(most int) *rapid.Generator[[]string] {
	return rapid.Map(rapid.SliceOfN(genData(40), 0, most), func(in [][]byte) (out []string) {
		for _, b := range in {
			out = append(out, strings.ReplaceAll(string(b), "\x00", "."))
		}
		return out
	})
}

func genMS(most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(0, most.Milliseconds()), func(ms int64) time.Duration {
		return time.Duration(ms) * time.Millisecond
	})
}

func genCreate() *rapid.Generator[protocol.Create] {
	return rapid.Custom(func(t *rapid.T) protocol.Create {
		return protocol.Create{
			Name: genText(domain.MaxNameBytes).Draw(t, "name"),
			Command: domain.Command{
				Argv: genStrings(6).Draw(t, "argv"),
				Env:  genStrings(6).Draw(t, "env"),
				Dir:  rapid.SampledFrom([]string{"", "/", "/home/u\xff"}).Draw(t, "dir"),
			},
			Size:         genSizeOrNone().Draw(t, "size"),
			Policy:       genPolicy().Draw(t, "policy"),
			HistoryLines: rapid.IntRange(0, protocol.MaxKeptLines).Draw(t, "history lines"),
			OwnEnv:       rapid.Bool().Draw(t, "own environment"),
		}
	})
}

func genPolicy() *rapid.Generator[domain.SizePolicy] {
	return rapid.Map(rapid.Uint8Range(0, uint8(domain.SizeFixed)), func(n uint8) domain.SizePolicy { return domain.SizePolicy(n) })
}

func genOrigin() *rapid.Generator[domain.Origin] {
	return rapid.Custom(func(t *rapid.T) domain.Origin {
		return domain.Origin{
			Terminal: genText(protocol.MaxHostBytes).Draw(t, "terminal"), Host: genText(protocol.MaxHostBytes).Draw(t, "host"),
			Pid: rapid.IntRange(0, 1<<31-1).Draw(t, "pid"),
		}
	})
}

func genToken() *rapid.Generator[protocol.Token] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) protocol.Token { return protocol.Token(b) })
}

func genAttach() *rapid.Generator[*protocol.Attach] {
	return rapid.Custom(func(t *rapid.T) *protocol.Attach {
		m := &protocol.Attach{
			Session: genText(domain.MaxNameBytes).Draw(t, "session"), ReadOnly: rapid.Bool().Draw(t, "read only"),
			Take: rapid.Bool().Draw(t, "take"), Size: genSize().Draw(t, "size"),
			Agent: genText(protocol.MaxPathBytes).Draw(t, "agent"), Origin: genOrigin().Draw(t, "origin"),
		}
		if rapid.Bool().Draw(t, "create") {
			c := genCreate().Draw(t, "new session")
			m.Create = &c
		}
		if rapid.Bool().Draw(t, "resume") {
			m.Resume = &protocol.Resume{Token: genToken().Draw(t, "token"), EventSeq: rapid.Uint64().Draw(t, "seq")}
		}
		return m
	})
}

func genRequestBody() *rapid.Generator[protocol.RequestBody] {
	return rapid.Custom(func(t *rapid.T) protocol.RequestBody {
		session := genText(domain.MaxNameBytes).Draw(t, "session")
		switch rapid.IntRange(0, 21).Draw(t, "request") {
		case 20:
			return &protocol.Await{
				Session: session, Text: genText(100).Draw(t, "text"), Idle: genMS(protocol.MaxWait).Draw(t, "idle"),
				Exit: rapid.Bool().Draw(t, "exit"), Prompt: rapid.Bool().Draw(t, "prompt"), Changed: rapid.Bool().Draw(t, "changed"),
				Events: domain.EventSet(rapid.Uint64().Draw(t, "events")), States: domain.ActivitySet(rapid.Uint32().Draw(t, "states")),
				Since: rapid.Uint64().Draw(t, "since"),
			}
		case 0:
			return &protocol.New{Create: genCreate().Draw(t, "create")}
		case 1:
			return &protocol.List{Brief: rapid.Bool().Draw(t, "brief")}
		case 2:
			return &protocol.Kill{Session: session}
		case 3:
			return &protocol.Rename{Session: session, Name: genText(domain.MaxNameBytes).Draw(t, "name")}
		case 4:
			return &protocol.DetachAll{Session: session}
		case 5:
			return &protocol.Type{Session: session, Data: genData(100).Draw(t, "data")}
		case 6:
			var names []string
			for range rapid.IntRange(0, 3).Draw(t, "keys") {
				names = append(names, genText(protocol.MaxKeyBytes).Draw(t, "key"))
			}
			return &protocol.Keys{Session: session, Names: names}
		case 7:
			return &protocol.Paste{
				Session: session, Data: genData(100).Draw(t, "data"),
				Begin: rapid.Bool().Draw(t, "begin"), End: rapid.Bool().Draw(t, "end"),
			}
		case 8:
			return &protocol.Capture{
				Session: session, HistoryLines: rapid.IntRange(0, 1<<31-1).Draw(t, "lines"),
			}
		case 9:
			return &protocol.History{
				Session: session, Pane: rapid.Uint64().Draw(t, "pane"), First: rapid.Uint64().Draw(t, "first"),
				Count: rapid.IntRange(0, 1<<31-1).Draw(t, "count"),
			}
		case 10:
			return &protocol.Wait{
				Session: session, Text: genText(100).Draw(t, "text"), Idle: genMS(protocol.MaxWait).Draw(t, "idle"),
				Exit: rapid.Bool().Draw(t, "exit"),
			}
		case 11:
			return &protocol.Stats{}
		case 12:
			return &protocol.Search{
				Session: session, Pane: rapid.Uint64().Draw(t, "pane"), Pattern: genText(100).Draw(t, "pattern"),
				Line: rapid.Uint64().Draw(t, "line"), Col: rapid.IntRange(0, domain.MaxCols).Draw(t, "col"),
				Backward: rapid.Bool().Draw(t, "backward"), Around: rapid.Bool().Draw(t, "around"),
			}
		case 13:
			return &protocol.Clients{Session: session}
		case 14:
			return &protocol.DetachClient{Session: session, Client: rapid.Uint64().Draw(t, "client")}
		case 15:
			return &protocol.SetSize{
				Session: session, Policy: genPolicy().Draw(t, "policy"), Size: genSizeOrNone().Draw(t, "size"),
			}
		case 16:
			return &protocol.RunCommand{
				Session: session, Command: genText(200).Draw(t, "command"), Generation: rapid.Uint64().Draw(t, "generation"),
				Author: genText(protocol.MaxAuthorBytes).Draw(t, "author"),
			}
		case 17:
			return &protocol.ReadRun{Session: session, Run: rapid.Uint64().Draw(t, "run"), Offset: rapid.Uint64().Draw(t, "offset")}
		case 18:
			return &protocol.Lock{Session: session, Locked: rapid.Bool().Draw(t, "locked"), Author: genText(40).Draw(t, "author")}
		case 19:
			return genGuarded(t, session)
		}
		return nil // of a newer peer
	})
}

func genGuarded(t *rapid.T, session string) *protocol.Guarded {
	m := &protocol.Guarded{Generation: rapid.Uint64().Draw(t, "generation"), AtPrompt: rapid.Bool().Draw(t, "at prompt")}
	author := genText(protocol.MaxAuthorBytes).Draw(t, "author")
	switch rapid.IntRange(0, 2).Draw(t, "input") {
	case 0:
		m.Type = &protocol.Type{Session: session, Data: genData(100).Draw(t, "data"), Author: author}
	case 1:
		m.Keys = &protocol.Keys{Session: session, Names: []string{"Enter"}, Author: author}
	case 2:
		m.Paste = &protocol.Paste{Session: session, Data: genData(100).Draw(t, "data"), Begin: true, Author: author}
	}
	return m
}

func genClient() *rapid.Generator[protocol.SessionClientMessage] {
	return rapid.Custom(func(t *rapid.T) protocol.SessionClientMessage {
		switch rapid.IntRange(1, 9).Draw(t, "tag") {
		case tagAttach:
			return genAttach().Draw(t, "attach")
		case tagWatch:
			return genWatch().Draw(t, "watch")
		case tagRequest:
			return &protocol.Request{
				ID: rapid.Uint64().Draw(t, "id"), Timeout: genMS(protocol.MaxWait).Draw(t, "timeout"),
				Body: genRequestBody().Draw(t, "body"),
			}
		case tagInput:
			return &protocol.Input{
				Seq:  rapid.Uint64Min(1).Draw(t, "seq"),
				Data: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "data"),
			}
		case tagAck:
			return &protocol.Ack{
				Epoch: rapid.Uint64().Draw(t, "epoch"), State: rapid.Uint64().Draw(t, "state"),
				EventSeq: rapid.Uint64().Draw(t, "seq"),
				Held:     time.Duration(rapid.Int64Range(0, int64(time.Hour/time.Microsecond)).Draw(t, "held")) * time.Microsecond,
			}
		case tagResize:
			return &protocol.Resize{Size: genSize().Draw(t, "size"), Terminal: genText(protocol.MaxHostBytes).Draw(t, "terminal")}
		case tagDetach:
			return &protocol.Detach{}
		case tagFocus:
			return &protocol.Focus{In: rapid.Bool().Draw(t, "in")}
		}
		return &protocol.Cancel{ID: rapid.Uint64().Draw(t, "id")}
	})
}

func genExit() *rapid.Generator[domain.ExitStatus] {
	return rapid.Custom(func(t *rapid.T) domain.ExitStatus {
		return domain.ExitStatus{
			Code:   int(rapid.Int32().Draw(t, "code")),
			Signal: syscall.Signal(rapid.IntRange(0, 127).Draw(t, "signal")),
		}
	})
}

func genFailure() *rapid.Generator[*protocol.Failure] {
	return rapid.Custom(func(t *rapid.T) *protocol.Failure {
		return &protocol.Failure{
			Kind: fault.Kind(rapid.IntRange(0, int(fault.Unknown)).Draw(t, "kind")),
			Text: genText(fault.MaxText).Draw(t, "text"), Hint: genText(fault.MaxText).Draw(t, "hint"),
		}
	})
}

func genLayout() *rapid.Generator[*protocol.Layout] {
	return rapid.Custom(func(t *rapid.T) *protocol.Layout {
		l := &protocol.Layout{Size: genSize().Draw(t, "layout"), Policy: genPolicy().Draw(t, "policy")}
		for range rapid.IntRange(0, 3).Draw(t, "places") {
			p := protocol.PanePlace{Pane: rapid.Uint64().Draw(t, "pane")}
			p.Col = rapid.IntRange(0, l.Size.Cols-1).Draw(t, "col")
			p.Row = rapid.IntRange(0, l.Size.Rows-1).Draw(t, "row")
			p.Size.Cols = rapid.IntRange(1, l.Size.Cols-p.Col).Draw(t, "cols")
			p.Size.Rows = rapid.IntRange(1, l.Size.Rows-p.Row).Draw(t, "rows")
			l.Panes = append(l.Panes, p)
		}
		return l
	})
}

func genEventBody() *rapid.Generator[protocol.EventBody] {
	return rapid.Custom(func(t *rapid.T) protocol.EventBody {
		switch rapid.IntRange(0, 8).Draw(t, "event") {
		case 0:
			return protocol.Bell{}
		case 1:
			return protocol.Title{Text: genText(60).Draw(t, "title")}
		case 2:
			return protocol.Cwd{Path: genText(60).Draw(t, "cwd")}
		case 3:
			return protocol.Clipboard{Selection: genText(32).Draw(t, "selection"), Data: genData(60).Draw(t, "data")}
		case 4:
			return protocol.Notification{Title: genText(60).Draw(t, "title"), Body: genText(60).Draw(t, "body")}
		case 5:
			return protocol.ProgressEvent{Percent: rapid.IntRange(0, 1<<32-1).Draw(t, "percent")}
		case 6:
			return protocol.PromptMark{
				Kind: byte(rapid.IntRange('A', 'D').Draw(t, "kind")), Line: rapid.Uint64().Draw(t, "line"),
				Status: int(rapid.Int32().Draw(t, "status")),
			}
		case 7:
			return protocol.Renamed{Name: genText(domain.MaxNameBytes).Draw(t, "name")}
		}
		return nil // of a newer peer
	})
}

func genOutput() *rapid.Generator[*protocol.Output] {
	return rapid.Custom(func(t *rapid.T) *protocol.Output {
		m := &protocol.Output{
			Epoch: rapid.Uint64().Draw(t, "epoch"), Echo: rapid.Uint64().Draw(t, "echo"),
			InputAcked: rapid.Uint64().Draw(t, "input acked"),
		}
		seq := uint64(0)
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			seq += rapid.Uint64Range(1, 1<<40).Draw(t, "step")
			m.Events = append(m.Events, protocol.Event{
				Seq: seq, Pane: rapid.Uint64().Draw(t, "pane"), Body: genEventBody().Draw(t, "body"),
			})
		}
		switch rapid.IntRange(0, 2).Draw(t, "kind of output") {
		case 0:
			return m
		case 1:
			m.Full, m.New = true, rapid.Uint64Min(1).Draw(t, "new")
		case 2:
			m.Base = rapid.Uint64Range(0, 1<<63).Draw(t, "base")
			m.New = m.Base + 1
		}
		if rapid.Bool().Draw(t, "has layout") {
			m.Layout = genLayout().Draw(t, "layout")
		}
		for range rapid.IntRange(0, 3).Draw(t, "panes") {
			m.Panes = append(m.Panes, protocol.PaneUpdate{
				Pane: rapid.Uint64().Draw(t, "pane"), Data: genData(300).Draw(t, "data"),
				ScreenTop: rapid.Uint64().Draw(t, "top"), FirstLine: rapid.Uint64().Draw(t, "first"), Size: genSize().Draw(t, "size"),
			})
		}
		return m
	})
}

func genLines() *rapid.Generator[protocol.Lines] {
	return rapid.Custom(func(t *rapid.T) protocol.Lines {
		m := protocol.Lines{First: rapid.Uint64().Draw(t, "first"), More: rapid.Bool().Draw(t, "more")}
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			l := protocol.Line{
				N: rapid.Uint64().Draw(t, "n"), Text: genText(80).Draw(t, "text"), Wrapped: rapid.Bool().Draw(t, "wrapped"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "runs") {
				col := rapid.IntRange(1, domain.MaxCols).Draw(t, "col")
				l.Runs = append(l.Runs, protocol.Run{
					Col: col, Len: rapid.IntRange(1, domain.MaxCols+1-col).Draw(t, "len"),
					Fg: rapid.Uint32().Draw(t, "fg"), Bg: rapid.Uint32().Draw(t, "bg"),
					UnderlineColor: rapid.Uint32().Draw(t, "uc"), Underline: uint8(rapid.IntRange(0, maxUnderline).Draw(t, "u")),
					Attrs: protocol.RunAttrs(rapid.Uint32().Draw(t, "attrs")), Link: genText(40).Draw(t, "link"),
				})
			}
			m.List = append(m.List, l)
		}
		return m
	})
}

func genTime() *rapid.Generator[time.Time] {
	return rapid.Map(rapid.Int64Range(0, maxTimeMS), fromUnixMS)
}

func genSessions() *rapid.Generator[*protocol.Sessions] {
	return rapid.Custom(func(t *rapid.T) *protocol.Sessions {
		m := &protocol.Sessions{}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			m.List = append(m.List, domain.SessionInfo{
				ID: domain.SessionID(genToken().Draw(t, "id")), Name: genText(domain.MaxNameBytes).Draw(t, "name"),
				State: domain.SessionState(rapid.IntRange(0, 1).Draw(t, "state")), Exit: genExit().Draw(t, "exit"),
				Attached: rapid.IntRange(0, 64).Draw(t, "attached"), Created: genTime().Draw(t, "created"),
				LastUsed: genTime().Draw(t, "last used"), Pid: rapid.IntRange(0, 1<<22).Draw(t, "pid"),
				Command: genStrings(3).Draw(t, "command"), Cwd: string(genData(40).Draw(t, "cwd")),
				Title: genText(60).Draw(t, "title"), Size: genSizeOrNone().Draw(t, "size"), Policy: genPolicy().Draw(t, "policy"),
			})
		}
		return m
	})
}

func genWatch() *rapid.Generator[*protocol.Watch] {
	return rapid.Custom(func(t *rapid.T) *protocol.Watch {
		m := &protocol.Watch{}
		if rapid.Bool().Draw(t, "catalogue") {
			m.Catalogue = &protocol.WatchCatalogue{}
		}
		if rapid.Bool().Draw(t, "events") {
			m.Events = &protocol.WatchEvents{}
		}
		if rapid.Bool().Draw(t, "previews") {
			m.Previews = &protocol.WatchPreviews{
				Session: domain.SessionID(genToken().Filter(func(t protocol.Token) bool { return t != protocol.Token{} }).Draw(t, "session")),
				Size:    genSize().Draw(t, "size"), Interval: genMS(protocol.MaxPreviewInterval).Draw(t, "interval"),
			}
		}
		return m
	})
}

func genWatching() *rapid.Generator[*protocol.Watching] {
	answer := rapid.Custom(func(t *rapid.T) *protocol.WatchAnswer {
		if rapid.Bool().Draw(t, "served") {
			return &protocol.WatchAnswer{}
		}
		return &protocol.WatchAnswer{Failure: genFailure().Draw(t, "failure")}
	})
	return rapid.Custom(func(t *rapid.T) *protocol.Watching {
		m := &protocol.Watching{}
		for _, part := range []**protocol.WatchAnswer{&m.Catalogue, &m.Events, &m.Previews} {
			if rapid.Bool().Draw(t, "asked for") {
				*part = answer.Draw(t, "answer")
			}
		}
		return m
	})
}

func genCondition() *rapid.Generator[domain.Condition] {
	return rapid.Custom(func(t *rapid.T) domain.Condition {
		return domain.Condition{
			Activity: domain.Activity(rapid.IntRange(0, int(domain.Ended)).Draw(t, "activity")),
			Reason:   genText(domain.MaxReasonBytes).Draw(t, "reason"), Since: genTime().Draw(t, "since"),
		}
	})
}

func genEvent() *rapid.Generator[domain.Event] {
	return rapid.Custom(func(t *rapid.T) domain.Event {
		return domain.Event{
			Seq: rapid.Uint64().Draw(t, "seq"), At: genTime().Draw(t, "at"), Session: domain.SessionID(genToken().Draw(t, "session")),
			Name: genText(domain.MaxNameBytes).Draw(t, "name"), Type: domain.EventType(rapid.IntRange(0, 20).Draw(t, "type")),
			Title: genText(domain.MaxEventText).Draw(t, "title"), Text: genText(domain.MaxEventText).Draw(t, "text"),
			Count: int(rapid.Int32().Draw(t, "count")), Client: rapid.Uint64().Draw(t, "client"), Size: genSizeOrNone().Draw(t, "size"),
			HasStatus: rapid.Bool().Draw(t, "has status"), Status: int(rapid.Int32().Draw(t, "status")), Took: genMS(time.Hour).Draw(t, "took"),
		}
	})
}

func genEvents() *rapid.Generator[*protocol.WatchedEvents] {
	return rapid.Custom(func(t *rapid.T) *protocol.WatchedEvents {
		m := &protocol.WatchedEvents{
			Gap:  protocol.EventGap{From: rapid.Uint64().Draw(t, "from"), To: rapid.Uint64().Draw(t, "to")},
			Last: rapid.Uint64().Draw(t, "last"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			m.Events = append(m.Events, genEvent().Draw(t, "event"))
		}
		return m
	})
}

func genPreview() *rapid.Generator[*protocol.Preview] {
	return rapid.Custom(func(t *rapid.T) *protocol.Preview {
		m := &protocol.Preview{Sequence: rapid.Uint64Min(1).Draw(t, "sequence"), Ended: rapid.Bool().Draw(t, "ended")}
		if !m.Ended {
			m.Content = rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "content")
		}
		return m
	})
}

func genUpdate() *rapid.Generator[*protocol.CatalogueUpdate] {
	return rapid.Custom(func(t *rapid.T) *protocol.CatalogueUpdate {
		m := &protocol.CatalogueUpdate{
			Base: rapid.Uint64Range(0, 1<<63).Draw(t, "base"), Sessions: genSessions().Draw(t, "sessions").List,
			More: rapid.Bool().Draw(t, "more"),
		}
		m.Revision = m.Base + 1
		for range rapid.IntRange(0, 3).Draw(t, "gone") {
			m.Gone = append(m.Gone, domain.SessionID(genToken().Draw(t, "id")))
		}
		return m
	})
}

func genClientList() *rapid.Generator[*protocol.ClientList] {
	return rapid.Custom(func(t *rapid.T) *protocol.ClientList {
		m := &protocol.ClientList{}
		for range rapid.IntRange(0, 3).Draw(t, "clients") {
			m.List = append(m.List, domain.ClientInfo{
				ID: rapid.Uint64().Draw(t, "client"), Session: domain.SessionID(genToken().Draw(t, "id")),
				SessionName: genText(domain.MaxNameBytes).Draw(t, "session"), Size: genSize().Draw(t, "size"),
				ReadOnly: rapid.Bool().Draw(t, "read only"), Attached: genTime().Draw(t, "attached"),
				LastActive: genTime().Draw(t, "active"), Origin: genOrigin().Draw(t, "origin"),
			})
		}
		return m
	})
}

func genCaptured() *rapid.Generator[*protocol.Captured] {
	return rapid.Custom(func(t *rapid.T) *protocol.Captured {
		m := &protocol.Captured{
			Size: genSize().Draw(t, "size"), Visible: rapid.Bool().Draw(t, "visible"),
			CursorStyle: rapid.SampledFrom([]string{"", "block", "bar"}).Draw(t, "style"), Alternate: rapid.Bool().Draw(t, "alternate"),
			Title: genText(60).Draw(t, "title"), Cwd: genText(60).Draw(t, "cwd"), Lines: genLines().Draw(t, "lines"),
			State: domain.SessionState(rapid.IntRange(0, 1).Draw(t, "state")), Exit: genExit().Draw(t, "exit"),
		}
		m.CursorCol = rapid.IntRange(1, m.Size.Cols).Draw(t, "cursor column")
		m.CursorRow = rapid.IntRange(1, m.Size.Rows).Draw(t, "cursor row")
		if rapid.Bool().Draw(t, "modes") {
			m.Modes = []string{"bracketed-paste", "mouse-sgr"}
		}
		return m
	})
}

func genStats() *rapid.Generator[*protocol.StatsResult] {
	return rapid.Custom(func(t *rapid.T) *protocol.StatsResult {
		n := func(what string) int { return rapid.IntRange(0, 1<<31-1).Draw(t, what) }
		u := func(what string) uint64 { return rapid.Uint64().Draw(t, what) }
		s := protocol.DaemonNumbers{
			Pid: n("pid"), Version: genText(60).Draw(t, "version"), Uptime: genMS(1000*time.Hour).Draw(t, "uptime"),
			Sessions: n("sessions"), Attachments: n("attachments"), Resumable: n("resumable"), Conversations: n("conversations"),
			HistoryBytes: u("history"), OutputBytes: u("output"), StatesSent: u("states"), StateBytes: u("state bytes"),
			WindowWaits: u("waits"), UnackedBytes: u("unacked"), InputBytes: u("input"), InputQueued: u("queued"),
			InputWaits: u("input waits"), HeapBytes: u("heap"), Goroutines: n("goroutines"), ForeignRefused: u("foreign"),
		}
		s.UptimeMS = s.Uptime.Milliseconds()
		return &protocol.StatsResult{Stats: s}
	})
}

func genResult() *rapid.Generator[*protocol.Result] {
	return rapid.Custom(func(t *rapid.T) *protocol.Result {
		m := &protocol.Result{ID: rapid.Uint64().Draw(t, "id"), Outcome: protocol.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))}
		if m.Outcome == protocol.OutcomeFailed {
			m.Failure = genFailure().Draw(t, "failure")
		}
		switch rapid.IntRange(0, 10).Draw(t, "result") {
		case 8:
			e := genEvent().Draw(t, "event")
			m.Body = &protocol.Awaited{
				Met: genText(32).Draw(t, "met"), Match: genText(60).Draw(t, "match"), Exit: genExit().Draw(t, "exit"), Event: &e,
				Condition: genCondition().Draw(t, "condition"), Generation: rapid.Uint64().Draw(t, "generation"), Last: rapid.Uint64().Draw(t, "last"),
			}
		case 9:
			m.Body = &protocol.RunStarted{Run: rapid.Uint64().Draw(t, "run"), Generation: rapid.Uint64().Draw(t, "generation"), Size: genSize().Draw(t, "size")}
		case 10:
			m.Body = &protocol.RunOutput{
				Offset: rapid.Uint64().Draw(t, "offset"), Data: genData(100).Draw(t, "data"), Ended: rapid.Bool().Draw(t, "ended"),
				HasStatus: rapid.Bool().Draw(t, "has status"), Status: int(rapid.Int32().Draw(t, "status")), Took: genMS(time.Hour).Draw(t, "took"),
			}
		case 0:
			m.Body = genSessions().Draw(t, "sessions")
		case 1:
			m.Body = genCaptured().Draw(t, "captured")
		case 2:
			m.Body = &protocol.WaitResult{
				Met: rapid.Bool().Draw(t, "met"), Match: genText(60).Draw(t, "match"), Exit: genExit().Draw(t, "exit"),
			}
		case 3:
			m.Body = genStats().Draw(t, "stats")
		case 4:
			lines := genLines().Draw(t, "history")
			m.Body = &lines
		case 5:
			m.Body = &protocol.Found{
				Met: rapid.Bool().Draw(t, "met"), Line: rapid.Uint64().Draw(t, "line"),
				Col: rapid.IntRange(0, domain.MaxCols).Draw(t, "col"), Around: rapid.Bool().Draw(t, "around"),
			}
		case 6:
			m.Body = genClientList().Draw(t, "clients")
		}
		return m
	})
}

func genServer() *rapid.Generator[protocol.SessionServerMessage] {
	return rapid.Custom(func(t *rapid.T) protocol.SessionServerMessage {
		switch rapid.SampledFrom([]int{tagAttached, tagOutput, tagResult, tagEnded, tagRefused, tagWatching, tagUpdate, tagPreview, tagEvents}).Draw(t, "tag") {
		case tagEvents:
			return genEvents().Draw(t, "events")
		case tagWatching:
			return genWatching().Draw(t, "watching")
		case tagPreview:
			return genPreview().Draw(t, "preview")
		case tagUpdate:
			return genUpdate().Draw(t, "update")
		case tagAttached:
			return &protocol.Attached{
				ID: domain.SessionID(genToken().Draw(t, "id")), Name: genText(domain.MaxNameBytes).Draw(t, "name"),
				Token: genToken().Draw(t, "token"), InputReceived: rapid.Uint64().Draw(t, "input"), Size: genSize().Draw(t, "size"),
				ReadOnly: rapid.Bool().Draw(t, "read only"), Created: rapid.Bool().Draw(t, "created"),
			}
		case tagOutput:
			return genOutput().Draw(t, "output")
		case tagResult:
			return genResult().Draw(t, "result")
		case tagEnded:
			m := &protocol.Ended{Reason: protocol.EndReason(rapid.IntRange(1, 6).Draw(t, "reason"))}
			switch m.Reason {
			case protocol.EndExited:
				m.Exit = genExit().Draw(t, "exit")
			case protocol.EndFailed:
				m.Failure = genFailure().Draw(t, "failure")
			}
			return m
		}
		return &protocol.Refused{Failure: *genFailure().Draw(t, "failure")}
	})
}
