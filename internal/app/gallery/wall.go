package gallery

import (
	"slices"
	"strconv"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
)

// footText is the line at the bottom.
const footText = "arrows choose, Enter attaches, q leaves"

// wall is what is shown: the sessions in a grid, one of them selected. It belongs to the loop and does no I/O.
type wall struct {
	size     domain.Size
	sessions []ports.Session
	known    bool // sessions is what there is
	selected int  // index in sessions
	grid     grid
	first    int     // visible row of tiles
	tiles    []*tile // visible ones, in their places
	canvas   *vt.Terminal
	changed  bool // the canvas is not what it should be
	anew     bool // all of it
	buf      []byte
}

// resize shows everything on a terminal of that size.
func (w *wall) resize(size domain.Size) {
	w.size = size
	w.canvas = vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows})
	w.arrange()
}

// set takes the sessions there are; the selected one stays so while it is there.
func (w *wall) set(list []ports.Session) {
	was, ok := w.choice()
	w.sessions, w.known = list, true
	if i := slices.IndexFunc(list, func(s ports.Session) bool { return ok && same(s, was) }); i >= 0 {
		w.selected = i
	}
	w.arrange()
	for _, t := range w.tiles {
		t.again()
	}
}

func same(a, b ports.Session) bool { return a.ID == b.ID && a.Address.Host == b.Address.Host }

// choice is the selected session.
func (w *wall) choice() (s ports.Session, ok bool) {
	if w.selected < 0 || w.selected >= len(w.sessions) {
		return s, false
	}
	return w.sessions[w.selected], true
}

// move selects another session.
func (w *wall) move(to wish) {
	at := w.selected
	switch last := len(w.sessions) - 1; to {
	case wishLeft:
		at--
	case wishRight:
		at++
	case wishUp:
		at -= w.grid.across
	case wishDown:
		at += w.grid.across
	case wishFirst:
		at = 0
	case wishLast:
		at = last
	case wishNext:
		if at++; at > last {
			at = 0
		}
	}
	if at < 0 || at >= len(w.sessions) {
		return
	}
	w.selected = at
	w.arrange()
}

// arrange makes the tiles for what is visible: those that go on as they were are kept.
func (w *wall) arrange() {
	w.selected = max(0, min(w.selected, len(w.sessions)-1))
	w.grid = layout(len(w.sessions), w.size)
	w.first = w.grid.scrolled(w.first, w.selected)
	from := min(w.first*w.grid.across, len(w.sessions))
	visible := w.sessions[from:min(from+w.grid.shown(), len(w.sessions))]
	old := w.tiles
	w.tiles = nil
	for _, s := range visible {
		w.tiles = append(w.tiles, w.tile(s, old))
	}
	for _, t := range old {
		if !slices.Contains(w.tiles, t) {
			t.close()
		}
	}
	w.changed, w.anew = true, true
}

// tile is the one of old that shows s already, or a new one.
func (w *wall) tile(s ports.Session, old []*tile) *tile {
	for _, t := range old {
		if same(t.entry, s) && t.size == w.grid.body() {
			t.entry = s
			return t
		}
	}
	return &tile{entry: s, size: w.grid.body()}
}

// unread are the tiles that nobody reads pictures for yet.
func (w *wall) unread() (out []*tile) {
	for _, t := range w.tiles {
		if t.stop == nil && t.size.Valid() {
			out = append(out, t)
		}
	}
	return out
}

// show takes a picture, unless its tile has gone.
func (w *wall) show(p picture) {
	if !slices.Contains(w.tiles, p.of) {
		return
	}
	if p.err != nil {
		p.of.fail(reason(p.err))
	} else {
		p.of.show(p.content)
	}
	w.changed = true
}

// reason is a failure in few words.
func reason(err error) string {
	if kind := fault.KindOf(err); kind != fault.Internal {
		return kind.String()
	}
	return "failed"
}

// draw brings the canvas up to date and returns it.
func (w *wall) draw() *vt.Terminal {
	b := w.buf[:0]
	if w.anew {
		b = append(b, "\x1b[?7l\x1b[m\x1b[2J"...)
		b = w.drawFoot(b)
	}
	for i, t := range w.tiles {
		if t.dirty || w.anew {
			col, row := w.grid.place(i)
			b = t.draw(b, col, row, w.first*w.grid.across+i == w.selected)
			t.dirty = false
		}
	}
	_, _ = w.canvas.Write(b)
	w.buf, w.changed, w.anew = b, false, false
	return w.canvas
}

func (w *wall) drawFoot(b []byte) []byte {
	text := footText
	switch {
	case !w.known:
		text = "looking for sessions; q leaves"
	case len(w.sessions) == 0:
		text = "no sessions; q leaves"
	case len(w.sessions) > len(w.tiles):
		text = strconv.Itoa(w.selected+1) + " of " + strconv.Itoa(len(w.sessions)) + "; " + text
	}
	return appendTitle(b, text, 0, w.size.Rows-1, w.size.Cols, true)
}

// clear ends every reader.
func (w *wall) clear() {
	for _, t := range w.tiles {
		t.close()
	}
}
