package sshstdio

import (
	"sync"

	"github.com/vev-term/vev/internal/protocol"
)

// shared decides which ssh may go over a connection that the user's configuration has ssh share
// (ControlPath). One whose network is gone takes every ssh along into its silence, for as long as TCP
// tries: so an attempt beside another one, which takes long, makes a connection of its own. Where that
// is not let in without a question, the shared one is all there is.
type shared struct {
	mu      sync.Mutex      // a leaf
	running map[string]int  // attempts, by host
	refused map[string]bool // hosts that did not let in a connection of its own; at most protocol.MaxHosts
}

// begin notes an attempt, and says whether it may share a connection.
func (s *shared) begin(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running, s.refused = map[string]int{}, map[string]bool{}
	}
	s.running[host]++
	return s.running[host] == 1 || s.refused[host]
}

// end notes the end of an attempt that begin was told of: refused means that the host did not let in a
// connection of its own, linked that there is a link now.
func (s *shared) end(host string, refused, linked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[host]--; s.running[host] == 0 {
		delete(s.running, host)
	}
	switch {
	case linked:
		delete(s.refused, host)
	case refused:
		if len(s.refused) == protocol.MaxHosts {
			clear(s.refused)
		}
		s.refused[host] = true
	}
}
