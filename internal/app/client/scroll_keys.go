package client

import (
	"strings"
	"time"
	"unicode"

	"github.com/vev-term/vev/internal/domain/keys"
)

// stroke is one key of scroll mode: a character, a control, or a key without a character, as package keys has it.
type stroke rune

const (
	keyUp       = stroke(keys.Up)
	keyDown     = stroke(keys.Down)
	keyLeft     = stroke(keys.Left)
	keyRight    = stroke(keys.Right)
	keyHome     = stroke(keys.Home)
	keyEnd      = stroke(keys.End)
	keyPageUp   = stroke(keys.PageUp)
	keyPageDown = stroke(keys.PageDown)
)

func ctrl(c byte) stroke { return stroke(c & 0x1f) }

// strokeOf is the key of an event, 0 when it is none that scroll mode may know.
func strokeOf(e keys.Event) stroke {
	const locks = keys.CapsLock | keys.NumLock
	switch {
	case e.Kind != keys.KeyEvent || e.Action == keys.Release || e.IsModifier():
		return 0
	case e.Rune() != 0:
		return stroke(e.Rune())
	case e.Mods&^locks == keys.Ctrl && e.Key < 0x7f:
		return ctrl(byte(e.Key))
	case e.Mods&^locks == 0:
		return stroke(e.Key)
	}
	return 0
}

// strokes reads keys from what the terminal sends.
type strokes struct {
	decoder keys.Decoder
	rest    []byte // begin of a sequence or character
}

// next takes the next key off p; a paste is text, not keys. n is 0 when p ends before the key does.
func (k *strokes) next(p []byte) (key stroke, text string, n int) {
	e, n := k.decoder.Next(p, len(p) > 1 || p[0] != esc)
	if e.Kind == keys.PasteText {
		return 0, string(p[:n]), n
	}
	return strokeOf(e), "", n
}

// typed takes what was typed while the mode is on, and returns what was typed after the key that left it.
func (s *scroller) typed(p []byte) (rest []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.input.rest) > 0 && s.on {
		p = append(s.input.rest, p...)
		s.input.rest = nil
	}
	for len(p) > 0 && s.on {
		key, text, n := s.input.next(p)
		if n == 0 {
			s.input.rest = append([]byte(nil), p...)
			p = nil
			break
		}
		p = p[n:]
		if key != 0 {
			s.key(key)
		}
		s.pasted(text)
	}
	if s.on {
		s.fill()
		s.redraw()
	}
	return p
}

// key does what a key asks for.
func (s *scroller) key(k stroke) {
	s.note = ""
	s.refresh()
	switch {
	case s.query.prompt:
		s.promptKey(k)
	default:
		if !s.moveKey(k) && !s.selectKey(k) && !s.searchKey(k) {
			s.modeKey(k)
		}
	}
}

// pasted puts text into the prompt, if there is one.
func (s *scroller) pasted(text string) {
	text, _, _ = strings.Cut(text, "\r")
	for _, r := range text {
		if s.query.prompt && unicode.IsPrint(r) {
			s.promptKey(stroke(r))
		}
	}
}

func (s *scroller) modeKey(k stroke) {
	switch k {
	case 'q', ctrl('c'):
		s.leave()
	case esc:
		if s.sel.kind == selNone {
			s.leave()
		}
		s.sel = selection{}
	default:
		s.note = "scroll mode: q leaves, / ? search, v select, y copy"
	}
}

// moveKey moves view and cursor; false: the key is none of those.
func (s *scroller) moveKey(k stroke) bool {
	page := max(1, s.height()-1)
	switch k {
	case 'k', keyUp:
		s.rowsDown(-1)
	case 'j', keyDown:
		s.rowsDown(1)
	case keyPageUp, ctrl('b'):
		s.page(-page)
	case keyPageDown, ctrl('f'), ' ':
		s.page(page)
	case ctrl('u'):
		s.page(-max(1, s.height()/2))
	case ctrl('d'):
		s.page(max(1, s.height()/2))
	case ctrl('y'):
		s.scroll(-1)
	case ctrl('e'):
		s.scroll(1)
	case 'g':
		s.setPlace(place{line: s.live.first})
	case 'G':
		s.view = s.lowest()
		s.setPlace(place{line: s.end() - 1})
	case 'h', keyLeft:
		s.columns(-1)
	case 'l', keyRight:
		s.columns(1)
	case '0', keyHome:
		s.setPlace(place{line: s.cur.line})
	case '$', keyEnd:
		s.setPlace(place{s.cur.line, s.lastColumn(s.cur.line)})
	case 'w':
		s.setPlace(s.wordForward(s.cur, false))
	case 'e':
		s.setPlace(s.wordForward(s.cur, true))
	case 'b':
		s.setPlace(s.wordBack(s.cur))
	default:
		return false
	}
	return true
}

// page moves the view by d rows and the cursor with it.
func (s *scroller) page(d int) {
	at, _ := s.step(s.rowOf(s.cur), d)
	s.scroll(d)
	s.setRow(at)
	s.show(s.rowOf(s.cur))
}

func (s *scroller) lastColumn(n uint64) int {
	l := s.look(n)
	return s.snap(l, max(0, width(l.gl)-1))
}

// columns moves the cursor by one character within its line.
func (s *scroller) columns(d int) {
	l := s.look(s.cur.line)
	col := s.cur.col + d
	if i := glyphAt(l.gl, s.cur.col); i >= 0 && d > 0 {
		col = l.gl[i].col + l.gl[i].width
	}
	s.setPlace(place{s.cur.line, s.snap(l, max(0, min(col, max(width(l.gl), 1)-1)))})
}

// glyphAt is the index of the character at a column, -1 when there is none.
func glyphAt(gl []glyph, col int) int {
	for i, g := range gl {
		if col < g.col+g.width {
			if col < g.col {
				return -1
			}
			return i
		}
	}
	return -1
}

// wheelRows are scrolled for each report of the wheel.
const wheelRows = 3

// report takes one report of the mouse.
func (s *scroller) report(e keys.Event, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &e.Mouse
	switch {
	case s.query.prompt:
	case m.Button == keys.WheelUp || m.Button == keys.WheelDown:
		s.wheel(m.Button == keys.WheelUp)
	case m.Action == keys.MouseRelease:
		s.release()
	case m.Button != keys.ButtonLeft:
	case m.Action == keys.MousePress:
		s.press(m.X, m.Y, now)
	case m.Action == keys.MouseMotion:
		s.drag(m.X, m.Y, now)
	}
	if s.on {
		s.fill()
		s.redraw()
	}
}

// wheel scrolls; upwards it enters the mode, and back at the end it leaves it.
func (s *scroller) wheel(up bool) {
	s.refresh()
	if up {
		s.enter(true)
	}
	if !s.on {
		return
	}
	d := wheelRows
	if up {
		d = -d
	}
	s.scroll(d)
	if !up && s.byWheel && s.sel.kind == selNone && !s.view.before(s.lowest()) {
		s.leave()
	}
}
