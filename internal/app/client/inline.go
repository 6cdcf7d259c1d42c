package client

import (
	"fmt"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// leastInline and protocol.MaxHistoryLines bound how many lines are asked for at a time: as many as come within
	// inlineTurn, so that they do not hold up the screen on a slow link.
	leastInline = 64
	inlineTurn  = 50 * time.Millisecond
	// sizeGrace is how long lines wait for the session to take the terminal's new size, which changes their numbers.
	sizeGrace = time.Second
	// recentLines are kept to know what becomes of the terminal's history, and of the session's, when the size changes.
	recentLines = vt.MaxRows
	// padLines are written at a time, and more of those that take several rows.
	padLines    = 64
	recentBytes = 4 * domain.MaxCols // of each
)

// inline is what shows a session on the terminal's main screen: lines that leave the session's screen go to the
// terminal's own history, by their numbers, each once and in order. The screen is painted at once; lines follow when
// they have come. Lines that the daemon dropped before they could be had are one line that says how many.
//
// When its size changes the terminal wraps and moves its own lines, and takes some of the history back, or adds to it from
// the screen; the session does so too, later, and its lines have other numbers then. What becomes of both is found by doing
// the same to engines with the same content (inline_trace.go): the history goes on where it ends, in the middle of a row if
// need be. A terminal that cuts lines instead of wrapping them has lost what it cut.
//
// All of it belongs to whoever has the screen's turn.
type inline struct {
	asker   asker
	session string
	above   int  // lines of history that are printed on attaching
	whole   bool // the session is new: it has no history but what belongs to this terminal
	cuts    bool // the terminal cuts its lines when it becomes narrower

	begun  bool
	alt    bool   // the alternate screen shows: the history waits
	next   uint64 // number of the line that the history gets next
	skip   int    // columns of it that the history has
	top    uint64 // of the session's screen
	gen    int    // of numbers: what was asked for before is of no use
	busy   bool
	failed bool // the daemon gives no lines
	chunk  int
	resize time.Time   // when the terminal's size changed and the session's has not yet; zero: it has
	size   domain.Size // of the terminal
	until  uint64      // for a caller of drained: up to which line
	done   chan struct{}

	come   []comeLine   // and are not written yet
	pad    *vt.Terminal // what is written, wrapped as the terminal does
	outer  []tracedRow  // the last rows of the terminal's history
	rows   []tracedRow  // the last rows of the session's history, if all of it has come
	behind behind
	cells  measurer
	glyphs []glyph
}

// behind is what a full-screen program hides.
type behind struct {
	seen    uint64       // which state of the main screen the terminal shows, or hides: view.main
	y       int          // the row of the session that is at the terminal's top then
	cursor  vt.Cursor    // of the session then
	outer   hiddenScreen // of the terminal
	session hiddenScreen
}

// hiddenScreen is a main screen while the alternate one shows.
type hiddenScreen struct {
	known  bool
	rows   []tracedRow // to the last that has something, or the cursor
	cursor vt.Cursor
}

// comeLine is a line, or the rest of one, that the history gets.
type comeLine struct {
	protocol.Line
	at spot
}

// see takes note of a state that is painted from row y on, and asks for what is missing in the history.
func (h *inline) see(v *view, y int, size domain.Size, answer func(gen int, began time.Time, m *protocol.Result)) {
	h.size = size
	if v.term == nil {
		return
	}
	cols, rows := v.term.Size()
	h.follow(v)
	h.top = v.top
	if !h.alt {
		h.behind.seen, h.behind.y, h.behind.cursor = v.main, y, v.term.Cursor()
	}
	if !h.begun {
		h.begun, h.chunk = true, leastInline
		if !h.whole {
			h.next = v.top - min(v.top-min(v.top, v.first), uint64(h.above))
		}
	}
	if !h.resize.IsZero() && (domain.Size{Cols: cols, Rows: rows}) != size && time.Since(h.resize) < sizeGrace {
		return
	}
	h.resize = time.Time{}
	from := h.from()
	if h.busy || h.failed || h.alt || from >= h.top {
		return
	}
	want := span{from, int(min(h.top-from, uint64(h.chunk)))}
	gen, began := h.gen, time.Now()
	h.busy = true
	h.asker.ask(h.request(want), func(m *protocol.Result) { answer(gen, began, m) })
}

