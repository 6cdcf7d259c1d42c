package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

func visitAttach(f *wirefmt.Fields, m *protocol.Attach) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Bool(f, 2, &m.ReadOnly)
	wirefmt.Bool(f, 3, &m.Take)
	size(f, 4, &m.Size)
	wirefmt.Optional(f, 5, &m.Create, visitCreate)
	wirefmt.Optional(f, 6, &m.Resume, visitResume)
	wirefmt.Raw(f, 7, &m.Agent)
	origin(f, 8, &m.Origin)
}

// visitCreate: what the system calls a string need not be UTF-8 and travels as bytes.
func visitCreate(f *wirefmt.Fields, c *protocol.Create) {
	wirefmt.Text(f, 1, &c.Name)
	wirefmt.Raws(f, 2, &c.Command.Argv)
	wirefmt.Raws(f, 3, &c.Command.Env)
	wirefmt.Raw(f, 4, &c.Command.Dir)
	size(f, 5, &c.Size)
	wirefmt.Uint32(f, 6, &c.HistoryLines)
	sizePolicy(f, 7, &c.Policy)
	wirefmt.Bool(f, 8, &c.OwnEnv)
}

func visitResume(f *wirefmt.Fields, r *protocol.Resume) {
	identifier(f, 1, "token of resume", &r.Token)
	wirefmt.Uint64(f, 2, &r.EventSeq)
}

func visitResize(f *wirefmt.Fields, m *protocol.Resize) {
	size(f, 1, &m.Size)
	wirefmt.Text(f, 2, &m.Terminal)
}

func visitFocus(f *wirefmt.Fields, m *protocol.Focus) { wirefmt.Bool(f, 1, &m.In) }

func visitCancel(f *wirefmt.Fields, m *protocol.Cancel) { wirefmt.Uint64(f, 1, &m.ID) }

// visitRequest leaves the body of a request of a newer peer nil.
func visitRequest(f *wirefmt.Fields, m *protocol.Request) {
	wirefmt.Uint64(f, 1, &m.ID)
	ms := uint32(toMS(m.Timeout))
	if wirefmt.Uint32(f, 2, &ms) {
		timeout, err := fromMS("timeout", uint64(ms))
		m.Timeout = timeout
		f.Note(2, err)
	}
	wirefmt.Variant(f, 10, &m.Body, visitNew)
	wirefmt.Variant(f, 11, &m.Body, visitList)
	wirefmt.Variant(f, 12, &m.Body, visitKill)
	wirefmt.Variant(f, 13, &m.Body, visitRename)
	wirefmt.Variant(f, 14, &m.Body, visitDetachAll)
	wirefmt.Variant(f, 15, &m.Body, visitType)
	wirefmt.Variant(f, 16, &m.Body, visitKeys)
	wirefmt.Variant(f, 17, &m.Body, visitPaste)
	wirefmt.Variant(f, 18, &m.Body, visitCapture)
	wirefmt.Variant(f, 19, &m.Body, visitWait)
	wirefmt.Variant(f, 20, &m.Body, wirefmt.Empty[protocol.Stats])
	wirefmt.Variant(f, 21, &m.Body, visitHistory)
	wirefmt.Variant(f, 22, &m.Body, visitSearch)
	wirefmt.Variant(f, 23, &m.Body, visitClients)
	wirefmt.Variant(f, 24, &m.Body, visitDetachClient)
	wirefmt.Variant(f, 25, &m.Body, visitSetSize)
	wirefmt.Variant(f, 26, &m.Body, visitRunCommand)
	wirefmt.Variant(f, 27, &m.Body, visitReadRun)
	wirefmt.Variant(f, 28, &m.Body, visitLock)
	wirefmt.Variant(f, 29, &m.Body, visitGuarded)
	wirefmt.Variant(f, 30, &m.Body, visitAwait)
}

func visitNew(f *wirefmt.Fields, m *protocol.New) { visitCreate(f, &m.Create) }

