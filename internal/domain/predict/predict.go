package predict

import (
	"slices"
	"time"

	"github.com/vev-term/vev/internal/domain/vt"
)

const (
	// maxFlight bounds the keys that are not settled. One more, and none of them is guessed until all are answered.
	maxFlight = 256
	// MaxChunk is the longest input at once that counts as typed. A longer one is a paste: nothing is guessed until it
	// is answered.
	MaxChunk = 128
)

// Predictor guesses for one terminal. The zero Predictor is not ready: New makes one.
type Predictor struct {
	gauge  gauge
	parser parser

	typed       uint64 // position behind the last byte that Typed knows
	echo, acked uint64 // positions of the last state

	// flight are the keys that are not settled, oldest first: flight[:based] are in the base already, flight[:guessed]
	// in the page.
	flight         []key
	based, guessed int

	// The state that guesses stand on. Cells of base are resolved by term in generation gen.
	term *vt.Terminal
	gen  uint64
	alt  bool
	from uint64 // position of the input whose effect base has
	base page
	page page // base and what flight does to it

	confirmed bool // the program echoes in this epoch
	lapsed    bool // it did in the last one, which a wrong guess has ended, and no key
	push      bool // text behind the cursor moves when something is typed
	fresh     bool // a line was begun, and nothing was confirmed since
	origin    origin
	restRow   int // where the cursor was when the flight ended
	restCol   int

	rows      []Row
	cells     [maxLines][]vt.Cell
	version   uint64
	col, row  int
	hasCursor bool
}

// Row is a row as it is to be shown instead of the terminal's own.
type Row struct {
	Y       int
	Cells   []vt.Cell // the predictor's until the next call of it; resolved by the terminal
	Version uint64    // another one for other cells
}

// New returns a predictor.
func New(mode Mode) *Predictor { return &Predictor{gauge: gauge{mode: mode}, push: true, fresh: true} }

// Measured tells the link's round trip.
func (p *Predictor) Measured(rtt time.Duration) {
	p.gauge.measure(rtt)
	p.disabled()
}

// Stalled tells that keys wait for their answer longer than stallAfter.
func (p *Predictor) Stalled() { p.gauge.stalled() }

// disabled forgets everything in flight when nothing is shown; it reports whether that is so.
func (p *Predictor) disabled() bool {
	if p.gauge.shows() {
		return false
	}
	p.forget()
	return true
}

// forget drops the flight: what comes next begins an epoch.
func (p *Predictor) forget() {
	p.flight, p.based, p.guessed = p.flight[:0], 0, 0
	p.confirmed, p.lapsed, p.term, p.typed = false, false, nil, 0
	p.parser = parser{}
	p.rows, p.hasCursor = p.rows[:0], false
}

// Active reports whether guesses may be shown on this link: while it is false there is no use in Typed.
func (p *Predictor) Active() bool { return p.gauge.shows() }

// Typed takes input that was typed while t was shown; end is the position behind it. Input that is left out between two
// calls is one whose effect is not guessed.
func (p *Predictor) Typed(t *vt.Terminal, data []byte, end uint64, now time.Time) {
	if p.disabled() || len(data) == 0 || t == nil {
		return
	}
	start := end - uint64(len(data))
	if p.typed != start {
		p.parser = parser{}
		p.skipped(start)
	}
	p.typed = end
	if len(data) > MaxChunk {
		p.parser = parser{}
		p.add(key{kind: keyBreak, end: end, at: now})
		p.draw(t)
		return
	}
	if len(p.flight) == 0 {
		p.anchor(t, max(start, p.acked))
	} else if i := slices.IndexFunc(p.flight, p.open); i >= 0 && now.Sub(p.flight[i].at) > stallAfter {
		p.Stalled()
	}
	for i, b := range data {
		if k, whole := p.parser.next(b); whole {
			k.end, k.at = start+uint64(i)+1, now
			p.take(k)
		}
	}
	if p.parser.cut() {
		p.add(key{kind: keyBreak, end: end, at: now})
	}
	p.guess()
	p.draw(t)
}