// follow notes whether a full-screen program shows, and what is behind it when it begins to. That is known if the terminal
// shows the last state of the main screen, and the session has scrolled nothing since.
func (h *inline) follow(v *view) {
	was := h.alt
	if h.alt = v.term.Modes().Alternate; was || !h.alt {
		return
	}
	b := &h.behind
	b.outer, b.session = hiddenScreen{}, hiddenScreen{}
	if b.seen != v.main {
		return
	}
	b.session = hiddenScreen{v.top == h.top, screenRows(v.term, h.top, b.cursor), b.cursor}
	b.outer = h.shows(b.session.rows)
}

// shows is what the terminal shows of the rows of a session's screen, each of which was put in its place.
func (h *inline) shows(rows []tracedRow) hiddenScreen {
	s := hiddenScreen{known: true, cursor: h.behind.cursor}
	if h.behind.y < len(rows) {
		s.rows = append(s.rows, rows[h.behind.y:]...)
	}
	for i := range s.rows {
		s.rows[i].on = false
	}
	s.cursor.Row = max(0, s.cursor.Row-h.behind.y)
	return s
}

// from is the first line that is asked for: also one that the history has, if it went back to the session's screen and left
// it again.
func (h *inline) from() uint64 {
	if n := len(h.rows); n > 0 {
		return min(h.next, h.rows[n-1].at.n+1)
	}
	return h.next
}

// answered takes the answer to what was asked for at a time, when the numbers were those of gen.
func (h *inline) answered(gen int, began time.Time, m *protocol.Result) {
	h.busy = false
	if h.chunk = min(2*h.chunk, protocol.MaxHistoryLines); time.Since(began) > inlineTurn {
		h.chunk = max(h.chunk/4, leastInline)
	}
	if gen == h.gen && !h.alt { // else it could not be written now
		h.got(m)
	}
}

func (h *inline) request(want span) *protocol.History {
	return &protocol.History{Session: h.session, First: want.first, Count: want.count}
}

// got takes lines.
func (h *inline) got(m *protocol.Result) {
	lines, ok := m.Body.(*protocol.Lines)
	if !ok {
		h.failed = true
		return
	}
	if len(lines.List) == 0 {
		h.rows = h.rows[:0] // what follows them is gone: it is not asked for again
		h.lack(min(lines.First, h.top))
	}
	for i := range lines.List {
		l := &lines.List[i]
		switch {
		case l.N < h.next:
			h.note(l)
			continue
		case l.N >= h.top: // still the screen's
			h.lack(h.top)
			return
		}
		h.lack(l.N)
		h.note(l)
		h.next = l.N + 1
		if rest, ok := h.rest(*l); ok {
			h.come = append(h.come, comeLine{rest, spot{l.N, h.skip}})
			h.skip = 0
		}
	}
}

// note remembers a line of the session's history.
func (h *inline) note(l *protocol.Line) {
	n := len(h.rows)
	for ; n > 0 && h.rows[n-1].at.n >= l.N; n-- {
		h.rows = h.rows[:n-1]
	}
	if n > 0 && h.rows[n-1].at.n+1 < l.N {
		h.rows = h.rows[:0]
	}
	h.rows = append(recent(h.rows), tracedRow{l.Text[:min(len(l.Text), recentBytes)], l.Wrapped, spot{l.N, 0}})
}

// recent makes room for one more.
func recent(rows []tracedRow) []tracedRow {
	if len(rows) >= 2*recentLines {
		return rows[:copy(rows, rows[recentLines:])]
	}
	return rows
}

