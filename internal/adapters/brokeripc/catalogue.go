package brokeripc

import (
	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// listing is a client's copy of the catalogue. Guarded by conn.mu but for changes.
type listing struct {
	asked   bool // ever: what is still on its way when the client has had enough is nobody's fault
	view    catalogue.View
	refused error         // the broker has no catalogue
	changes chan struct{} // cap 1
}

// Subscribe asks the broker for the catalogue; what it had of another subscription is dropped. It does not wait.
func (c *Client) Subscribe(hosts []string, reach protocol.Reach) {
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return // as Listed will say
	}
	if !c.listing.asked {
		n.reading.urgent++ // for the rest of the connection
	}
	c.listing.asked, c.listing.view, c.listing.refused = true, catalogue.View{}, nil
	n.post(brokerwire.AppendClient(nil, &protocol.Subscribe{Hosts: hosts, Reach: reach}))
	n.offerTurn()
}

// Unsubscribe ends the subscription; what was listed stays as it was. It does not wait.
func (c *Client) Unsubscribe() {
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil && c.listing.asked {
		n.post(brokerwire.AppendClient(nil, &protocol.Unsubscribe{}))
	}
}

// Changes gets a token when what is Listed has changed, or the connection has ended.
func (c *Client) Changes() <-chan struct{} { return c.listing.changes }

// Listed is the catalogue as it is known now, hosts and sessions in order; ready: there was a whole snapshot. The error is
// Unsupported where the broker has none, or the connection's end.
func (c *Client) Listed() (hosts []catalogue.Host, sessions []catalogue.Session, ready bool, err error) {
	n := c.conn
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &c.listing
	switch {
	case l.refused != nil:
		err = l.refused
	case n.err != nil:
		err = n.err
	}
	return l.view.Hosts(), l.view.Sessions(), l.view.Revision() != 0, err
}

// part takes a part of a snapshot in, with mu held.
func (c *Client) part(m *protocol.SnapshotPart) error {
	var resync bool
	var err error
	switch e := m.Part.(type) {
	case protocol.SnapshotBegin:
		c.listing.view.Begin(m.Revision)
	case protocol.SnapshotEnd:
		if resync = c.listing.view.End(m.Revision, e.Parts); !resync {
			c.listing.notify()
		}
	case protocol.HostEntry:
		resync, err = c.listing.view.Part(m.Revision, catalogue.Delta{Hosts: []catalogue.Host{e.Host}})
	case protocol.SessionEntry:
		resync, err = c.listing.view.Part(m.Revision, catalogue.Delta{Sessions: []catalogue.Session{e.Session}})
	case protocol.Tombstone:
		resync, err = c.listing.view.Part(m.Revision, catalogue.Delta{Gone: []catalogue.Key{e.Key}})
	}
	return c.listed(resync, err)
}

// delta takes a delta in, with mu held.
func (c *Client) delta(m *protocol.SnapshotDelta) error {
	resync, err := c.listing.view.Apply(m.Delta)
	if err == nil && !resync {
		c.listing.notify()
	}
	return c.listed(resync, err)
}

// listed asks for a snapshot where something was missed, with mu held.
func (c *Client) listed(resync bool, err error) error {
	switch {
	case !c.listing.asked:
		return fault.New(fault.Violation, "a catalogue came that nobody subscribed to")
	case resync:
		c.conn.post(brokerwire.AppendClient(nil, &protocol.Resync{HaveRevision: c.listing.view.Revision()}))
	}
	return err
}

func (l *listing) notify() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}
