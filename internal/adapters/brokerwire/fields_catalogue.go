package brokerwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

func visitSubscribe(f *wirefmt.Fields, m *protocol.Subscribe) {
	wirefmt.Uint64(f, 1, &m.KnownRevision)
}

func visitResync(f *wirefmt.Fields, m *protocol.Resync) { wirefmt.Uint64(f, 1, &m.HaveRevision) }

func visitPart(f *wirefmt.Fields, m *protocol.SnapshotPart) {
	wirefmt.Uint64(f, 1, &m.Revision)
	wirefmt.Value(f, 2, &m.Part, wirefmt.Empty[protocol.SnapshotBegin])
	wirefmt.Value(f, 3, &m.Part, visitHostEntry)
	wirefmt.Value(f, 4, &m.Part, visitSessionEntry)
	wirefmt.Value(f, 5, &m.Part, visitTombstone)
	wirefmt.Value(f, 6, &m.Part, visitEnd)
	if f.Ending() && m.Part == nil {
		f.Refuse(mistake("the snapshot's part is none that is known"))
	}
}

func visitEnd(f *wirefmt.Fields, m *protocol.SnapshotEnd) { wirefmt.Uint32(f, 1, &m.Parts) }

func visitDelta(f *wirefmt.Fields, m *protocol.SnapshotDelta) {
	wirefmt.Uint64(f, 1, &m.BaseRevision)
	wirefmt.Uint64(f, 2, &m.Revision)
	wirefmt.Messages(f, 3, &m.Hosts, tooMany("hosts", protocol.MaxHosts), visitHostEntry)
	wirefmt.Messages(f, 4, &m.Sessions, tooMany("sessions", protocol.MaxDeltaSessions), visitSessionEntry)
	wirefmt.Messages(f, 5, &m.Tombstones, tooMany("tombstones", protocol.MaxDeltaSessions), visitTombstone)
}

func visitHostEntry(f *wirefmt.Fields, m *protocol.HostEntry) {
	boundText(f, 1, "host", &m.Host, protocol.MaxHostBytes)
	boundText(f, 2, "address", &m.Address, protocol.MaxHostBytes)
	wirefmt.Uint32(f, 3, &m.LinkState)
	wirefmt.Uint32(f, 4, &m.Transport)
	wirefmt.Uint64(f, 5, &m.LastContactMS)
	wirefmt.Optional(f, 6, &m.Failure, visitFailure)
}

func visitSessionEntry(f *wirefmt.Fields, m *protocol.SessionEntry) {
	boundText(f, 1, "host", &m.Host, protocol.MaxHostBytes)
	id(f, 2, "session id", &m.Session)
	boundText(f, 3, "session name", &m.Name, protocol.MaxHostBytes)
	wirefmt.Uint32(f, 4, &m.State)
	boundText(f, 5, "title", &m.Title, protocol.MaxTextBytes)
	wirefmt.Uint32(f, 6, &m.Attached)
}

func visitTombstone(f *wirefmt.Fields, m *protocol.Tombstone) {
	boundText(f, 1, "host", &m.Host, protocol.MaxHostBytes)
	optionalID(f, 2, "session id", &m.Session)
}
