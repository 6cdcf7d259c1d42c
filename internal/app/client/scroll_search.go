package client

import (
	"math"
	"regexp"
	"unicode"

	"github.com/vev-term/vev/internal/protocol"
)

const (
	// maxJoined bounds how many rows of one soft-wrapped line are joined here.
	maxJoined = 100
	// maxLocal bounds how many cached lines are searched before the daemon is asked.
	maxLocal = 2000
)

// searchKey begins a search or goes on with it; false: the key is none of those.
func (s *scroller) searchKey(k stroke) bool {
	q := &s.query
	switch k {
	case '/', '?':
		q.prompt, q.up = true, k == '?'
		q.typed, q.origin, q.back = q.typed[:0], s.cur, s.view
	case 'n':
		s.again(q.backward)
	case 'N':
		s.again(!q.backward)
	default:
		return false
	}
	return true
}

// again looks for the next match.
func (s *scroller) again(up bool) {
	if s.query.re == nil {
		s.note = "nothing was searched: / or ? and a regular expression"
		return
	}
	s.query.showing = true
	from := s.cur
	if !up {
		from.col++
	}
	s.seek(from, up)
}

// promptKey is a key while a pattern is being typed.
func (s *scroller) promptKey(k stroke) {
	q := &s.query
	switch k {
	case '\r':
		q.prompt, q.backward = false, q.up
		if len(q.typed) == 0 {
			s.again(q.up)
		}
		return
	case esc, ctrl('c'), ctrl('g'):
		s.stopSearch()
		q.prompt, q.showing = false, false
		s.cur, s.view = q.origin, q.back
		return
	case ctrl('u'):
		q.typed = q.typed[:0]
	case 0x7f, ctrl('h'):
		if len(q.typed) == 0 {
			q.prompt = false
			return
		}
		q.typed = q.typed[:len(q.typed)-1]
	default:
		if k < ' ' || len(string(q.typed))+4 > protocol.MaxPatternBytes/8 {
			return
		}
		q.typed = append(q.typed, rune(k))
	}
	s.retype()
}

// retype searches what is in the prompt now, from where it began.
func (s *scroller) retype() {
	q := &s.query
	s.stopSearch()
	s.cur, s.view = q.origin, q.back
	q.showing = false
	if len(q.typed) == 0 {
		return
	}
	pattern := string(q.typed)
	if smartFold(q.typed) {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		s.note = "not a regular expression yet"
		return
	}
	q.pattern, q.re, q.showing = pattern, re, true
	from := q.origin
	if !q.up {
		from.col++
	}
	s.seek(from, q.up)
}

// smartFold: a pattern without capitals is for either case. A letter behind a backslash is no capital.
func smartFold(pattern []rune) bool {
	for i, r := range pattern {
		if unicode.IsUpper(r) && (i == 0 || pattern[i-1] != '\\') {
			return false
		}
	}
	return true
}

// stopSearch gives up the search under way.
func (s *scroller) stopSearch() {
	if s.query.asked != 0 {
		s.asker.giveUp(s.query.asked)
		s.query.asked = 0
	}
}

// seek looks for the match next to a place: in the lines that are here, then at the daemon.
func (s *scroller) seek(from place, up bool) {
	s.stopSearch()
	s.query.from, s.query.wrapped = from, false
	s.query.seekUp = up
	if at, found := s.local(from, up); found {
		s.jump(at)
		return
	}
	s.askMatch()
}

// askMatch asks the daemon for the match next to where the search is, all around where what it has is what is shown.
func (s *scroller) askMatch() {
	q := &s.query
	gen := s.gen
	if s.snapAlt && q.seekUp && q.from.line > s.snapTop {
		q.from = place{line: s.snapTop} // from there on it has the main screen's lines, which do not show
	}
	var id uint64
	id = s.asker.ask(&protocol.Search{
		Session: s.live.session, Pattern: q.pattern, Line: q.from.line, Col: min(q.from.col, maxColumn), Backward: q.seekUp,
		Around: !q.wrapped && !s.snapAlt,
	}, func(m *protocol.Result) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q.asked != id || !s.on {
			return
		}
		q.asked = 0
		switch found, ok := m.Body.(*protocol.Found); {
		case !ok && m.Failure != nil:
			s.note = m.Failure.Text
		case gen != s.gen:
			s.askMatch() // the numbers are others now
		case ok && found.Met && !(s.snapAlt && found.Line >= s.snapTop):
			q.wrapped = q.wrapped || found.Around
			s.jump(place{found.Line, found.Col})
		case !q.wrapped && !(ok && found.Around):
			s.wrapAround()
		default:
			s.note = "no match"
		}
		s.fill()
		s.redraw()
	})
	q.asked = id
}