// rest leaves out what of a line the history has. ok is false when that is all; then skip is what it has of the next.
func (h *inline) rest(l protocol.Line) (rest protocol.Line, ok bool) {
	if h.skip == 0 {
		return l, true
	}
	gl := h.cells.glyphs(h.glyphs[:0], []byte(l.Text))
	h.glyphs = gl
	if cols := width(gl); h.skip >= cols {
		if h.skip -= cols; !l.Wrapped {
			h.skip = 0
		}
		return l, false
	}
	for _, g := range gl {
		if g.col >= h.skip {
			l.Text = l.Text[g.from:]
			break
		}
	}
	var runs []protocol.Run
	for _, r := range l.Runs {
		if end := r.Col + r.Len - h.skip; end > 0 {
			r.Col = max(0, r.Col-h.skip)
			r.Len = end - r.Col
			runs = append(runs, r)
		}
	}
	l.Runs = runs
	return l, true
}

// lack tells of the lines before n that cannot be had.
func (h *inline) lack(n uint64) {
	if n > h.next {
		h.come = append(h.come, comeLine{protocol.Line{Text: fmt.Sprintf("[vev: %d lines are missing here]", n-h.next)}, spot{n, 0}})
		h.next, h.skip = n, 0
	}
}

// write adds the lines that have come to the terminal's history. The screen is to be painted after.
func (h *inline) write(dst []byte, p *render.Painter) []byte {
	rows := min(padLines+domain.MaxCols/h.size.Cols, vt.MaxRows)
	if h.pad == nil {
		h.pad = vt.New(vt.Options{Cols: h.size.Cols, Rows: rows})
	}
	h.pad.Resize(h.size.Cols, rows)
	var buf []byte
	var packed []byte
	var line cachedLine
	_, _ = h.pad.Write([]byte("\x1b[m\x1b[H\x1b[2J"))
	for i := range h.come {
		packed = packLine(packed[:0], &h.come[i].Line)
		line.unpack(packed)
		h.glyphs = h.cells.glyphs(h.glyphs[:0], line.text)
		cols := max(width(h.glyphs), line.styledEnd())
		if y := h.pad.Cursor().Row; y+cols/max(h.size.Cols-1, 1)+2 > rows {
			dst = p.Insert(dst, h.pad, y+pendingRow(h.pad))
			_, _ = h.pad.Write([]byte("\x1b[m\x1b[H\x1b[2J"))
		}
		buf = line.appendStyled(buf[:0], h.glyphs)
		joined := line.wrapped && cols > 0 && cols%h.size.Cols == 0 && i+1 < len(h.come) && h.come[i+1].Text != ""
		if !joined {
			buf = append(buf, "\r\n"...)
		}
		h.remember(string(line.text), joined, h.come[i].at)
		_, _ = h.pad.Write(buf)
	}
	dst = p.Insert(dst, h.pad, h.pad.Cursor().Row)
	h.come = h.come[:0]
	h.drain()
	return dst
}

// remember notes the rows that a line takes in the terminal's history. The line's glyphs are in h.glyphs.
func (h *inline) remember(text string, joined bool, at spot) {
	from, col := 0, 0
	for _, g := range h.glyphs {
		if g.col+g.width-col > h.size.Cols {
			h.outer = append(recent(h.outer), tracedRow{text[from:g.from], true, spot{at.n, at.col + col}})
			from, col = g.from, g.col
		}
	}
	h.outer = append(recent(h.outer), tracedRow{text[from:], joined, spot{at.n, at.col + col}})
}

// pendingRow is 1 when the last row was filled and the next not begun.
func pendingRow(t *vt.Terminal) int {
	if t.Cursor().Pending {
		return 1
	}
	return 0
}