// open reports whether the answer to k is still to come.
func (p *Predictor) open(k key) bool { return k.end > p.echo }

// take adds a key, unless what t shows may have its effect already.
func (p *Predictor) take(k key) {
	if len(p.flight) == 0 && k.end <= p.acked {
		p.confirmed = false
		return
	}
	p.add(k)
}

// skipped notes that input up to position end was not seen.
func (p *Predictor) skipped(end uint64) {
	p.confirmed, p.lapsed = false, false
	if end > p.acked {
		p.add(key{kind: keyBreak, end: end})
	}
}

// add appends to the flight. Breaks in a row are one: what is between them is guessed from none.
func (p *Predictor) add(k key) {
	if n := len(p.flight); n > 0 && k.kind.breaks() && p.flight[n-1].kind.breaks() {
		last := &p.flight[n-1]
		last.end, last.kind = k.end, max(last.kind, k.kind)
		return
	}
	if len(p.flight) == maxFlight {
		p.flight, p.based, p.guessed = p.flight[:0], 0, 0
		k = key{kind: keyBreak, end: k.end, at: k.at}
	}
	p.flight = append(p.flight, k)
}

// anchor makes what t shows the base, which has the effect of input up to position from; keys up to there leave the
// flight.
func (p *Predictor) anchor(t *vt.Terminal, from uint64) {
	n := 0
	for n < len(p.flight) && p.flight[n].end <= from {
		n++
	}
	p.flight = append(p.flight[:0], p.flight[n:]...)
	p.based = 0
	p.rebase(t, from)
	if p.fresh {
		p.origin = origin{}
		if !p.alt && p.base.col < p.base.cols {
			p.origin = origin{id: p.base.line[0].id, col: p.base.col}
		}
	}
}

func (p *Predictor) rebase(t *vt.Terminal, from uint64) {
	p.term, p.gen, p.alt, p.from = t, t.Generation(), t.Modes().Alternate, from
	p.base.read(t)
}

// guess applies the flight to the base, as far as there is a guess.
func (p *Predictor) guess() {
	p.page.copy(&p.base)
	p.guessed = p.based
	for p.guessed < len(p.flight) && p.page.apply(&p.flight[p.guessed], p.push, p.origin) {
		p.guessed++
	}
}

// Rows are the rows that show guesses. They are of the terminal that Typed or Shown got last.
func (p *Predictor) Rows() []Row { return p.rows }

// Cursor returns where the cursor is guessed to be; ok: elsewhere than the terminal has it.
func (p *Predictor) Cursor() (col, row int, ok bool) { return p.col, p.row, p.hasCursor }

// draw makes Rows and Cursor from the page, over what t shows.
func (p *Predictor) draw(t *vt.Terminal) {
	p.rows, p.hasCursor = p.rows[:0], false
	if !p.confirmed || p.guessed == p.based || !p.gauge.shows() {
		return
	}
	p.version++
	for i := range p.page.n {
		if l := &p.page.line[i]; l.dirty {
			p.cells[i] = p.drawLine(p.cells[i][:0], l, t.Row(p.page.top+i).Cells())
			p.rows = append(p.rows, Row{Y: p.page.top + i, Cells: p.cells[i], Version: p.version})
		}
	}
	p.col, p.row, p.hasCursor = min(p.page.col, p.page.cols-1), p.page.top+p.page.row, true
}

func (p *Predictor) drawLine(dst []vt.Cell, l *line, shown []vt.Cell) []vt.Cell {
	dst = append(dst, shown...)
	underline := p.gauge.underlines()
	for x, m := range l.marks {
		if m == unmarked {
			continue
		}
		dst[x] = l.cells[x]
		if m == typed && underline && !l.cells[x].IsBlank() && !sameText(l.cells[x], shown[x]) {
			dst[x] = dst[x].WithUnderline(vt.UnderlineSingle)
		}
	}
	return dst
}
