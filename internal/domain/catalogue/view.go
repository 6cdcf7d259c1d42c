package catalogue

import (
	"maps"
	"slices"

	"github.com/vev-term/vev/internal/domain/fault"
)

// View is a copy of a catalogue that snapshots and deltas keep current. Its zero value waits for a snapshot. Not safe
// for concurrent use.
type View struct {
	shown  *copied // nil: no snapshot was complete yet
	coming *copied // a snapshot that is not complete
	broken uint64  // the revision of the last snapshot that something was missed of: its rest is no news
}

// copied is the catalogue as of one revision.
type copied struct {
	revision uint64
	parts    uint32
	hosts    map[string]Host
	sessions map[Key]Session
	count    map[string]int // sessions of each host
	removed  map[string]bool
}

func newCopied(revision uint64) *copied {
	return &copied{
		revision: revision, hosts: map[string]Host{}, sessions: map[Key]Session{}, count: map[string]int{}, removed: map[string]bool{},
	}
}

// Revision is that of what is shown; 0: there was no snapshot yet.
func (v *View) Revision() uint64 {
	if v.shown == nil {
		return 0
	}
	return v.shown.revision
}

// Begin begins a snapshot; one that was not complete is dropped.
func (v *View) Begin(revision uint64) { v.coming = newCopied(revision) }

// Part takes one entry of the snapshot of a revision. Resync: something was missed, and another snapshot is needed.
// The fault is a Violation.
func (v *View) Part(revision uint64, part Delta) (resync bool, err error) {
	if v.coming == nil || v.coming.revision != revision {
		return v.miss(revision), nil
	}
	v.coming.parts++
	return false, v.coming.apply(part)
}

// End completes the snapshot: what was shown is replaced, if all parts have come.
func (v *View) End(revision uint64, parts uint32) (resync bool) {
	if v.coming == nil || v.coming.revision != revision || v.coming.parts != parts {
		return v.miss(revision)
	}
	v.shown, v.coming = v.coming, nil
	return false
}

// Apply takes a delta. Resync and fault as of Part.
func (v *View) Apply(d Delta) (resync bool, err error) {
	if v.shown == nil || v.shown.revision != d.Base || v.coming != nil {
		v.coming = nil
		return true, nil
	}
	v.shown.revision = d.Revision
	return false, v.shown.apply(d)
}

// miss notes that something of a snapshot was missed; it reports whether that is news.
func (v *View) miss(revision uint64) bool {
	first := v.coming != nil || v.broken != revision
	v.coming, v.broken = nil, revision
	return first
}

func (c *copied) apply(d Delta) error {
	for _, k := range d.Gone {
		c.lose(k)
	}
	for _, h := range d.Hosts {
		if _, known := c.hosts[h.Name]; !known && len(c.hosts) == MaxHosts {
			return fault.New(fault.Violation, "a catalogue has more than %d hosts", MaxHosts)
		}
		c.hosts[h.Name] = h
		delete(c.removed, h.Name)
	}
	for _, s := range d.Sessions {
		k := Key{s.Host, s.ID}
		_, known := c.sessions[k]
		_, member := c.hosts[s.Host]
		switch {
		case !member:
			return fault.New(fault.Violation, "a catalogue lists a session of a host that it does not list")
		case !known && c.count[s.Host] == MaxSessions:
			return fault.New(fault.Violation, "a catalogue has more than %d sessions of a host", MaxSessions)
		case !known:
			c.count[s.Host]++
		}
		c.sessions[k] = s
	}
	return nil
}

func (c *copied) lose(k Key) {
	if !k.ID.IsZero() {
		if _, known := c.sessions[k]; known {
			delete(c.sessions, k)
			c.count[k.Host]--
		}
		return
	}
	delete(c.hosts, k.Host)
	delete(c.count, k.Host)
	if len(c.removed) == maxGraves {
		clear(c.removed)
	}
	c.removed[k.Host] = true
	maps.DeleteFunc(c.sessions, func(s Key, _ Session) bool { return s.Host == k.Host })
}

// Hosts are those that are listed, this machine first, then by name.
func (v *View) Hosts() []Host {
	if v.shown == nil {
		return nil
	}
	list := make([]Host, 0, len(v.shown.hosts))
	for _, name := range slices.Sorted(maps.Keys(v.shown.hosts)) {
		list = append(list, v.shown.hosts[name])
	}
	return list
}

// Sessions are those that are listed, host by host as Hosts has them, the oldest first.
func (v *View) Sessions() []Session {
	if v.shown == nil {
		return nil
	}
	list := slices.Collect(maps.Values(v.shown.sessions))
	slices.SortFunc(list, func(a, b Session) int {
		if a.Host != b.Host {
			if a.Host < b.Host {
				return -1
			}
			return 1
		}
		return bySessionAge(a, b)
	})
	return list
}

// Removed reports whether the host was a member lately and is not now.
func (v *View) Removed(host string) bool { return v.shown != nil && v.shown.removed[host] }