// appendStyled appends the line's text and styles, from default style and back to it.
func (l *cachedLine) appendStyled(dst []byte, gl []glyph) []byte {
	var style protocol.Run
	pen := func(col int) {
		if now := l.style(col); now != style {
			style = now
			dst = appendStyle(dst, &style)
		}
	}
	for _, g := range gl {
		pen(g.col)
		dst = append(dst, l.text[g.from:g.to]...)
	}
	for col := width(gl); col < l.styledEnd(); col++ {
		pen(col)
		dst = append(dst, ' ')
	}
	return append(dst, "\x1b[m\x1b]8;;\x1b\\"...)
}

// resized: the terminal has another size, and has moved its lines itself, those behind a full-screen program too. Where the
// history then ends is where it goes on.
func (h *inline) resized(size domain.Size, v *view) {
	defer func() { h.size = size }()
	if !h.begun || h.size == size {
		return
	}
	h.gen++
	h.resize = time.Now()
	h.follow(v)
	main := h.behind.outer
	if !h.alt {
		main = hiddenScreen{}
		if h.behind.seen == v.main {
			main = h.shows(screenRows(v.term, h.top, h.behind.cursor))
		}
	}
	if !main.known {
		h.mayTakeBack(size)
		return
	}
	t := newTrace(h.size.Cols, h.size.Rows, &h.cells)
	for i := range h.outer {
		h.outer[i] = h.asMoved(h.outer[i], size)
	}
	t.above(h.outer)
	for i := range main.rows {
		main.rows[i] = h.asMoved(main.rows[i], size)
	}
	t.screen(main.rows, main.cursor)
	t.term.Resize(size.Cols, size.Rows)
	outer, shown, top := t.split()
	h.outer = outer
	if len(shown) > 0 && (h.next >= h.top || top.n < h.next) {
		h.next, h.skip = top.n, top.col
	}
}

// restarted: the terminal is painted anew, which blanks its main screen behind a full-screen program.
func (h *inline) restarted() {
	if h.alt {
		h.behind.outer = hiddenScreen{known: true}
	}
}

// mayTakeBack: the terminal has another size, and what its main screen shows is not known. What it may have taken back from its
// history comes again.
func (h *inline) mayTakeBack(size domain.Size) {
	most := size.Rows
	if h.cuts || size.Cols <= h.size.Cols {
		most -= h.size.Rows
	}
	if most <= 0 {
		return
	}
	left := len(h.outer)
	for rows, cols := 0, 0; left > 0; left-- { // of the lines below, and of the one that row left-1 is of
		r := h.outer[left-1]
		if !r.on {
			rows, cols = rows+(cols+size.Cols-1)/size.Cols, 0
		}
		if rows >= most || rows+cols/size.Cols > most {
			break
		}
		h.glyphs = h.cells.glyphs(h.glyphs[:0], []byte(r.text))
		cols += max(1, width(h.glyphs))
	}
	if left < len(h.outer) && (h.next >= h.top || h.outer[left].at.n < h.next) {
		h.next, h.skip = h.outer[left].at.n, h.outer[left].at.col
	}
	h.outer = h.outer[:left]
}

// asMoved is a row as it moves when the terminal gets another size: one that cuts its lines wraps none.
func (h *inline) asMoved(r tracedRow, size domain.Size) tracedRow {
	if !h.cuts {
		return r
	}
	r.on = false
	gl := h.cells.glyphs(h.glyphs[:0], []byte(r.text))
	h.glyphs = gl
	for _, g := range gl {
		if g.col+g.width > min(size.Cols, h.size.Cols) {
			r.text = r.text[:g.from]
			break
		}
	}
	return r
}

