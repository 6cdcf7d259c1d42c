package brokerwire

import (
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func (c *checker) part(w *wire.SnapshotPart) *protocol.SnapshotPart {
	p := &protocol.SnapshotPart{Revision: w.GetRevision()}
	switch {
	case w.HasBegin():
		p.Part = protocol.SnapshotBegin{}
	case w.HasHost():
		p.Part = c.host(w.GetHost())
	case w.HasSession():
		p.Part = c.session(w.GetSession())
	case w.HasTombstone():
		p.Part = c.tombstone(w.GetTombstone())
	case w.HasEnd():
		p.Part = protocol.SnapshotEnd{Parts: w.GetEnd().GetParts()}
	default:
		c.fail("the snapshot's part is none that is known")
	}
	return p
}

func (c *checker) delta(w *wire.SnapshotDelta) *protocol.SnapshotDelta {
	c.count("hosts", len(w.GetHosts()), protocol.MaxHosts)
	c.count("sessions", len(w.GetSessions()), protocol.MaxDeltaSessions)
	c.count("tombstones", len(w.GetTombstones()), protocol.MaxDeltaSessions)
	d := &protocol.SnapshotDelta{BaseRevision: w.GetBaseRevision(), Revision: w.GetRevision()}
	if c.err != nil {
		return d
	}
	for _, e := range w.GetHosts() {
		d.Hosts = append(d.Hosts, c.host(e))
	}
	for _, e := range w.GetSessions() {
		d.Sessions = append(d.Sessions, c.session(e))
	}
	for _, e := range w.GetTombstones() {
		d.Tombstones = append(d.Tombstones, c.tombstone(e))
	}
	return d
}

func (c *checker) host(w *wire.HostEntry) protocol.HostEntry {
	return protocol.HostEntry{
		Host: c.text("host", w.GetHost(), protocol.MaxHostBytes), Address: c.text("address", w.GetAddress(), protocol.MaxHostBytes),
		LinkState: w.GetLinkState(), Transport: w.GetTransport(), LastContactMS: w.GetLastContactUnixMs(),
		Failure: c.failure(w.GetFailure()),
	}
}

func (c *checker) session(w *wire.SessionEntry) protocol.SessionEntry {
	return protocol.SessionEntry{
		Host: c.text("host", w.GetHost(), protocol.MaxHostBytes), Session: c.id("session id", w.GetSessionId()),
		Name: c.text("session name", w.GetName(), protocol.MaxHostBytes), State: w.GetState(),
		Title: c.text("title", w.GetTitle(), protocol.MaxTextBytes), Attached: w.GetAttached(),
	}
}

func (c *checker) tombstone(w *wire.Tombstone) protocol.Tombstone {
	return protocol.Tombstone{
		Host: c.text("host", w.GetHost(), protocol.MaxHostBytes), Session: c.optionalID("session id", w.GetSessionId()),
	}
}
