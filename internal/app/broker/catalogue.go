package broker

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// lists is the catalogue of all hosts, with what keeps it current (keeper.go) and who is told of it (publish.go).
type lists struct {
	b    *Broker
	all  sync.WaitGroup  // keepers, confirmations, readers
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
	ways      map[string]struct{} // hosts whose way has changed, to be looked at
}

func newLists(b *Broker) *lists {
	end, stop := context.WithCancel(context.Background())
	return &lists{b: b, end: end, stop: stop, keepers: map[string]*keeper{}, readers: map[*reader]struct{}{}, ways: map[string]struct{}{}}
}

// close ends everything and returns when nothing of it runs any more.
func (l *lists) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	l.all.Wait()
}

// spawn runs f on a goroutine that close joins, with mu held; false: the broker is ending, f does not run.
func (l *lists) spawn(f func()) bool {
	if !l.closed {
		l.all.Go(f)
	}
	return !l.closed
}

// enter begins to keep current what a reader is about.
func (l *lists) enter(r *reader) {
	linked := l.b.hosts.linked()
	defer l.count()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[r] = struct{}{}
	hosts := r.about
	if hosts == nil {
		hosts = append([]string{protocol.LocalHost}, linked...)
		for _, host := range l.catalogue.Hosts() {
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	for _, host := range hosts {
		ask := r.reach == protocol.ReachAll || host == protocol.LocalHost || slices.Contains(linked, host)
		l.want(host, ask)
	}
}

// want makes a host a member and has it asked, if that is to be, with mu held. At catalogue.MaxHosts it does not become one.
func (l *lists) want(host string, ask bool) {
	ticket, err := l.catalogue.Add(host, "")
	if err != nil {
		l.forget()
		ticket, err = l.catalogue.Add(host, "")
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

// met has a host asked that a stream was just opened to: there is a way to it, and a daemon.
func (l *lists) met(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.keepers[host]; k != nil {
		signal(k.kick)
	} else if l.wanted(host) {
		l.want(host, true)
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

// moved is told that the state of the way to a host has changed. hosts.mu is held.
func (l *lists) moved(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keepers[host] != nil {
		l.ways[host] = struct{}{}
		l.changed()
	}
}

// look looks at the ways that have changed.
func (l *lists) look() {
	l.mu.Lock()
	names := slices.Collect(maps.Keys(l.ways))
	clear(l.ways)
	l.mu.Unlock()
	for _, host := range names {
		way := l.b.hosts.link(host)
		l.mu.Lock()
		if k := l.keepers[host]; k != nil {
			k.way = way
			k.show()
		}
		l.mu.Unlock()
	}
}

// forget removes the hosts that nobody names and nothing is kept of, with mu held.
func (l *lists) forget() {
	for _, host := range l.catalogue.Hosts() {
		if host != protocol.LocalHost && l.keepers[host] == nil && !l.named(host) {
			l.catalogue.Remove(host)
			l.changed()
		}
	}
}

// wanted reports whether somebody is told of a host, with mu held.
func (l *lists) wanted(host string) bool {
	for r := range l.readers {
		if r.within(host) {
			return true
		}
	}
	return false
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
}

// within reports whether the reader is told of a host.
func (r *reader) within(host string) bool { return r.about == nil || slices.Contains(r.about, host) }
