package client

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// drawing is the picture of scroll mode: a terminal of the window's size.
type drawing struct {
	pad  *vt.Terminal
	rows []rowPos // what its rows show
	next []rowPos
	buf  []byte
	hits []hit
}

// hit is columns [from, to) of a line that a match covers.
type hit struct {
	line     uint64
	from, to int
	current  bool
}

// frame makes f show scroll mode, and reports false when it is not on.
func (s *scroller) frame(f *render.Frame, size domain.Size) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on {
		return false
	}
	d := &s.draw
	if d.pad == nil {
		d.pad = vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows})
	}
	if cols, rows := d.pad.Size(); cols != size.Cols || rows != size.Rows {
		d.pad.Resize(size.Cols, size.Rows)
		d.rows = nil
	}
	d.buf = append(d.buf[:0], "\x1b[?7l\x1b[?25h"...)
	s.drawRows(size)
	s.drawLabel(size)
	s.drawBottom(size)
	s.drawCursor()
	_, _ = d.pad.Write(d.buf)
	title, palette := f.Title, f.Palette
	f.SetTerminal(d.pad)
	f.Title, f.Palette = title, palette
	f.Modes = vt.Modes{BracketedPaste: true}
	return true
}

// drawRows draws the lines. What the picture has already is scrolled, so that the terminal may be.
func (s *scroller) drawRows(size domain.Size) {
	d := &s.draw
	d.next = d.next[:0]
	at := s.view
	for range s.height() {
		d.next = append(d.next, at)
		to, moved := s.step(at, 1)
		if moved == 0 {
			break
		}
		at = to
	}
	if len(d.rows) > 0 {
		if n := slices.Index(d.rows, d.next[0]); n > 0 {
			d.buf = fmt.Appendf(d.buf, "\x1b[m\x1b[%dS", n)
		} else if n := slices.Index(d.next, d.rows[0]); n > 0 {
			d.buf = fmt.Appendf(d.buf, "\x1b[m\x1b[%dT", n)
		}
	}
	s.findHits()
	for y := range size.Rows {
		d.buf = append(d.buf, "\x1b["...)
		d.buf = strconv.AppendInt(d.buf, int64(y+1), 10)
		d.buf = append(d.buf, "H\x1b[m\x1b[2K"...)
		if y < len(d.next) {
			s.drawRow(d.next[y])
		}
	}
	d.rows = append(d.rows[:0], d.next...)
}

// findHits finds the matches in the rows to be drawn.
func (s *scroller) findHits() {
	d := &s.draw
	d.hits = d.hits[:0]
	if !s.query.showing || s.query.re == nil {
		return
	}
	done := uint64(0) // the last line that was looked at, plus 1
	for _, at := range d.next {
		if at.line < done {
			continue
		}
		done = at.line + 1
		_, last, ok := s.join(at.line)
		if !ok {
			continue
		}
		done = last + 1
		for _, m := range s.joined.found {
			if m[0] < m[1] {
				s.addHits(m[0], m[1])
			}
		}
	}
}

// addHits adds the match in bytes [from, to) of the joined line, row by row.
func (s *scroller) addHits(from, to int) {
	j := &s.joined
	begin := s.placeOf(from)
	current := begin == s.cur
	for i, n := range j.rows {
		a := j.at[i]
		if i+1 < len(j.at) && from >= j.at[i+1] || to <= a {
			continue
		}
		h := hit{line: n, current: current}
		first := true
		for _, g := range s.look(n).gl {
			if a+g.from >= from && a+g.from < to {
				if first {
					h.from, first = g.col, false
				}
				h.to = g.col + g.width
			}
		}
		s.draw.hits = append(s.draw.hits, h)
	}
}

// drawRow draws one row of a line at the cursor.
func (s *scroller) drawRow(at rowPos) {
	d := &s.draw
	l := s.look(at.line)
	if at.piece >= len(l.starts) {
		return
	}
	start, end := l.starts[at.piece], l.starts[at.piece]+s.live.win.Cols
	last := at.piece+1 == len(l.starts)
	if !last {
		end = l.starts[at.piece+1]
	}
	from, to := s.selected(at.line)
	var style protocol.Run
	pen := func(col int) {
		now := l.style(col)
		for _, h := range d.hits {
			if h.line == at.line && col >= h.from && col < h.to {
				now = hitStyle(now, h.current)
			}
		}
		if col >= from && col < to {
			now.Attrs ^= protocol.AttrInverse
		}
		if now != style {
			style = now
			d.buf = appendStyle(d.buf, &style)
		}
	}
	col := start
	for _, g := range l.gl {
		if g.col < start || g.col >= end {
			continue
		}
		pen(g.col)
		d.buf = append(d.buf, l.text[g.from:g.to]...)
		col = g.col + g.width
	}
	if last {
		for tail := min(l.styledEnd(), end); col < tail; col++ {
			pen(col)
			d.buf = append(d.buf, ' ')
		}
		if width(l.gl) == 0 && to > from && from == 0 { // a selected line without text shows that it is
			pen(0)
			d.buf = append(d.buf, ' ')
		}
	}
	if style.Link != "" {
		d.buf = append(d.buf, "\x1b]8;;\x1b\\"...)
	}
}

