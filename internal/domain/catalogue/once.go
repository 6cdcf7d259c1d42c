package catalogue

import (
	"slices"

	"github.com/vev-term/vev/internal/domain"
)

// Once leaves out what is told of a session by other names of its machine: it is this machine's own, else of a host whose list is
// current, else of one that was added by a name, else the first one's. The order stays.
func Once(hosts []Host, sessions []Session) []Session {
	rank := make(map[string]int, len(hosts))
	for i, h := range hosts {
		rank[h.Name] = i
		if h.Address == "" && h.Name != "" {
			rank[h.Name] += len(hosts)
		}
		if h.State != Current && h.Name != "" {
			rank[h.Name] += 2 * len(hosts)
		}
	}
	best := make(map[domain.SessionID]string, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		if host, told := best[s.ID]; !told || rank[s.Host] < rank[host] {
			best[s.ID] = s.Host
		}
	}
	return slices.DeleteFunc(slices.Clone(sessions), func(s Session) bool { return best[s.ID] != s.Host })
}