func visitList(f *wirefmt.Fields, m *protocol.List) { wirefmt.Bool(f, 1, &m.Brief) }

func visitKill(f *wirefmt.Fields, m *protocol.Kill) { wirefmt.Text(f, 1, &m.Session) }

func visitRename(f *wirefmt.Fields, m *protocol.Rename) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Text(f, 2, &m.Name)
}

func visitDetachAll(f *wirefmt.Fields, m *protocol.DetachAll) { wirefmt.Text(f, 1, &m.Session) }

func visitType(f *wirefmt.Fields, m *protocol.Type) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Data(f, 2, &m.Data)
	wirefmt.Text(f, 3, &m.Author)
}

func visitKeys(f *wirefmt.Fields, m *protocol.Keys) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Texts(f, 2, &m.Names)
	wirefmt.Text(f, 3, &m.Author)
}

func visitPaste(f *wirefmt.Fields, m *protocol.Paste) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Data(f, 2, &m.Data)
	wirefmt.Bool(f, 3, &m.Begin)
	wirefmt.Bool(f, 4, &m.End)
	wirefmt.Text(f, 5, &m.Author)
}

func visitGuarded(f *wirefmt.Fields, m *protocol.Guarded) {
	wirefmt.Uint64(f, 1, &m.Generation)
	wirefmt.Bool(f, 2, &m.AtPrompt)
	wirefmt.Optional(f, 3, &m.Type, visitType)
	wirefmt.Optional(f, 4, &m.Keys, visitKeys)
	wirefmt.Optional(f, 5, &m.Paste, visitPaste)
}

func visitRunCommand(f *wirefmt.Fields, m *protocol.RunCommand) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Text(f, 2, &m.Command)
	wirefmt.Uint64(f, 3, &m.Generation)
	wirefmt.Text(f, 4, &m.Author)
}

func visitReadRun(f *wirefmt.Fields, m *protocol.ReadRun) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint64(f, 2, &m.Run)
	wirefmt.Uint64(f, 3, &m.Offset)
}

func visitLock(f *wirefmt.Fields, m *protocol.Lock) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Bool(f, 2, &m.Locked)
	wirefmt.Text(f, 3, &m.Author)
}

func visitCapture(f *wirefmt.Fields, m *protocol.Capture) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint32(f, 2, &m.HistoryLines)
}

func visitHistory(f *wirefmt.Fields, m *protocol.History) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint64(f, 2, &m.Pane)
	wirefmt.Uint64(f, 3, &m.First)
	wirefmt.Uint32(f, 4, &m.Count)
}

func visitSearch(f *wirefmt.Fields, m *protocol.Search) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint64(f, 2, &m.Pane)
	wirefmt.Text(f, 3, &m.Pattern)
	wirefmt.Uint64(f, 4, &m.Line)
	wirefmt.Uint32(f, 5, &m.Col)
	wirefmt.Bool(f, 6, &m.Backward)
	wirefmt.Bool(f, 7, &m.Around)
}

func visitClients(f *wirefmt.Fields, m *protocol.Clients) { wirefmt.Text(f, 1, &m.Session) }

func visitDetachClient(f *wirefmt.Fields, m *protocol.DetachClient) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint64(f, 2, &m.Client)
}

func visitSetSize(f *wirefmt.Fields, m *protocol.SetSize) {
	wirefmt.Text(f, 1, &m.Session)
	sizePolicy(f, 2, &m.Policy)
	size(f, 3, &m.Size)
}

func visitWait(f *wirefmt.Fields, m *protocol.Wait) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Text(f, 2, &m.Text)
	ms := toMS(m.Idle)
	if wirefmt.Uint64(f, 3, &ms) {
		idle, err := fromMS("idle time", ms)
		m.Idle = idle
		f.Note(3, err)
	}
	wirefmt.Bool(f, 4, &m.Exit)
}
