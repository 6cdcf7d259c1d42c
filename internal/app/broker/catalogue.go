package broker

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// lists is the catalogue of all hosts, with what keeps it current (keeper.go) and who is told of it (publish.go).
type lists struct {
	b    *Broker
	runs sync.WaitGroup  // keepers, confirmations, readers
	end  context.Context // of all of them
	stop context.CancelFunc

	// counting orders what the links are told of who uses them. Under it mu and hosts.mu are taken, one after the other.
	counting sync.Mutex

	// mu is taken under hosts.mu; under it nothing waits, and only the locks of conversations are taken.
	mu        sync.Mutex
	closed    bool
	catalogue catalogue.Catalogue
	keepers   map[string]*keeper
	readers   map[*reader]struct{}
	ways      map[string]struct{} // addresses to which the way has changed, to be looked at
	members   domain.Hosts        // as they were seen last
	removed   map[string]struct{} // addresses of members that were removed and not used since; at most catalogue.MaxHosts
}

func newLists(b *Broker) *lists {
	end, stop := context.WithCancel(context.Background())
	return &lists{b: b, end: end, stop: stop, keepers: map[string]*keeper{}, readers: map[*reader]struct{}{}, ways: map[string]struct{}{}, removed: map[string]struct{}{}}
}

// close ends everything and returns when nothing of it runs any more.
func (l *lists) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	l.runs.Wait()
}

// spawn runs f on a goroutine that close joins, with mu held; false: the broker is ending, f does not run.
func (l *lists) spawn(f func()) bool {
	if !l.closed {
		l.runs.Go(f)
	}
	return !l.closed
}

// enter begins to keep current what a reader is about.
func (l *lists) enter(r *reader) {
	members, linked := l.b.members.load(), l.b.hosts.linked()
	defer l.count()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.joined(members)
	l.readers[r] = struct{}{}
	hosts := r.about
	if hosts == nil {
		hosts = l.known(linked)
	}
	for _, host := range hosts {
		reached := slices.Contains(linked, l.address(host))
		l.want(host, r.reach == protocol.ReachAll || host == protocol.LocalHost || reached)
		if k := l.keepers[host]; k != nil && reached {
			k.reached = true
		}
	}
}

// known are this machine, the members, and whatever else a link leads to or is listed, by one name each, with mu held.
func (l *lists) known(linked []string) []string {
	hosts, addresses := []string{protocol.LocalHost}, map[string]bool{protocol.LocalHost: true}
	for _, m := range l.members.Known {
		hosts = append(hosts, m.Alias)
		addresses[m.Address.String()] = true
	}
	for _, host := range append(linked, l.catalogue.Hosts()...) {
		k, address := l.keepers[host], l.address(host)
		if known := slices.Contains(linked, host) || k != nil && k.reached; known && !addresses[address] && !l.twin(host) {
			hosts = append(hosts, host)
			addresses[address] = true
		}
	}
	return hosts
}

// address is where a host of the catalogue is dialed, with mu held.
func (l *lists) address(host string) string {
	named, err := domain.ParseHost(host)
	if err != nil {
		return host
	}
	address, _, _ := l.members.Resolve(named)
	return address.String()
}

// twin reports whether a host is a member by another name, or was one until it was removed, with mu held: it is listed for who
// names it, and no one else.
func (l *lists) twin(host string) bool {
	if _, member := l.members.Find(host); member || host == protocol.LocalHost {
		return false
	}
	address := l.address(host)
	if _, removed := l.removed[address]; removed {
		return true
	}
	return slices.ContainsFunc(l.members.Known, func(m domain.KnownHost) bool { return m.Address.String() == address })
}

// joined is told which hosts are members, with mu held. One that was removed is listed no longer, whatever is still to come
// from it; one that was added anew, or leads elsewhere, is another one.
func (l *lists) joined(members domain.Hosts) {
	before := l.members
	l.members = members
	if before.Revision != members.Revision {
		l.anew()
	}
	for _, old := range before.Known {
		if now, member := members.Find(old.Alias); member && now.Since == old.Since {
			continue
		}
		if k := l.keepers[old.Alias]; k != nil {
			delete(l.keepers, old.Alias)
			k.end()
		}
		l.catalogue.Remove(old.Alias)
		if len(l.removed) == catalogue.MaxHosts {
			clear(l.removed)
		}
		l.removed[old.Address.String()] = struct{}{}
	}
	for _, m := range members.Known {
		if _, member := before.Find(m.Alias); !member && len(l.readers) > 0 {
			l.want(m.Alias, l.wantedFar(m.Alias))
		}
	}
	l.changed()
}

// rejoined is joined for what has changed just now.
func (l *lists) rejoined(members domain.Hosts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.joined(members)
}

// wantedFar reports whether somebody is told of a host who has it dialed, with mu held.
func (l *lists) wantedFar(host string) bool {
	for r := range l.readers {
		if r.reach == protocol.ReachAll && l.tells(r, host) {
			return true
		}
	}
	return false
}