// maxColumn is the largest that a search may name.
const maxColumn = 1000

// wrapAround goes on with the search from the other end.
func (s *scroller) wrapAround() {
	q := &s.query
	q.wrapped, q.from = true, place{}
	if q.seekUp {
		q.from.line = math.MaxUint64
		if at, found := s.local(place{line: s.end()}, true); found {
			s.jump(at)
			return
		}
	}
	s.askMatch()
}

// jump shows a match, in the middle of the view unless it is in it.
func (s *scroller) jump(at place) {
	if s.query.wrapped {
		s.note = "search goes on from the other end"
	}
	row := s.rowOf(at)
	last, _ := s.step(s.view, s.height()-1)
	if row.before(s.view) || last.before(row) {
		s.view, _ = s.step(row, -s.height()/2)
		if low := s.lowest(); low.before(s.view) {
			s.view = low
		}
	}
	s.setPlace(at)
}

// local looks for a match in the cached lines next to a place. Not finding one there says nothing of others.
func (s *scroller) local(from place, up bool) (place, bool) {
	n := from.line
	for range maxLocal {
		if n >= s.end() {
			if !up || n == 0 {
				return place{}, false
			}
			n = s.end() - 1
		}
		first, last, ok := s.join(n)
		if !ok {
			return place{}, false
		}
		if at, found := s.pick(from, up); found {
			return at, true
		}
		if up {
			if first == 0 || first <= s.live.first {
				return place{}, false
			}
			n = first - 1
			continue
		}
		n = last + 1
	}
	return place{}, false
}

// joined is a line with the rows that soft wraps broke off.
type joined struct {
	text  []byte
	rows  []uint64 // numbers
	at    []int    // where in text each begins
	found [][]int  // matches in text
}

// join reads the whole line that row n belongs to and finds the matches in it; false: a row of it is not here.
func (s *scroller) join(n uint64) (first, last uint64, ok bool) {
	j := &s.joined
	first = n
	for i := 0; i < maxJoined && first > s.live.first; i++ {
		if l := s.look(first - 1); !l.ok || !l.wrapped {
			break
		}
		first--
	}
	j.text, j.rows, j.at = j.text[:0], j.rows[:0], j.at[:0]
	for last = first; ; last++ {
		l := s.look(last)
		if !l.ok {
			return first, last, false
		}
		j.rows, j.at = append(j.rows, last), append(j.at, len(j.text))
		j.text = append(j.text, l.text...)
		if !l.wrapped || last+1 >= s.end() || len(j.rows) > maxJoined {
			break
		}
	}
	j.found = s.query.re.FindAllIndex(j.text, -1)
	return first, last, true
}

// pick is the match in the joined line that is next to a place.
func (s *scroller) pick(from place, up bool) (at place, found bool) {
	for _, m := range s.joined.found {
		if m[0] == m[1] {
			continue
		}
		p := s.placeOf(m[0])
		switch {
		case up && !p.before(from):
			return at, found
		case up:
			at, found = p, true
		case !p.before(from):
			return p, true
		}
	}
	return at, found
}

// placeOf is the place of a byte of the joined line.
func (s *scroller) placeOf(at int) place {
	j := &s.joined
	i := len(j.at) - 1
	for i > 0 && j.at[i] > at {
		i--
	}
	at -= j.at[i]
	for _, g := range s.look(j.rows[i]).gl {
		if at < g.to {
			return place{j.rows[i], g.col}
		}
	}
	return place{j.rows[i], width(s.line.gl)}
}
