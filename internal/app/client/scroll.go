package client

import (
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// scroller is scroll mode: a view of the session's lines that the user moves, while output goes on below. It shows
// lines by number from its cache; on entering, the screen's own lines are put there, so that what is shown stays as it
// was. Lines that are missing are asked for, those next to the view ahead of their need.
//
// The pump moves it, the link brings lines, whoever paints draws it: each for a moment, under mu. Nothing waits while
// mu is held.
type scroller struct {
	asker  asker
	redraw func() // makes the tender paint
	wake   chan struct{}
	out    chan []byte // cap 1: text for the user's clipboard, the newest

	// captures: the wheel and the mouse's buttons are ours, as the program does not take them. For the pump.
	captures atomic.Bool
	// prefetch is how many lines of history are fetched before anybody asks.
	prefetch int
	mousing  bool // else the mouse is the user's terminal's

	mu    sync.Mutex
	live  liveState
	lent  *view // the screen's, while whoever moves the mode has the screen's turn
	cache lineCache
	gen   int // of line numbers: raised by a resize
	fetch fetcher

	on      bool
	byWheel bool // entered by the mouse: the way back down leaves
	fresh   bool // the screen's lines are to be put into the cache
	dirty   bool // the screen has changed since they were
	snapTop uint64
	snapAlt bool // the screen was the alternate one: its lines are nobody else's

	view    rowPos
	cur     place
	goal    int // column within the row that vertical moves keep to
	sel     selection
	query   finder
	input   strokes
	pointer pointer
	note    string // one line at the bottom, until the next key
	line    lineLook
	joined  joined
	draw    drawing
}

// asker puts questions to the daemon.
type asker interface {
	ask(body protocol.RequestBody, answer func(*protocol.Result)) (id uint64)
	giveUp(id uint64)
}

// liveState is what the session's last painted state said.
type liveState struct {
	session    string
	first, top uint64 // the oldest line kept, and the screen's first
	pane       domain.Size
	win        domain.Size // of the terminal
	winRow     int         // the pane's row in the terminal's first
	cursor     vt.Cursor
	alt        bool
	taken      bool // the program takes the mouse
	version    uint64
}

// place is a column of a line; rowPos is a row of the view: a line wider than the terminal has several.
type (
	place struct {
		line uint64
		col  int
	}
	rowPos struct {
		line  uint64
		piece int
	}
)

func (p place) before(o place) bool { return p.line < o.line || p.line == o.line && p.col < o.col }
func (p rowPos) before(o rowPos) bool {
	return p.line < o.line || p.line == o.line && p.piece < o.piece
}

func newScroller(a asker, redraw func()) *scroller {
	return &scroller{asker: a, redraw: redraw, wake: make(chan struct{}, 1), out: make(chan []byte, 1)}
}

// of says which session's lines they are, before anything is asked.
func (s *scroller) of(id domain.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.session = id.String()
}

// observe takes note of the state that is about to be painted.
func (s *scroller) observe(v *view, win domain.Size, winRow int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.live
	s.live.win, s.live.winRow = win, winRow
	s.see(v)
	l := &s.live
	s.captures.Store(s.mousing && (s.on || v.term != nil && !l.taken && !l.alt))
	if before.top != l.top && s.prefetch > 0 && s.fetch.quiet.IsZero() {
		signal(s.wake) // the tender looks when to fetch
	}
	if !s.on {
		return
	}
	if s.fresh {
		s.snapshot(v.term)
	} else if before.win != win || s.end() <= max(s.view.line, s.cur.line) { // a resize of the session may take lines back
		s.settle()
	}
	s.fill()
}

// see takes note of a state.
func (s *scroller) see(v *view) {
	if v.term == nil {
		return
	}
	before := s.live
	l := &s.live
	m := v.term.Modes()
	cols, rows := v.term.Size()
	l.first, l.top, l.pane = v.first, v.top, domain.Size{Cols: cols, Rows: rows}
	l.cursor, l.alt, l.taken = v.term.Cursor(), m.Alternate, m.Mouse != vt.MouseNone
	if version := v.term.Version(); l.version != version || l.top != before.top {
		l.version, s.dirty = version, true
	}
	if before.pane != l.pane && before.pane.Valid() {
		s.renumbered(min(before.top, l.top))
	}
}

// lend lets f, which moves the mode, have the screen's content.
func (s *scroller) lend(v *view, f func()) {
	s.mu.Lock()
	s.lent = v
	s.mu.Unlock()
	f()
	s.mu.Lock()
	s.lent = nil
	s.mu.Unlock()
}

// renumbered: a resize wrapped the lines near the screen's top anew.
func (s *scroller) renumbered(top uint64) {
	s.gen++
	s.cache.spoil(top - min(top, maxRewrapped))
	s.fetch.last = span{}
}

// maxRewrapped is how many lines of history a resize may wrap anew, the engine's bound.
const maxRewrapped = 2*vt.MaxRows + vt.MaxRows

// snapshot puts the screen's lines into the cache.
func (s *scroller) snapshot(t *vt.Terminal) {
	s.fresh, s.dirty = false, false
	moved := s.live.top - s.snapTop // since the mode was entered
	s.snapTop, s.snapAlt = s.live.top, s.live.alt
	s.view.line += moved
	s.cur.line += moved
	if s.sel.kind != selNone {
		s.sel.anchor.line += moved
	}
	for y := range s.live.pane.Rows {
		l := screenLine(t, y, s.live.top+uint64(y))
		s.cache.put(&l)
	}
	s.settle()
}

// end is the number behind the last line there is to show.
func (s *scroller) end() uint64 {
	if s.snapAlt {
		return s.snapTop + uint64(s.live.pane.Rows)
	}
	return s.live.top + uint64(s.live.pane.Rows)
}

// height is how many rows of the terminal show lines.
func (s *scroller) height() int { return max(1, min(s.live.win.Rows, s.live.pane.Rows)) }

// enter begins scroll mode with what the screen shows.
func (s *scroller) enter(byWheel bool) {
	if s.on {
		return
	}
	if s.lent != nil {
		s.see(s.lent)
	}
	if !s.live.pane.Valid() {
		return
	}
	l := &s.live
	s.on, s.fresh, s.byWheel = true, true, byWheel
	s.snapTop, s.snapAlt = l.top, l.alt
	s.view = rowPos{line: l.top + uint64(l.winRow)}
	s.cur = place{line: l.top + uint64(l.cursor.Row), col: l.cursor.Col}
	s.goal, s.note, s.sel = s.cur.col, "", selection{}
	s.query.prompt = false
	s.captures.Store(s.mousing)
	s.fetch.last = span{}
	if s.lent != nil {
		s.snapshot(s.lent.term)
	}
	s.redraw()
}

// leave ends scroll mode. Lines that were still the screen's when they were kept are no history.
func (s *scroller) leave() {
	s.on, s.note, s.sel = false, "", selection{}
	s.stopSearch()
	s.cache.drop(s.snapTop)
	s.draw = drawing{}
	s.redraw()
}

// refresh makes what is shown of the screen's lines be asked for again, when they may have changed: what is shown stays
// as it was until the user moves.
func (s *scroller) refresh() {
	s.fetch.last = span{}
	if s.dirty && !s.fresh && !s.snapAlt {
		s.cache.spoil(s.snapTop)
		s.dirty = false
	}
}

// start is the leader's key.
func (s *scroller) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(false)
}

