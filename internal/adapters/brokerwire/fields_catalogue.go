package brokerwire

import (
	"math"
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/protocol"
)

func visitSubscribe(f *wirefmt.Fields, m *protocol.Subscribe) {
	wirefmt.Uint64(f, 1, &m.KnownRevision)
	if wirefmt.Texts(f, 2, &m.Hosts) {
		if err := tooMany("hosts", protocol.MaxHosts)(len(m.Hosts)); err != nil {
			f.Refuse(err)
		} else if err := tooLong("host", len(m.Hosts[len(m.Hosts)-1]), protocol.MaxHostBytes); err != nil {
			f.Refuse(err)
		}
	}
	choice(f, 3, "reach", &m.Reach, protocol.ReachWarm)
}

func visitResync(f *wirefmt.Fields, m *protocol.Resync) { wirefmt.Uint64(f, 1, &m.HaveRevision) }

func visitPart(f *wirefmt.Fields, m *protocol.SnapshotPart) {
	wirefmt.Uint64(f, 1, &m.Revision)
	wirefmt.Value(f, 2, &m.Part, wirefmt.Empty[protocol.SnapshotBegin])
	wirefmt.Value(f, 3, &m.Part, func(f *wirefmt.Fields, e *protocol.HostEntry) { visitHostEntry(f, &e.Host) })
	wirefmt.Value(f, 4, &m.Part, func(f *wirefmt.Fields, e *protocol.SessionEntry) { visitSessionEntry(f, &e.Session) })
	wirefmt.Value(f, 5, &m.Part, func(f *wirefmt.Fields, e *protocol.Tombstone) { visitTombstone(f, &e.Key) })
	wirefmt.Value(f, 6, &m.Part, visitEnd)
	if f.Ending() && m.Part == nil {
		f.Refuse(mistake("the snapshot's part is none that is known"))
	}
}

func visitEnd(f *wirefmt.Fields, m *protocol.SnapshotEnd) { wirefmt.Uint32(f, 1, &m.Parts) }

func visitDelta(f *wirefmt.Fields, m *protocol.SnapshotDelta) {
	wirefmt.Uint64(f, 1, &m.Base)
	wirefmt.Uint64(f, 2, &m.Revision)
	wirefmt.Messages(f, 3, &m.Hosts, tooMany("hosts", protocol.MaxHosts), visitHostEntry)
	wirefmt.Messages(f, 4, &m.Sessions, tooMany("sessions", protocol.MaxDeltaSessions), visitSessionEntry)
	wirefmt.Messages(f, 5, &m.Gone, tooMany("tombstones", protocol.MaxDeltaSessions), visitTombstone)
	switch {
	case f.Ending() && m.Base == 0:
		f.Refuse(mistake("a delta of revision 0, which nobody has"))
	case f.Ending() && m.Revision <= m.Base:
		f.Refuse(mistake("revision %d of the catalogue follows %d", m.Revision, m.Base))
	}
}

func visitHostEntry(f *wirefmt.Fields, m *catalogue.Host) {
	boundText(f, 1, "host", &m.Name, protocol.MaxHostBytes)
	boundText(f, 2, "address", &m.Address, protocol.MaxHostBytes)
	wirefmt.Uint32(f, 3, &m.Link)
	wirefmt.Uint32(f, 4, &m.Transport)
	moment(f, 5, "last contact", &m.Heard)
	failure := protocol.FailureOf(asError(m))
	wirefmt.Optional(f, 6, &failure, visitFailure)
	if !f.Writing() && failure != nil {
		m.Failure = failure.Fault()
	}
	choice(f, 7, "state", &m.State, catalogue.Stale)
	cleanText(f, 8, "why", &m.Why)
}

// asError keeps a nil fault from becoming an error that is not nil.
func asError(h *catalogue.Host) error {
	if h.Failure == nil {
		return nil
	}
	return h.Failure
}