// style is the style at a column, as a run without a place.
func (l *cachedLine) style(col int) protocol.Run {
	for i := range l.runs {
		if r := &l.runs[i]; col+1 >= r.Col && col+1 < r.Col+r.Len {
			out := *r
			out.Col, out.Len = 0, 0
			return out
		}
	}
	return protocol.Run{}
}

// styledEnd is the column behind the last that has a style.
func (l *cachedLine) styledEnd() int {
	if len(l.runs) == 0 {
		return 0
	}
	r := l.runs[len(l.runs)-1]
	return r.Col - 1 + r.Len
}

// hitStyle is how a match shows.
func hitStyle(r protocol.Run, current bool) protocol.Run {
	const black, yellow, orange = 1 << 24, 1<<24 | 11, 1<<24 | 208
	r.Fg, r.Bg, r.Attrs = black, yellow, r.Attrs&^(protocol.AttrInverse|protocol.AttrDim)
	if current {
		r.Bg, r.Attrs = orange, r.Attrs|protocol.AttrBold
	}
	return r
}

// appendStyle appends what makes a terminal print in a style, whatever was before.
func appendStyle(dst []byte, r *protocol.Run) []byte {
	dst = append(dst, "\x1b[0"...)
	codes := [...]string{";1", ";2", ";3", ";5", ";7", ";8", ";9", ";53"}
	for i, code := range codes {
		if r.Attrs&(1<<i) != 0 {
			dst = append(dst, code...)
		}
	}
	if r.Underline > 0 {
		dst = append(dst, ";4:"...)
		dst = strconv.AppendInt(dst, int64(r.Underline), 10)
	}
	dst = appendColor(dst, 38, r.Fg)
	dst = appendColor(dst, 48, r.Bg)
	dst = appendColor(dst, 58, r.UnderlineColor)
	dst = append(dst, 'm')
	dst = append(dst, "\x1b]8;;"...)
	dst = append(dst, r.Link...)
	return append(dst, "\x1b\\"...)
}

// appendColor appends the SGR parameters of a colour as the protocol has it.
func appendColor(dst []byte, what int64, c uint32) []byte {
	if c == 0 {
		return dst
	}
	dst = append(strconv.AppendInt(append(dst, ';'), what, 10), ':')
	if c>>24 == 1 {
		return strconv.AppendInt(append(dst, "5:"...), int64(c&0xff), 10)
	}
	dst = append(dst, "2:"...)
	for shift := 16; shift >= 0; shift -= 8 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(c>>shift&0xff), 10)
	}
	return dst
}

// drawLabel draws where the view is: how many rows above the last, of how many.
func (s *scroller) drawLabel(size domain.Size) {
	below := s.end() - min(s.end(), s.view.line+uint64(s.height()))
	all := s.end() - min(s.end(), s.live.first+uint64(s.height()))
	label := fmt.Sprintf("[%d/%d]", min(below, all), all)
	if len(label) < size.Cols {
		s.draw.buf = fmt.Appendf(s.draw.buf, "\x1b[1;%dH\x1b[0;7m%s\x1b[m", size.Cols-len(label)+1, label)
	}
}

// drawBottom draws the prompt, or the note.
func (s *scroller) drawBottom(size domain.Size) {
	text := s.note
	if s.query.prompt {
		text = "/" + string(s.query.typed)
		if s.query.up {
			text = "?" + text[1:]
		}
		if s.note != "" {
			text += "    " + s.note
		}
	}
	if text != "" {
		s.draw.buf = fmt.Appendf(s.draw.buf, "\x1b[%dH\x1b[0;7m\x1b[2K%s\x1b[K\x1b[m", size.Rows, text)
	}
}

func (s *scroller) drawCursor() {
	if s.query.prompt {
		gl := s.line.glyphs(nil, []byte(string(s.query.typed)))
		s.draw.buf = fmt.Appendf(s.draw.buf, "\x1b[%d;%dH", s.live.win.Rows, width(gl)+2)
		return
	}
	at := s.rowOf(s.cur)
	y := slices.Index(s.draw.next, at)
	if y < 0 {
		s.draw.buf = append(s.draw.buf, "\x1b[?25l"...)
		return
	}
	x := s.cur.col - s.line.starts[at.piece]
	s.draw.buf = fmt.Appendf(s.draw.buf, "\x1b[%d;%dH", y+1, x+1)
}