// active reports whether keys are scroll mode's.
func (s *scroller) active() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

// tick does what is due and returns when something will be, the zero time when nothing will.
func (s *scroller) tick(now time.Time) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = s.fetchAhead(now)
	if at := s.dragOn(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return next
}

// lineLook is the line that was looked at last.
type lineLook struct {
	ok     bool // it is known
	gl     []glyph
	starts []int // first column of each of its rows
	cachedLine
	measurer
}

// look makes line n the one that is looked at; one that is not known is empty.
func (s *scroller) look(n uint64) *lineLook {
	l := &s.line
	l.ok = s.cache.get(n, &l.cachedLine)
	if !l.ok {
		l.text, l.wrapped, l.runs = nil, false, l.runs[:0]
	}
	l.gl = l.glyphs(l.gl[:0], l.text)
	l.starts = append(l.starts[:0], 0)
	start := 0
	for _, g := range l.gl {
		if g.col+g.width-start > s.live.win.Cols && g.col > start {
			start = g.col
			l.starts = append(l.starts, start)
		}
	}
	return l
}

// rowOf is the row that shows a place.
func (s *scroller) rowOf(p place) rowPos {
	starts := s.look(p.line).starts
	i := len(starts) - 1
	for i > 0 && starts[i] > p.col {
		i--
	}
	return rowPos{p.line, i}
}

