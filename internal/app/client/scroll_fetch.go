package client

import (
	"time"

	"github.com/vev-term/vev/internal/protocol"
)

const (
	// fetchLines is the least that is asked for at a time, and aheadScreens how far beyond the view in either direction.
	fetchLines   = 64
	aheadScreens = 3
	// quietBefore is how long no line left the screen before the newest are fetched in advance.
	quietBefore = 300 * time.Millisecond
)

// span is count lines from first on.
type span struct {
	first uint64
	count int
}

// fetcher asks for lines, for one span at a time.
type fetcher struct {
	busy  bool
	last  span // asked for; the same is not asked for twice in a row
	quiet time.Time
	top   uint64 // of the screen, at quiet

	copying copying
}

// fill asks for lines that are missing in the view or near it.
func (s *scroller) fill() {
	if s.fetch.busy || s.fresh {
		return
	}
	if want := s.missing(); want.count > 0 && want != s.fetch.last {
		s.request(want)
	}
}

// missing is the next span to ask for: what is shown first, then what is above, then what is below.
func (s *scroller) missing() span {
	h := uint64(s.height())
	chunk := min(max(h*aheadScreens, fetchLines), protocol.MaxHistoryLines)
	first, end := s.live.first, s.end()
	if s.snapAlt {
		end = s.snapTop
	}
	at := min(max(s.view.line, first), end)
	for n := at; n < min(at+h, end); n++ {
		if !s.cache.has(n) {
			return s.run(n, min(n+chunk, end))
		}
	}
	for n := at; n > first && n+aheadScreens*h > at; n-- {
		if !s.cache.has(n - 1) {
			from := max(first, n-min(n, chunk))
			return s.run(from, n)
		}
	}
	for n := at + h; n < min(at+aheadScreens*h, end); n++ {
		if !s.cache.has(n) {
			return s.run(n, min(n+chunk, end))
		}
	}
	return span{}
}

// run is [from, to) without the known lines at its ends.
func (s *scroller) run(from, to uint64) span { return trim(from, to, s.cache.has) }

func trim(from, to uint64, known func(uint64) bool) span {
	for from < to && known(from) {
		from++
	}
	for to > from && known(to-1) {
		to--
	}
	return span{from, int(to - from)}
}

// request asks for lines. The answer comes on the link's goroutine.
func (s *scroller) request(want span) {
	s.fetch.busy, s.fetch.last = true, want
	gen := s.gen
	s.asker.ask(&protocol.History{Session: s.live.session, First: want.first, Count: want.count}, func(m *protocol.Result) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fetch.busy = false
		if lines, ok := m.Body.(*protocol.Lines); ok && gen == s.gen {
			s.take(lines)
		}
		s.resumeCopy()
		if s.on {
			s.fill()
			s.redraw()
		}
	})
}

// take keeps lines that the daemon gave. Those that were the screen's then may still change: outside of scroll mode
// they are not kept.
func (s *scroller) take(lines *protocol.Lines) {
	for i := range lines.List {
		n := lines.List[i].N
		if !s.on && n >= s.live.top || s.on && s.snapAlt && n >= s.snapTop {
			break
		}
		s.cache.put(&lines.List[i])
	}
}

// fetchAhead fetches the newest lines once no more leave the screen, so that scroll mode finds them. It returns when to
// look again.
func (s *scroller) fetchAhead(now time.Time) time.Time {
	f := &s.fetch
	if s.prefetch == 0 || s.on || !s.live.pane.Valid() {
		f.quiet = time.Time{}
		return f.quiet
	}
	if f.top != s.live.top {
		f.top, f.quiet = s.live.top, now.Add(quietBefore)
		return f.quiet
	}
	if now.Before(f.quiet) || f.quiet.IsZero() {
		return f.quiet
	}
	f.quiet = time.Time{}
	first := max(s.live.first, f.top-min(f.top, uint64(s.prefetch)))
	if want := s.run(first, f.top); want.count > 0 && !f.busy {
		want.count = min(want.count, protocol.MaxHistoryLines)
		s.request(want)
	}
	return f.quiet
}
