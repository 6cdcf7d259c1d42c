package brokerwire

import (
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func partOf(m *protocol.SnapshotPart) *wire.SnapshotPart {
	p := wire.SnapshotPart_builder{Revision: m.Revision}.Build()
	switch e := m.Part.(type) {
	case protocol.SnapshotBegin:
		p.SetBegin(new(wire.SnapshotBegin))
	case protocol.HostEntry:
		p.SetHost(hostOf(e))
	case protocol.SessionEntry:
		p.SetSession(sessionOf(e))
	case protocol.Tombstone:
		p.SetTombstone(tombstoneOf(e))
	case protocol.SnapshotEnd:
		p.SetEnd(wire.SnapshotEnd_builder{Parts: e.Parts}.Build())
	}
	return p
}

func deltaOf(m *protocol.SnapshotDelta) *wire.SnapshotDelta {
	b := wire.SnapshotDelta_builder{BaseRevision: m.BaseRevision, Revision: m.Revision}
	for _, e := range m.Hosts {
		b.Hosts = append(b.Hosts, hostOf(e))
	}
	for _, e := range m.Sessions {
		b.Sessions = append(b.Sessions, sessionOf(e))
	}
	for _, e := range m.Tombstones {
		b.Tombstones = append(b.Tombstones, tombstoneOf(e))
	}
	return b.Build()
}

func hostOf(e protocol.HostEntry) *wire.HostEntry {
	return wire.HostEntry_builder{
		Host: e.Host, Address: e.Address, LinkState: e.LinkState, Transport: e.Transport,
		LastContactUnixMs: e.LastContactMS, Failure: failureOf(e.Failure),
	}.Build()
}

func sessionOf(e protocol.SessionEntry) *wire.SessionEntry {
	return wire.SessionEntry_builder{
		Host: e.Host, SessionId: e.Session[:], Name: e.Name, State: e.State, Title: e.Title, Attached: e.Attached,
	}.Build()
}

func tombstoneOf(e protocol.Tombstone) *wire.Tombstone {
	t := wire.Tombstone_builder{Host: e.Host}.Build()
	if e.Session != ([16]byte{}) {
		t.SetSessionId(e.Session[:])
	}
	return t
}