// step returns the row d rows below p, above when d is negative, and how many rows that was possible.
func (s *scroller) step(p rowPos, d int) (rowPos, int) {
	done := 0
	for ; done < d; done++ {
		switch {
		case p.piece+1 < len(s.look(p.line).starts):
			p.piece++
		case p.line+1 < s.end():
			p = rowPos{line: p.line + 1}
		default:
			return p, done
		}
	}
	for ; done > d; done-- {
		switch {
		case p.piece > 0:
			p.piece--
		case p.line > s.live.first:
			p.line--
			p.piece = len(s.look(p.line).starts) - 1
		default:
			return p, done
		}
	}
	return p, done
}

// lowest is the view's row when the last line is in its last row.
func (s *scroller) lowest() rowPos {
	last := s.end() - 1
	p, _ := s.step(rowPos{last, len(s.look(last).starts) - 1}, 1-s.height())
	return p
}

// settle brings view and cursor back among the lines there are.
func (s *scroller) settle() {
	last := s.end() - 1
	s.view.line = min(s.view.line, last)
	s.view.piece = min(s.view.piece, len(s.look(s.view.line).starts)-1)
	s.cur.line = min(s.cur.line, last)
	s.show(s.rowOf(s.cur))
}

// scroll moves the view by d rows, and the cursor no more than it takes to stay in it.
func (s *scroller) scroll(d int) {
	if low := s.lowest(); d > 0 {
		to, _ := s.step(s.view, d)
		if low.before(to) {
			to = low
		}
		if s.view.before(to) {
			s.view = to
		}
		s.keepCursor()
		return
	}
	s.view, _ = s.step(s.view, d)
	s.keepCursor()
}

func (s *scroller) keepCursor() {
	at := s.rowOf(s.cur)
	last, _ := s.step(s.view, s.height()-1)
	switch {
	case at.before(s.view):
		s.setRow(s.view)
	case last.before(at):
		s.setRow(last)
	}
}

// setRow puts the cursor into a row, as near to its goal as the row is wide.
func (s *scroller) setRow(p rowPos) {
	l := s.look(p.line)
	p.piece = min(p.piece, len(l.starts)-1)
	start, end := l.starts[p.piece], max(width(l.gl), 1)
	if p.piece+1 < len(l.starts) {
		end = l.starts[p.piece+1]
	}
	s.cur = place{p.line, s.snap(l, min(start+s.goal, end-1))}
}

// snap returns the first column of the character at col.
func (s *scroller) snap(l *lineLook, col int) int {
	for _, g := range l.gl {
		if col < g.col+g.width {
			return min(g.col, col)
		}
	}
	return col
}

// setPlace puts the cursor to a place and shows it.
func (s *scroller) setPlace(p place) {
	s.cur = p
	at := s.rowOf(p)
	s.goal = p.col - s.look(p.line).starts[at.piece]
	s.show(at)
}

// show moves the view as little as it takes to have a row in it.
func (s *scroller) show(at rowPos) {
	if at.before(s.view) {
		s.view = at
		return
	}
	last, _ := s.step(s.view, s.height()-1)
	if last.before(at) {
		s.view, _ = s.step(at, 1-s.height())
	}
}

// rowsDown moves the cursor by d rows.
func (s *scroller) rowsDown(d int) {
	at, _ := s.step(s.rowOf(s.cur), d)
	s.setRow(at)
	s.show(at)
}

// finder's fields of a search; see scroll_search.go.
type finder struct {
	prompt   bool   // a pattern is being typed
	backward bool   // what n does
	typed    []rune // in the prompt
	origin   place  // where the cursor was when the prompt came
	back     rowPos // and the view

	pattern string // what is searched, as the daemon takes it
	re      *regexp.Regexp
	asked   uint64 // question under way, 0: none
	seekUp  bool   // its direction
	wrapped bool   // the search went on from the other end
	from    place
	up      bool // of the prompt
	showing bool // matches are marked
}