// screenRows are the rows of a session's main screen, the number of its first is top, up to the last that has something, or
// the cursor.
func screenRows(shown *vt.Terminal, top uint64, cursor vt.Cursor) (rows []tracedRow) {
	_, n := shown.Size()
	last := cursor.Row
	var line vt.Line
	for y := range n {
		shown.ReadLine(shown.ScreenTop()+uint64(y), &line)
		l := lineOf(shown, &line)
		rows = append(rows, tracedRow{l.Text, l.Wrapped, spot{top + uint64(y), 0}})
		if l.Text != "" {
			last = max(last, y)
		}
	}
	return rows[:min(last+1, n)]
}

// renumbered: the session of the view gets another size, which wraps its lines anew and changes their numbers: its screen
// begins at line now then, or before, if it scrolls at once.
func (h *inline) renumbered(v *view, size domain.Size, now uint64) {
	if !h.begun {
		return
	}
	h.gen++
	h.follow(v)
	top := v.top
	for len(h.rows) > 0 && h.rows[0].at.n < v.first { // a program may have dropped them
		h.rows = h.rows[1:]
	}
	main := h.behind.session
	if !h.alt {
		main = hiddenScreen{true, screenRows(v.term, top, v.term.Cursor()), v.term.Cursor()}
	}
	n := len(h.rows)
	switch {
	case !main.known:
		h.unsure(min(top, now))
		return
	case n > 0 && h.rows[n-1].at.n+1 != top:
		return // what is between is not here
	}
	cols, height := v.term.Size()
	t := newTrace(cols, height, &h.cells)
	t.above(h.rows)
	t.screen(main.rows, main.cursor)
	before := t.term.ScreenTop()
	t.term.Resize(size.Cols, size.Rows)
	rows, shown, _ := t.split()
	after := top + t.term.ScreenTop() - before
	if h.alt && after != now {
		h.unsure(min(top, now)) // it was not as it was thought to be
		return
	}
	places := t.index()
	moved := func(at spot) spot {
		if at.n+uint64(n) < top {
			return at // too old to be moved
		}
		line, col := places.find(n+int(at.n-top), at.col)
		return spot{top + line - before, col}
	}
	at := moved(spot{h.next, h.skip})
	h.next, h.skip = at.n, at.col
	for i := range h.outer {
		h.outer[i].at = moved(h.outer[i].at)
	}
	for i := range h.behind.outer.rows {
		h.behind.outer.rows[i].at = moved(h.behind.outer.rows[i].at)
	}
	h.top, h.rows = after, rows
	for i := range h.rows {
		h.rows[i].at = spot{after - uint64(len(h.rows)-i), 0}
	}
	for i := range shown {
		shown[i].at = spot{after + uint64(i), 0}
	}
	h.behind.session = hiddenScreen{true, shown, t.term.Cursor()}
}

// unsure: what became of the session's lines from one on is not known. They come again, those before it in the same line too.
func (h *inline) unsure(from uint64) {
	for n := len(h.rows); n > 0 && (h.rows[n-1].at.n >= from || h.rows[n-1].on); n-- {
		from = min(from, h.rows[n-1].at.n)
		h.rows = h.rows[:n-1]
	}
	if h.next >= from {
		h.next, h.skip = from, 0
	}
	for len(h.outer) > 0 && h.outer[len(h.outer)-1].at.n >= from {
		h.outer = h.outer[:len(h.outer)-1]
	}
	h.behind.outer.known, h.behind.session.known = false, false
}

// lacking is what the history lacks of the lines before the screen's, the next span of it.
func (h *inline) lacking() span {
	if !h.begun || h.failed || h.alt || h.next >= h.top {
		return span{}
	}
	return span{h.next, int(min(h.top-h.next, protocol.MaxHistoryLines))}
}

// drained returns a channel that is closed when the history has every line that has left the screen by now; nil: it has.
func (h *inline) drained() <-chan struct{} {
	if h.lacking().count == 0 && len(h.come) == 0 {
		return nil
	}
	h.until, h.done = h.top, make(chan struct{})
	return h.done
}

func (h *inline) drain() {
	if h.done != nil && h.next >= h.until {
		close(h.done)
		h.done = nil
	}
}
