package catalogue

import (
	"maps"
	"slices"

	"github.com/vev-term/vev/internal/domain"
)

// Delta turns revision Base into Revision. Gone is applied first, then Hosts, then Sessions: what is in more than one
// of them was lost and has come back. Base 0: it is a snapshot, and what the receiver has counts for nothing.
type Delta struct {
	Base, Revision uint64
	Gone           []Key // of a snapshot: hosts that were removed lately
	Hosts          []Host
	Sessions       []Session
}

// Empty reports whether d changes nothing but the number.
func (d *Delta) Empty() bool {
	return d.Base != 0 && len(d.Gone)+len(d.Hosts)+len(d.Sessions) == 0
}

// Snapshot is all there is of the hosts in scope; nil: of all.
func (c *Catalogue) Snapshot(scope func(host string) bool) Delta {
	d := c.newer(0, scope)
	for _, g := range c.graves {
		if g.ID.IsZero() && c.hosts[g.Host] == nil && within(scope, g.Host) && !slices.Contains(d.Gone, g.Key) {
			d.Gone = append(d.Gone, g.Key)
		}
	}
	return d
}

// Since is what has changed for who has revision have, in scope; a snapshot where that cannot be told.
func (c *Catalogue) Since(have uint64, scope func(host string) bool) Delta {
	if have == 0 || have < c.floor || have > c.revision {
		return c.Snapshot(scope)
	}
	d := c.newer(have, scope)
	i, _ := slices.BinarySearchFunc(c.graves, have+1, func(g grave, at uint64) int {
		if g.at < at {
			return -1
		}
		return 1
	})
	for _, g := range c.graves[i:] { // in scope or not: it may have been, and who has none of it loses nothing
		d.Gone = append(d.Gone, g.Key)
	}
	return d
}

// newer is what there is and has changed after revision have.
func (c *Catalogue) newer(have uint64, scope func(string) bool) Delta {
	d := Delta{Base: have, Revision: c.revision}
	for _, name := range c.Hosts() {
		h := c.hosts[name]
		if h.newest <= have || !within(scope, name) {
			continue
		}
		if h.at > have {
			d.Hosts = append(d.Hosts, h.Host)
		}
		begin := len(d.Sessions)
		for _, e := range h.sessions {
			if e.at > have {
				d.Sessions = append(d.Sessions, Session{name, e.SessionInfo})
			}
		}
		slices.SortFunc(d.Sessions[begin:], bySessionAge)
	}
	return d
}

func bySessionAge(a, b Session) int { return byAge(&a.SessionInfo, &b.SessionInfo) }

func within(scope func(string) bool, host string) bool { return scope == nil || scope(host) }

// Sessions are those of a member, the oldest first.
func (c *Catalogue) Sessions(host string) []domain.SessionInfo {
	h := c.hosts[host]
	if h == nil {
		return nil
	}
	list := make([]domain.SessionInfo, 0, len(h.sessions))
	for e := range maps.Values(h.sessions) {
		list = append(list, e.SessionInfo)
	}
	slices.SortFunc(list, func(a, b domain.SessionInfo) int { return byAge(&a, &b) })
	return list
}
