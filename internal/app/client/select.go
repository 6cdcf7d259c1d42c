package client

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// selectKind says what lies between the anchor and the cursor of a selection.
type selectKind uint8

const (
	selNone selectKind = iota
	selChars
	selLines
	selBlock
)

// selection goes from its anchor to the cursor, both included.
type selection struct {
	kind   selectKind
	anchor place
}

const (
	// clickTime is within which a click at the same place makes a double one of the last.
	clickTime = 400 * time.Millisecond
	// dragInterval is how often the view moves while the mouse is held at its edge.
	dragInterval = 50 * time.Millisecond
)

// pointer is what the mouse's button is doing.
type pointer struct {
	down    bool
	at      place // where it was pressed
	x, y    int   // on the terminal, newest
	clicks  int   // in a row at one place
	clicked time.Time
	edge    int       // rows that the view moves at each turn while the mouse is held
	turn    time.Time // of the next one
	entered bool      // the mode was entered by this press
}

// selectKey begins, changes and copies selections; false: the key is none of those.
func (s *scroller) selectKey(k stroke) bool {
	switch k {
	case 'v':
		s.toggle(selChars)
	case 'V':
		s.toggle(selLines)
	case ctrl('v'):
		s.toggle(selBlock)
	case 'o':
		if s.sel.kind != selNone {
			at := s.sel.anchor
			s.sel.anchor = s.cur
			s.setPlace(at)
		}
	case 'y', '\r':
		if s.sel.kind == selNone {
			if k == '\r' {
				s.leave()
			}
			return k == '\r'
		}
		s.copy(true)
	default:
		return false
	}
	return true
}

func (s *scroller) toggle(kind selectKind) {
	switch s.sel.kind {
	case kind:
		s.sel = selection{}
	case selNone:
		s.sel = selection{kind, s.cur}
	default:
		s.sel.kind = kind
	}
}

// bounds are the ends of the selection, in order.
func (s *scroller) bounds() (from, to place) {
	from, to = s.sel.anchor, s.cur
	if to.before(from) {
		from, to = to, from
	}
	return from, to
}

// selected returns the columns [from, to) of line n that are selected.
func (s *scroller) selected(n uint64) (from, to int) {
	a, b := s.bounds()
	if s.sel.kind == selNone || n < a.line || n > b.line {
		return 0, 0
	}
	const all = 1 << 30
	switch s.sel.kind {
	case selLines:
		return 0, all
	case selBlock:
		return min(s.sel.anchor.col, s.cur.col), max(s.sel.anchor.col, s.cur.col) + 1
	}
	from, to = 0, all
	if n == a.line {
		from = a.col
	}
	if n == b.line {
		to = b.col + 1
	}
	return from, to
}

// placeAt is the place at a cell of the terminal.
func (s *scroller) placeAt(x, y int) place {
	at := s.view
	if !s.on {
		return place{s.live.top + uint64(s.live.winRow+y), x}
	}
	at, _ = s.step(at, min(y, s.height()-1))
	l := s.look(at.line)
	return place{at.line, s.snap(l, l.starts[min(at.piece, len(l.starts)-1)]+x)}
}

// press begins what may become a drag; a second click selects a word, a third a line.
func (s *scroller) press(x, y int, now time.Time) {
	m := &s.pointer
	at := s.placeAt(x, y)
	if m.clicks > 0 && now.Sub(m.clicked) < clickTime && m.x == x && m.y == y {
		m.clicks++
	} else {
		m.clicks = 1
	}
	*m = pointer{down: true, at: at, x: x, y: y, clicks: m.clicks, clicked: now, entered: m.entered && m.clicks > 1}
	if m.clicks == 1 {
		if s.on {
			s.sel = selection{}
			s.setPlace(at)
		}
		return
	}
	s.grab()
	if m.clicks == 2 {
		from, to := s.wordAt(at)
		s.sel = selection{selChars, from}
		s.setPlace(to)
		return
	}
	s.sel = selection{selLines, at}
	s.setPlace(at)
}

// grab enters the mode for the mouse.
func (s *scroller) grab() {
	if !s.on {
		s.enter(true)
		s.pointer.entered = true
	}
}

// drag selects from where the button was pressed to where the mouse is.
func (s *scroller) drag(x, y int, now time.Time) {
	m := &s.pointer
	if !m.down || m.x == x && m.y == y && s.sel.kind == selNone {
		return
	}
	m.x, m.y, m.clicks = x, y, 0
	s.grab()
	if s.sel.kind == selNone {
		s.sel = selection{selChars, m.at}
	}
	s.setPlace(s.placeAt(x, y))
	switch {
	case y == 0:
		m.edge = -1
	case y >= s.height()-1:
		m.edge = 1
	default:
		m.edge, m.turn = 0, time.Time{}
	}
	if m.edge != 0 && m.turn.IsZero() {
		m.turn = now.Add(dragInterval)
		signal(s.wake)
	}
}

