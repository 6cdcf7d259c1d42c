package brokerwire

import "github.com/vev-term/vev/internal/domain/fault"

// Ping numbers the next ping of ours.
func (m *Machine) Ping() (uint64, *fault.Error) {
	if m.conn != ConnRegistered {
		return 0, fault.New(fault.Unavailable, "the connection is %s", m.conn)
	}
	m.pings++
	return m.pings, nil
}

// PeerPing is Ping at the broker; after a goodbye it is answered like before.
func (m *Machine) PeerPing(n uint64) (Verdict, *fault.Error) {
	switch {
	case m.conn == ConnNew:
		return m.early()
	case m.conn == ConnClosed:
		return Discard, nil
	case n != m.pings+1:
		return Discard, violation("ping %d after %d", n, m.pings)
	}
	m.pings = n
	return Proceed, nil
}

// PeerPong is Pong at the client.
func (m *Machine) PeerPong(n uint64) (Verdict, *fault.Error) {
	switch {
	case m.conn == ConnNew:
		return m.early()
	case m.conn == ConnClosed:
		return Discard, nil
	case n != m.pongs+1 || n > m.pings:
		return Discard, violation("an answer to ping %d, of %d that were sent %d had theirs", n, m.pings, m.pongs)
	}
	m.pongs = n
	return Proceed, nil
}
