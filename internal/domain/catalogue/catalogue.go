package catalogue

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	MaxHosts    = 64   // of a catalogue: Add refuses with Limit
	MaxSessions = 1024 // of a host: what is beyond them is not taken

	// maxGraves is how many tombstones are remembered: beyond them the oldest are forgotten, and who has a revision
	// from before gets a snapshot.
	maxGraves = 4096
)

// State says how much of a host's list is known.
type State uint32

const (
	Unasked  State = iota // nobody has asked yet
	Asking                // it is being asked; what is listed was known before
	Current               // what is listed is what there is, and changes follow
	Stale                 // it cannot be asked, for Failure's reason; what is listed was known when it was Heard
	stateEnd              // behind the last
)

func (s State) String() string {
	if s < stateEnd {
		return [...]string{"unasked", "asking", "current", "stale"}[s]
	}
	return "state " + strconv.FormatUint(uint64(s), 10)
}

// Host is what is known of a host.
type Host struct {
	Name      string // as domain.Host spells it; empty: this machine
	Address   string // what an alias stands for, or empty
	State     State
	Link      domain.LinkState // LinkNone for this machine
	Transport domain.Transport
	Why       string       // in words, why that transport and not another; empty: it is the first choice
	Heard     time.Time    // when its daemon said something last; zero: never
	Failure   *fault.Error // why it is Stale
}

func (h Host) same(o Host) bool {
	return h.Name == o.Name && h.Address == o.Address && h.State == o.State && h.Link == o.Link && h.Transport == o.Transport && h.Why == o.Why &&
		h.Heard.Equal(o.Heard) && sameFault(h.Failure, o.Failure)
}

func sameFault(a, b *fault.Error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Msg == b.Msg && a.Hint == b.Hint
}

// Session is a session of a host.
type Session struct {
	Host string
	domain.SessionInfo
}

// Key names what is listed: a session, or with a zero ID a host.
type Key struct {
	Host string
	ID   domain.SessionID
}

// Ticket is a host's membership: another one begins when a host that was removed is added again.
type Ticket struct {
	host string
	n    uint64
}

// Host is the name of the host.
func (t Ticket) Host() string { return t.host }

// Catalogue is the list of all hosts' sessions. Its zero value is empty, at revision 0, which nobody has. Not safe
// for concurrent use.
type Catalogue struct {
	revision uint64
	floor    uint64 // Since knows nothing of what was lost before
	tickets  uint64 // given so far
	hosts    map[string]*host
	graves   []grave // oldest first
}

type host struct {
	Host
	ticket   uint64
	at       uint64 // the revision that changed Host last
	newest   uint64 // of at and those of its sessions
	sessions map[domain.SessionID]*entry
}

type entry struct {
	domain.SessionInfo
	at uint64
}

type grave struct {
	Key
	at uint64
}

// Revision is the number of changes so far.
func (c *Catalogue) Revision() uint64 { return c.revision }

// Add makes a host a member, or returns the ticket of the one that is there. The fault is Limit at MaxHosts.
func (c *Catalogue) Add(name, address string) (Ticket, error) {
	if h := c.hosts[name]; h != nil {
		return Ticket{name, h.ticket}, nil
	}
	if len(c.hosts) == MaxHosts {
		return Ticket{}, fault.New(fault.Limit, "%d hosts are listed, the most there can be", MaxHosts)
	}
	if c.hosts == nil {
		c.hosts = map[string]*host{}
	}
	c.tickets++
	h := &host{Host: Host{Name: name, Address: address}, ticket: c.tickets, sessions: map[domain.SessionID]*entry{}}
	c.hosts[name] = h
	c.changed(h)
	return Ticket{name, h.ticket}, nil
}

// Remove ends a host's membership: its sessions are listed no longer, and its ticket is void.
func (c *Catalogue) Remove(name string) {
	if c.hosts[name] == nil {
		return
	}
	delete(c.hosts, name)
	c.revision++
	c.bury(Key{Host: name})
}