// dragOn moves the view while the mouse is held at its edge, and returns when to do so again.
func (s *scroller) dragOn(now time.Time) time.Time {
	m := &s.pointer
	if !s.on || !m.down || m.edge == 0 || m.turn.IsZero() {
		return time.Time{}
	}
	if now.Before(m.turn) {
		return m.turn
	}
	m.turn = now.Add(dragInterval)
	s.scroll(m.edge)
	s.setPlace(s.placeAt(m.x, m.y))
	s.fill()
	s.redraw()
	return m.turn
}

// release copies what the mouse has selected.
func (s *scroller) release() {
	m := &s.pointer
	down := m.down
	m.down, m.edge, m.turn = false, 0, time.Time{}
	if down && s.on && s.sel.kind != selNone {
		s.copy(m.entered)
	}
}

// Classes of characters; a word is a stretch of one class but blanks.
const (
	classBlank = iota
	classWord
	classOther
)

func class(r rune) int {
	switch {
	case r == ' ' || r == utf8.RuneError || unicode.IsSpace(r):
		return classBlank
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return classWord
	}
	return classOther
}

func (l *lineLook) class(i int) int {
	r, _ := utf8.DecodeRune(l.text[l.gl[i].from:l.gl[i].to])
	return class(r)
}

// maxWordLines bounds how many lines without a word are passed over.
const maxWordLines = 1000

// wordForward is the begin of the next word behind p, or the end of a word.
func (s *scroller) wordForward(p place, end bool) place {
	l := s.look(p.line)
	i := glyphAt(l.gl, p.col)
	if i < 0 {
		i = len(l.gl)
	}
	if end {
		i++
	} else {
		for from := i; i < len(l.gl) && l.class(i) == l.class(from) && l.class(i) != classBlank; {
			i++
		}
	}
	for range maxWordLines {
		for i < len(l.gl) && l.class(i) == classBlank {
			i++
		}
		if i < len(l.gl) {
			break
		}
		if p.line+1 >= s.end() {
			return place{p.line, s.lastColumn(p.line)}
		}
		p.line++
		l, i = s.look(p.line), 0
	}
	if i >= len(l.gl) {
		return place{line: p.line}
	}
	for end && i+1 < len(l.gl) && l.class(i+1) == l.class(i) {
		i++
	}
	return place{p.line, l.gl[i].col}
}

// wordBack is the begin of the word at or before p.
func (s *scroller) wordBack(p place) place {
	l := s.look(p.line)
	i := glyphAt(l.gl, p.col)
	if i < 0 {
		i = len(l.gl)
	}
	i--
	for range maxWordLines {
		for i >= 0 && l.class(i) == classBlank {
			i--
		}
		if i >= 0 {
			break
		}
		if p.line <= s.live.first {
			return place{line: p.line}
		}
		p.line--
		l = s.look(p.line)
		i = len(l.gl) - 1
	}
	if i < 0 {
		return place{line: p.line}
	}
	for i > 0 && l.class(i-1) == l.class(i) {
		i--
	}
	return place{p.line, l.gl[i].col}
}

// wordAt is what a double click selects: a stretch without blanks, quotes and brackets, so that a path or an address is
// one, also over soft wraps.
func (s *scroller) wordAt(p place) (from, to place) {
	l := s.look(p.line)
	i := glyphAt(l.gl, p.col)
	if i < 0 || l.divides(i) {
		return p, p
	}
	return s.wordEdge(p.line, i, -1), s.wordEdge(p.line, i, 1)
}

// wordEdge is the last place of the word at character i of line n, or with step -1 the first.
func (s *scroller) wordEdge(n uint64, i, step int) place {
	l := s.look(n)
	at := place{n, l.gl[i].col}
	for rows := 0; rows < maxJoined; {
		if i += step; i >= 0 && i < len(l.gl) {
			if l.divides(i) {
				break
			}
			at = place{n, l.gl[i].col}
			continue
		}
		if step < 0 {
			if n == s.live.first {
				break
			}
			n--
			l = s.look(n)
			i = len(l.gl)
		} else {
			n++
			i = -1
		}
		if step > 0 && (!l.wrapped || n >= s.end()) || step < 0 && !l.wrapped {
			break
		}
		l = s.look(n)
		rows++
	}
	return at
}

func (l *lineLook) divides(i int) bool {
	r, _ := utf8.DecodeRune(l.text[l.gl[i].from:l.gl[i].to])
	switch r {
	case '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', '|', ';', ',':
		return true
	}
	return class(r) == classBlank
}
