package broker

import (
	"time"

	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// publishInterval joins what changes on several hosts at once: one update for all of it.
const publishInterval = 5 * time.Millisecond

// Subscribed serves a subscription until it is over. It does not wait for that; Close does.
func (b *Broker) Subscribed(s ports.Subscription) {
	l, asked := b.lists, s.Asked()
	r := &reader{Subscription: s, reach: asked.Reach, wake: make(chan struct{}, 1)}
	if len(asked.Hosts) > 0 {
		r.about = asked.Hosts
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spawn(func() { l.serve(r, asked.KnownRevision) })
}

// serve tells a reader what it does not have yet, from revision have on, until it is over. Nothing waits for a reader that takes
// nothing: what it gets then is the difference to what there is when it takes something.
func (l *lists) serve(r *reader, have uint64) {
	l.enter(r)
	defer l.leave(r)
	for {
		l.look()
		d := l.since(have, r)
		if !d.Empty() {
			if publish(r, &d) != nil {
				return // it is over
			}
			have = d.Revision
		}
		select {
		case <-r.wake:
			time.Sleep(publishInterval)
		case <-r.Missed():
			have = 0
		case <-r.Over():
			return
		case <-l.end.Done():
			return
		}
	}
}

// since is what a reader that has a revision gets next: a delta, or a snapshot where that would be too large for one message.
func (l *lists) since(have uint64, r *reader) catalogue.Delta {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.anew {
		have, r.anew = 0, false
	}
	scope := func(host string) bool { return l.tells(r, host) }
	d := l.catalogue.Since(have, scope)
	if d.Base != 0 && !fits(&d) {
		return l.catalogue.Snapshot(scope)
	}
	return d
}

// fits reports whether a delta is small enough for a message.
func fits(d *catalogue.Delta) bool {
	const entry = 160 // of numbers and heads, about
	bytes := entry * (len(d.Gone) + len(d.Hosts) + len(d.Sessions))
	for i := range d.Hosts {
		h := &d.Hosts[i]
		bytes += len(h.Name) + len(h.Address)
		if h.Failure != nil {
			bytes += len(h.Failure.Msg) + len(h.Failure.Hint)
		}
	}
	for i := range d.Sessions {
		s := &d.Sessions[i]
		bytes += len(s.Host) + len(s.Name) + len(s.Title) + len(s.Cwd) + len(s.Condition.Reason)
		for _, arg := range s.Command {
			bytes += len(arg) + 2
		}
	}
	return bytes <= ports.MaxPublishBytes && len(d.Gone) <= protocol.MaxDeltaSessions && len(d.Sessions) <= protocol.MaxDeltaSessions
}

// publish gives a reader a delta, or a snapshot in its parts. The error says that the reader is over.
func publish(r *reader, d *catalogue.Delta) error {
	if d.Base != 0 {
		return r.Publish(&protocol.SnapshotDelta{Delta: *d})
	}
	p := parts{r: r, revision: d.Revision}
	p.give(protocol.SnapshotBegin{})
	for _, h := range d.Hosts {
		p.give(protocol.HostEntry{Host: h})
	}
	for _, s := range d.Sessions {
		p.give(protocol.SessionEntry{Session: s})
	}
	for _, k := range d.Gone {
		p.give(protocol.Tombstone{Key: k})
	}
	p.give(protocol.SnapshotEnd{Parts: uint32(len(d.Hosts) + len(d.Sessions) + len(d.Gone))})
	return p.err
}

// parts gives the parts of one snapshot until that fails.
type parts struct {
	r        *reader
	revision uint64
	err      error
}

func (p *parts) give(e protocol.CatalogueEntry) {
	if p.err == nil {
		p.err = p.r.Publish(&protocol.SnapshotPart{Revision: p.revision, Part: e})
	}
}
