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
	// recentLines are kept to know what the terminal does with its history when its size changes.
	recentLines = vt.MaxRows
	// padLines are written at a time, and more of those that take several rows.
	padLines    = 64
	recentBytes = 4 * domain.MaxCols // of each
)

// inline is what shows a session on the terminal's main screen: lines that leave the session's screen go to the
// terminal's own history, by their numbers, each once and in order. The screen is painted at once; lines follow when
// they have come. Lines that the daemon dropped before they could be had are one line that says how many.
//
// A resize changes the numbers. The terminal wraps and moves its own lines then; what that does to its history is
// found by doing the same to an engine with the same content.
//
// All of it belongs to whoever has the screen's turn.
type inline struct {
	asker   asker
	session string
	above   int  // lines of history that are printed on attaching
	whole   bool // the session is new: it has no history but what belongs to this terminal

	begun  bool
	alt    bool   // the alternate screen shows: the history waits
	next   uint64 // number of the line that the history gets next
	top    uint64 // of the session's screen
	gen    int    // of numbers: what was asked for before is of no use
	busy   bool
	failed bool // the daemon gives no lines
	chunk  int
	resize time.Time   // when the terminal's size changed and the session's has not yet; zero: it has
	size   domain.Size // of the terminal
	until  uint64      // for a caller of drained: up to which line
	done   chan struct{}

	come   []protocol.Line // and are not written yet
	pad    *vt.Terminal    // what is written, wrapped as the terminal does
	recent []recentLine
	cells  measurer
	glyphs []glyph
}

// recentLine is what a resize needs to know of a line in the terminal's history.
type recentLine struct {
	text string
	on   bool // goes on in the next line
}

// see takes note of a state that is painted, and asks for what is missing in the history.
func (h *inline) see(v *view, size domain.Size, answer func(gen int, began time.Time, m *protocol.Result)) {
	h.size = size
	if v.term == nil {
		return
	}
	cols, rows := v.term.Size()
	h.top, h.alt = v.top, v.term.Modes().Alternate
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
	if h.busy || h.failed || h.alt || h.next >= h.top {
		return
	}
	want := span{h.next, int(min(h.top-h.next, uint64(h.chunk)))}
	gen, began := h.gen, time.Now()
	h.busy = true
	h.asker.ask(h.request(want), func(m *protocol.Result) { answer(gen, began, m) })
}

// answered takes the answer to what was asked for at a time, when the numbers were those of gen.
func (h *inline) answered(gen int, began time.Time, m *protocol.Result) {
	h.busy = false
	if h.chunk = min(2*h.chunk, protocol.MaxHistoryLines); time.Since(began) > inlineTurn {
		h.chunk = max(h.chunk/4, leastInline)
	}
	if gen == h.gen {
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
		h.lack(min(lines.First, h.top))
	}
	for i := range lines.List {
		l := &lines.List[i]
		switch {
		case l.N < h.next:
			continue
		case l.N >= h.top: // still the screen's
			h.lack(h.top)
			return
		}
		h.lack(l.N)
		h.add(*l)
		h.next = l.N + 1
	}
}

// lack tells of the lines before n that cannot be had.
func (h *inline) lack(n uint64) {
	if n > h.next {
		h.add(protocol.Line{Text: fmt.Sprintf("[vev: %d lines are missing here]", n-h.next)})
		h.next = n
	}
}

func (h *inline) add(l protocol.Line) {
	h.come = append(h.come, l)
	if len(h.recent) >= 2*recentLines {
		h.recent = h.recent[:copy(h.recent, h.recent[recentLines:])]
	}
	h.recent = append(h.recent, recentLine{l.Text[:min(len(l.Text), recentBytes)], l.Wrapped})
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
		packed = packLine(packed[:0], &h.come[i])
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
		_, _ = h.pad.Write(buf)
	}
	dst = p.Insert(dst, h.pad, h.pad.Cursor().Row)
	h.come = h.come[:0]
	h.drain()
	return dst
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

// resized: the terminal has another size, and has moved its lines itself.
func (h *inline) resized(size domain.Size, shown *vt.Terminal) {
	if !h.begun || h.size == size {
		h.size = size
		return
	}
	moved := h.simulate(size, shown)
	h.gen++
	h.resize = time.Now()
	h.size = size
	h.next += uint64(moved)
}

// simulate returns by how many lines the terminal's history grows, or with a negative number shrinks, when its size
// changes. The recent lines are then those of the history that it has.
func (h *inline) simulate(size domain.Size, shown *vt.Terminal) int64 {
	if shown == nil {
		return 0
	}
	t := vt.New(vt.Options{Cols: h.size.Cols, Rows: h.size.Rows, HistoryLines: 2 * recentLines})
	var b []byte
	for i := max(0, len(h.recent)-recentLines); i < len(h.recent); i++ {
		l := &h.recent[i]
		b = append(b, l.text...)
		if !l.on {
			b = append(b, "\r\n"...)
		}
	}
	for range h.size.Rows - 1 {
		b = append(b, '\n')
	}
	_, rows := shown.Size()
	for y := range min(rows, h.size.Rows) {
		l := screenLine(shown, y, 0)
		b = fmt.Appendf(b, "\x1b[%dH%s", y+1, l.Text)
	}
	c := shown.Cursor()
	b = fmt.Appendf(b, "\x1b[%d;%dH", c.Row+1, c.Col+1)
	_, _ = t.Write(b)
	before := t.ScreenTop()
	t.Resize(size.Cols, size.Rows)
	h.recent = h.recent[:0]
	var line vt.Line
	for n := max(t.FirstLine(), t.ScreenTop()-min(t.ScreenTop(), recentLines)); n < t.ScreenTop(); n++ {
		t.ReadLine(n, &line)
		l := lineOf(t, &line)
		h.recent = append(h.recent, recentLine{l.Text, l.Wrapped})
	}
	return int64(t.ScreenTop() - before)
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