func visitSessionEntry(f *wirefmt.Fields, m *catalogue.Session) {
	boundText(f, 1, "host", &m.Host, protocol.MaxHostBytes)
	id(f, 2, "session id", &m.ID)
	boundText(f, 3, "session name", &m.Name, domain.MaxNameBytes)
	narrow(f, 4, "session state", &m.State, domain.Exited)
	boundText(f, 5, "title", &m.Title, protocol.MaxRowTextBytes)
	small(f, 6, &m.Attached)
	wirefmt.Int32(f, 7, &m.Exit.Code)
	narrow(f, 8, "signal", &m.Exit.Signal, 127)
	moment(f, 9, "creation", &m.Created)
	moment(f, 10, "last use", &m.LastUsed)
	small(f, 11, &m.Pid)
	command(f, 12, &m.Command)
	if wirefmt.Raw(f, 13, &m.Cwd) {
		f.Note(13, tooLong("directory", len(m.Cwd), protocol.MaxRowTextBytes))
	}
	small(f, 14, &m.Size.Cols)
	small(f, 15, &m.Size.Rows)
	narrow(f, 16, "size policy", &m.Policy, domain.SizeFixed)
	activity(f, 17, &m.Condition.Activity)
	boundText(f, 18, "reason", &m.Condition.Reason, domain.MaxReasonBytes)
	moment(f, 19, "begin of condition", &m.Condition.Since)
	wirefmt.Uint64(f, 20, &m.Generation)
	wirefmt.Bool(f, 21, &m.Locked)
	if f.Ending() && m.Size != (domain.Size{}) && !m.Size.Valid() {
		f.Refuse(mistake("size is %s, must be 1x1 to %s", m.Size, domain.Size{Cols: domain.MaxCols, Rows: domain.MaxRows}))
	}
}

// activity takes one of a newer peer for the one that says the least.
func activity(f *wirefmt.Fields, num Tag, a *domain.Activity) {
	raw := uint32(*a)
	if wirefmt.Uint32(f, num, &raw) {
		*a = domain.Working
		if raw <= math.MaxUint8 && domain.Activity(raw).Valid() {
			*a = domain.Activity(raw)
		}
	}
}

// command bounds the arguments and all of them together before it keeps another one.
func command(f *wirefmt.Fields, num Tag, argv *[]string) {
	if !wirefmt.Raws(f, num, argv) {
		return
	}
	bytes := 0
	for _, arg := range *argv {
		bytes += len(arg)
	}
	if err := tooMany("arguments", protocol.MaxRowArgs)(len(*argv)); err != nil {
		f.Refuse(err)
	} else if err := tooLong("command", bytes, protocol.MaxRowTextBytes); err != nil {
		f.Refuse(err)
	}
}

// narrow checks before it narrows.
func narrow[T ~uint8 | ~int](f *wirefmt.Fields, num Tag, what string, v *T, last T) {
	raw := uint32(*v)
	if wirefmt.Uint32(f, num, &raw) {
		*v = T(min(raw, math.MaxUint8))
		f.Note(num, nil)
		if raw > uint32(last) {
			f.Note(num, mistake("%s is %d, must be 0 to %d", what, raw, uint32(last)))
		}
	}
}

// maxTimeMS is the last millisecond of the year 9999, the last that JSON can tell.
const maxTimeMS = 253402300799999

// moment is a time in milliseconds, 0 for the zero time.
func moment(f *wirefmt.Fields, num Tag, what string, t *time.Time) {
	ms := int64(0)
	if !t.IsZero() {
		ms = min(max(t.UnixMilli(), 0), maxTimeMS)
	}
	if !wirefmt.Uint64(f, num, &ms) {
		return
	}
	*t = time.Time{}
	if ms != 0 {
		*t = time.UnixMilli(ms).UTC()
	}
	f.Note(num, nil)
	if ms < 0 || ms > maxTimeMS {
		f.Note(num, mistake("%s in ms is %d, must be 0 to %d", what, ms, maxTimeMS))
	}
}

func visitTombstone(f *wirefmt.Fields, m *catalogue.Key) {
	boundText(f, 1, "host", &m.Host, protocol.MaxHostBytes)
	optionalID(f, 2, "session id", &m.ID)
}
