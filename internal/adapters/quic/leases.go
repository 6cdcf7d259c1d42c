package quic

import (
	"slices"
	"sync"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
)

// leases are the keys that the proxy knows, each for leaseTime after its last contact.
type leases struct {
	mu      sync.Mutex // a leaf
	known   map[fingerprint]*lease
	unknown []*quicgo.Conn // connections of keys that are not known, oldest first; at most maxUnknown
	serial  uint64
}

// lease is one key's.
type lease struct {
	conns []*member // oldest first; at most maxPerLease
	last  time.Time // when it lost its last connection
}

// member is a connection of a lease.
type member struct {
	conn    *quicgo.Conn
	serial  uint64
	key     fingerprint
	streams int // that are open, guarded by leases.mu
}

func newLeases() *leases { return &leases{known: map[fingerprint]*lease{}} }

// knows reports whether a key is known now.
func (s *leases) knows(key fingerprint, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	return s.known[key] != nil
}

// sweep forgets what was not there for leaseTime, with mu held.
func (s *leases) sweep(now time.Time) {
	for key, l := range s.known {
		if len(l.conns) == 0 && now.Sub(l.last) >= leaseTime {
			delete(s.known, key)
		}
	}
}

// wait notes a connection of a key that is not known. Where there are too many, the oldest is to be closed.
func (s *leases) wait(conn *quicgo.Conn) (excess *quicgo.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unknown) == maxUnknown {
		excess = s.unknown[0]
		s.unknown = s.unknown[1:]
	}
	s.unknown = append(s.unknown, conn)
	return excess
}

// waited notes that it is known now, or gone.
func (s *leases) waited(conn *quicgo.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = slices.DeleteFunc(s.unknown, func(c *quicgo.Conn) bool { return c == conn })
}

// grant makes a key known; a Limit fault if too many are that are connected.
func (s *leases) grant(key fingerprint, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if s.known[key] != nil {
		return nil
	}
	if len(s.known) == maxLeases {
		oldest, found := fingerprint{}, false
		for k, l := range s.known {
			if len(l.conns) == 0 && (!found || l.last.Before(s.known[oldest].last)) {
				oldest, found = k, true
			}
		}
		if !found {
			return fault.New(fault.Limit, "%d brokers are connected already", maxLeases)
		}
		delete(s.known, oldest)
	}
	s.known[key] = &lease{last: now}
	return nil
}

// join notes a connection of a known key; nil: it is known no more. Where there are too many, the oldest is to be closed.
func (s *leases) join(key fingerprint, conn *quicgo.Conn) (m *member, excess *quicgo.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.known[key]
	if l == nil {
		return nil, nil
	}
	if len(l.conns) == maxPerLease {
		excess = l.conns[0].conn
		l.conns = l.conns[1:]
	}
	s.serial++
	m = &member{conn: conn, serial: s.serial, key: key}
	l.conns = append(l.conns, m)
	return m, excess
}

// leave notes the end of a connection.
func (s *leases) leave(m *member, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.known[m.key]; l != nil {
		l.conns = slices.DeleteFunc(l.conns, func(other *member) bool { return other == m })
		l.last = now
	}
}

// inUse returns the connections whose place m takes: those of its key that are older.
func (s *leases) inUse(m *member) (old []*quicgo.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.known[m.key]
	if l == nil {
		return nil
	}
	for _, other := range l.conns {
		if other.serial < m.serial {
			old = append(old, other.conn)
		}
	}
	return old
}

// streamed counts the streams of a connection.
func (s *leases) streamed(m *member, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.streams += n
}

// state is how many keys are known, and how many streams their connections have.
func (s *leases) state(now time.Time) (keys, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	for _, l := range s.known {
		for _, m := range l.conns {
			streams += m.streams
		}
	}
	return len(s.known), streams
}

// trusts reports whether a connection is one of a known key.
func (s *leases) trusts(conn *quicgo.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.known {
		if slices.ContainsFunc(l.conns, func(m *member) bool { return m.conn == conn }) {
			return true
		}
	}
	return false
}

// close forgets all keys and returns every connection.
func (s *leases) close() (conns []*quicgo.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conns, s.unknown = s.unknown, nil
	for _, l := range s.known {
		for _, m := range l.conns {
			conns = append(conns, m.conn)
		}
	}
	clear(s.known)
	return conns
}