// Host is what is known of a member.
func (c *Catalogue) Host(name string) (h Host, member bool) {
	if h := c.hosts[name]; h != nil {
		return h.Host, true
	}
	return Host{}, false
}

// Hosts are the members' names, sorted.
func (c *Catalogue) Hosts() []string { return slices.Sorted(maps.Keys(c.hosts)) }

// Know sets what is known of the way to a host; false: the ticket is void, or it was known.
func (c *Catalogue) Know(t Ticket, now Host) bool {
	h := c.at(t)
	if h == nil {
		return false
	}
	now.Name, now.Address = h.Name, h.Address
	if now.same(h.Host) {
		return false
	}
	h.Host = now
	c.changed(h)
	return true
}

// Replace sets the whole list of a host; false: the ticket is void, or nothing has changed.
func (c *Catalogue) Replace(t Ticket, list []domain.SessionInfo) bool {
	h := c.at(t)
	if h == nil {
		return false
	}
	kept := make(map[domain.SessionID]bool, len(list))
	for i := range list {
		kept[list[i].ID] = true
	}
	var gone []domain.SessionID
	for id := range h.sessions {
		if !kept[id] {
			gone = append(gone, id)
		}
	}
	return c.change(h, list, gone)
}

// Change changes some of a host's list; false: the ticket is void, or nothing has changed.
func (c *Catalogue) Change(t Ticket, changed []domain.SessionInfo, gone []domain.SessionID) bool {
	h := c.at(t)
	return h != nil && c.change(h, changed, gone)
}

func (c *Catalogue) change(h *host, changed []domain.SessionInfo, gone []domain.SessionID) bool {
	before := c.revision
	c.revision++
	done := false
	for _, id := range gone {
		if h.sessions[id] != nil {
			delete(h.sessions, id)
			c.bury(Key{h.Name, id})
			done = true
		}
	}
	for i := range changed {
		s := &changed[i]
		old := h.sessions[s.ID]
		switch {
		case old != nil && sameSession(&old.SessionInfo, s), old == nil && len(h.sessions) == MaxSessions:
			continue
		}
		h.sessions[s.ID] = &entry{*s, c.revision}
		h.newest, done = c.revision, true
	}
	if !done {
		c.revision = before
	}
	return done
}

func sameSession(a, b *domain.SessionInfo) bool {
	return a.Name == b.Name && a.State == b.State && a.Exit == b.Exit && a.Attached == b.Attached && a.Created.Equal(b.Created) &&
		a.LastUsed.Equal(b.LastUsed) && a.Pid == b.Pid && slices.Equal(a.Command, b.Command) && a.Cwd == b.Cwd && a.Title == b.Title &&
		a.Size == b.Size && a.Policy == b.Policy && a.Condition.Activity == b.Condition.Activity && a.Condition.Reason == b.Condition.Reason &&
		a.Condition.Since.Equal(b.Condition.Since) && a.Generation == b.Generation && a.Locked == b.Locked
}

// at is the member whose ticket t is, or nil.
func (c *Catalogue) at(t Ticket) *host {
	if h := c.hosts[t.host]; h != nil && h.ticket == t.n {
		return h
	}
	return nil
}

func (c *Catalogue) changed(h *host) {
	c.revision++
	h.at, h.newest = c.revision, c.revision
}

// bury remembers what the present revision has lost.
func (c *Catalogue) bury(k Key) {
	if len(c.graves) == maxGraves {
		half := maxGraves / 2
		c.floor = c.graves[half-1].at
		c.graves = append(make([]grave, 0, maxGraves), c.graves[half:]...)
	}
	c.graves = append(c.graves, grave{k, c.revision})
}

// byAge orders sessions as a daemon lists them.
func byAge(a, b *domain.SessionInfo) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:]))
}
