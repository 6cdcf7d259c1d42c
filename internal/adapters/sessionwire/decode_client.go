package sessionwire

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func decodeSize(w *wire.Size) domain.Size {
	return domain.Size{Cols: int(w.GetCols()), Rows: int(w.GetRows())}
}

func decodeResize(w *wire.Resize) (protocol.SessionClientMessage, error) {
	m := &protocol.Resize{Size: decodeSize(w.GetSize())}
	return m, checkSize("terminal", m.Size)
}

func decodeDetach(*wire.Detach) (protocol.SessionClientMessage, error) {
	return &protocol.Detach{}, nil
}

func decodeWatch(*wire.Watch) (protocol.SessionClientMessage, error) { return &protocol.Watch{}, nil }

func decodeCancel(w *wire.Cancel) (protocol.SessionClientMessage, error) {
	return &protocol.Cancel{ID: w.GetId()}, nil
}

func decodeAttach(w *wire.Attach) (protocol.SessionClientMessage, error) {
	m := &protocol.Attach{
		Session: w.GetSession(), ReadOnly: w.GetReadOnly(), Take: w.GetTake(), Size: decodeSize(w.GetSize()),
	}
	if w.HasCreate() {
		create := decodeCreate(w.GetCreate())
		m.Create = &create
	}
	if w.HasResume() {
		m.Resume = &protocol.Resume{EventSeq: w.GetResume().GetEventSeq()}
		if err := takeExactly(m.Resume.Token[:], w.GetResume().GetToken(), "token of resume"); err != nil {
			return nil, err
		}
	}
	return m, checkAttach(m)
}

func decodeCreate(w *wire.Create) protocol.Create {
	return protocol.Create{
		Name: w.GetName(),
		Command: domain.Command{
			Argv: toStrings(w.GetArgv()), Env: toStrings(w.GetEnv()), Dir: string(w.GetDir()),
		},
		Size: decodeSize(w.GetSize()),
	}
}

func toStrings(in [][]byte) []string {
	if len(in) == 0 {
		return nil
	}
	out := make([]string, len(in))
	for i, b := range in {
		out[i] = string(b)
	}
	return out
}

// takeExactly copies an identifier, which has one length only.
func takeExactly(to, from []byte, what string) error {
	if len(from) != len(to) {
		return broken("%s has %d bytes, must have %d", what, len(from), len(to))
	}
	copy(to, from)
	return nil
}

// fromMS bounds before it multiplies.
func fromMS(what string, ms uint64) (time.Duration, error) {
	if most := uint64(protocol.MaxWait / time.Millisecond); ms > most {
		return 0, &breach{limit: true, msg: what + " is over the limit of " + protocol.MaxWait.String()}
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func decodeRequest(w *wire.Request) (protocol.SessionClientMessage, error) {
	timeout, err := fromMS("timeout", uint64(w.GetTimeoutMs()))
	if err != nil {
		return nil, err
	}
	m := &protocol.Request{ID: w.GetId(), Timeout: timeout}
	if m.Body, err = decodeRequestBody(w); err != nil {
		return nil, err
	}
	return m, checkRequest(m)
}

// decodeRequestBody returns nil for a request of a newer peer.
func decodeRequestBody(w *wire.Request) (protocol.RequestBody, error) {
	switch w.WhichBody() {
	case wire.Request_New_case:
		return &protocol.New{Create: decodeCreate(w.GetNew())}, nil
	case wire.Request_List_case:
		return &protocol.List{}, nil
	case wire.Request_Kill_case:
		return &protocol.Kill{Session: w.GetKill().GetSession()}, nil
	case wire.Request_Rename_case:
		return &protocol.Rename{Session: w.GetRename().GetSession(), Name: w.GetRename().GetName()}, nil
	case wire.Request_Detach_case:
		return &protocol.DetachAll{Session: w.GetDetach().GetSession()}, nil
	case wire.Request_Type_case:
		return &protocol.Type{Session: w.GetType().GetSession(), Data: notEmpty(w.GetType().GetData())}, nil
	case wire.Request_Keys_case:
		return &protocol.Keys{Session: w.GetKeys().GetSession(), Names: w.GetKeys().GetKeys()}, nil
	case wire.Request_Paste_case:
		p := w.GetPaste()
		return &protocol.Paste{Session: p.GetSession(), Data: notEmpty(p.GetData()), Begin: p.GetBegin(), End: p.GetEnd()}, nil
	case wire.Request_Capture_case:
		c := w.GetCapture()
		return &protocol.Capture{Session: c.GetSession(), HistoryLines: int(c.GetHistoryLines()), Look: c.GetLook()}, nil
	case wire.Request_History_case:
		h := w.GetHistory()
		return &protocol.History{Session: h.GetSession(), Pane: h.GetPane(), First: h.GetFirst(), Count: int(h.GetCount())}, nil
	case wire.Request_Wait_case:
		q := w.GetWait()
		idle, err := fromMS("idle time", q.GetIdleMs())
		return &protocol.Wait{Session: q.GetSession(), Text: q.GetText(), Idle: idle, Exit: q.GetExit()}, err
	case wire.Request_Stats_case:
		return &protocol.Stats{}, nil
	}
	return nil, nil
}