// want makes a host a member and has it asked, if that is to be, with mu held. At catalogue.MaxHosts it does not become one.
func (l *lists) want(host string, ask bool) {
	address := ""
	if m, member := l.members.Find(host); member {
		address = m.Address.String()
	}
	ticket, err := l.catalogue.Add(host, address)
	if err != nil {
		l.forget()
		ticket, err = l.catalogue.Add(host, address)
	}
	k := l.keepers[host]
	switch {
	case err != nil || l.closed:
	case k != nil:
		k.wanted(ask)
	case ask:
		k = newKeeper(l, ticket)
		l.keepers[host] = k
		k.know(catalogue.Asking, nil)
		l.spawn(k.run)
	}
	l.changed()
}

// met has a host asked that a stream was just opened to at an address: there is a way to it, and a daemon.
func (l *lists) met(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.removed, address)
	if len(l.readers) == 0 {
		return
	}
	met := false
	for host, k := range l.keepers {
		if l.address(host) == address {
			signal(k.kick)
			met = true
		}
	}
	if !met {
		for _, host := range l.known([]string{address}) {
			if l.address(host) == address && l.all() {
				l.want(host, true)
				if k := l.keepers[host]; k != nil {
					k.reached = true
				}
			}
		}
	}
}

// leave ends a reader. What nobody wants any more is kept for a while, and hosts are forgotten.
func (l *lists) leave(r *reader) {
	defer l.count()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.readers, r)
	for host, k := range l.keepers {
		if !l.wanted(host) {
			k.rest()
		}
	}
	l.forget()
}

// count has each link be used by the conversation that goes over it if somebody wants to know what that tells.
func (l *lists) count() {
	l.counting.Lock()
	defer l.counting.Unlock()
	var used, kept []*linked
	l.mu.Lock()
	for host, k := range l.keepers {
		switch {
		case k.stream == nil:
		case l.wanted(host):
			used = append(used, k.stream)
		default:
			kept = append(kept, k.stream)
		}
	}
	l.mu.Unlock()
	for _, s := range used {
		l.b.hosts.hold(s)
	}
	for _, s := range kept {
		l.b.hosts.release(s)
	}
}

// moved is told that the state of the way to an address has changed. hosts.mu is held.
func (l *lists) moved(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.readers) > 0 {
		l.ways[address] = struct{}{}
		l.changed()
	}
}

// look looks at the ways that have changed.
func (l *lists) look() {
	l.mu.Lock()
	names := slices.Collect(maps.Keys(l.ways))
	clear(l.ways)
	l.mu.Unlock()
	for _, address := range names {
		way := l.b.hosts.link(address)
		l.mu.Lock()
		for host, k := range l.keepers {
			if l.address(host) == address {
				k.way = way
				k.show()
			}
		}
		l.mu.Unlock()
	}
}

// forget removes the hosts that nobody names and nothing is kept of, with mu held.
func (l *lists) forget() {
	for _, host := range l.catalogue.Hosts() {
		if _, member := l.members.Find(host); !member && host != protocol.LocalHost && l.keepers[host] == nil && !l.named(host) {
			l.catalogue.Remove(host)
			l.changed()
		}
	}
}

// wanted reports whether somebody is told of a host, with mu held.
func (l *lists) wanted(host string) bool {
	for r := range l.readers {
		if l.tells(r, host) {
			return true
		}
	}
	return false
}

// tells reports whether a reader is told of a host, with mu held: one that asks for all of this machine, the members, and of
// others what was reached, not what somebody else has named.
func (l *lists) tells(r *reader, host string) bool {
	if r.about != nil {
		return slices.Contains(r.about, host)
	}
	if _, member := l.members.Find(host); member || host == protocol.LocalHost {
		return true
	}
	k := l.keepers[host]
	return k != nil && k.reached && !l.twin(host)
}

// all reports whether somebody is told of all hosts, with mu held.
func (l *lists) all() bool {
	for r := range l.readers {
		if r.about == nil {
			return true
		}
	}
	return false
}

// anew has who is told of all hosts get a snapshot, with mu held: which hosts those are has changed.
func (l *lists) anew() {
	for r := range l.readers {
		if r.about == nil {
			r.anew = true
			signal(r.wake)
		}
	}
}

// named reports whether somebody is about this host and not just any, with mu held.
func (l *lists) named(host string) bool {
	for r := range l.readers {
		if slices.Contains(r.about, host) {
			return true
		}
	}
	return false
}

// changed tells every reader to look, with mu held.
func (l *lists) changed() {
	for r := range l.readers {
		signal(r.wake)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// reader is a subscription that is served.
type reader struct {
	ports.Subscription
	about []string // the hosts it names; nil: all
	reach protocol.Reach
	wake  chan struct{} // cap 1: the catalogue may have changed
	anew  bool          // a snapshot is due. Guarded by lists.mu
}
