package client

import (
	"bytes"
	"fmt"

	"github.com/vev-term/vev/internal/domain/vt"
)

// spot is a place in the session's lines: a row, and how many of its columns are before it.
type spot struct {
	n   uint64
	col int
}

func (s spot) before(o spot) bool { return s.n < o.n || s.n == o.n && s.col < o.col }

// tracedRow is a row of a terminal, and where in the session's lines it begins. Where the terminal has joined what does not
// follow each other there, that is so far before that no column of the row is behind its place; col may be below 0 then.
type tracedRow struct {
	text string
	on   bool // goes on in the next row
	at   spot
}

// A trace is an engine with the rows of a terminal, in which each character tells by its colour which row it came from: it
// finds what becomes of them when the size changes.
type trace struct {
	rows       []tracedRow
	term       *vt.Terminal
	cols, high int
	measure    *measurer
}

func newTrace(cols, rows int, cells *measurer) *trace {
	return &trace{term: vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 4 * recentLines}), cols: cols, high: rows, measure: cells}
}

// above fills the history. Rows there keep the width that they had when they left the screen: one that goes on is as wide as
// its text, unless it goes on on the screen.
func (t *trace) above(rows []tracedRow) {
	crossing := len(rows)
	for crossing > 0 && rows[crossing-1].on {
		crossing--
	}
	for i, r := range rows {
		if now, _ := t.term.Size(); i == 0 || !rows[i-1].on {
			want := t.cols
			text := width(t.measure.glyphs(nil, []byte(r.text)))
			if i < crossing && (r.on || text > t.cols) {
				want = max(1, text)
			}
			t.widen(now, want)
		}
		t.print(r, "")
		if r.on {
			t.wrap(t.term.Cursor().Row)
		}
		_, _ = t.term.Write([]byte("\r\n"))
	}
	now, _ := t.term.Size()
	t.push()
	t.widen(now, t.cols)
}

// widen gives rows that follow another width.
func (t *trace) widen(now, want int) {
	if now != want {
		t.push()
		t.term.Resize(want, t.high)
	}
}

// push makes all that was added history. The screen is blank then, and the cursor in its first row.
func (t *trace) push() {
	_, _ = t.term.Write(append(bytes.Repeat([]byte("\n"), t.high-1), "\x1b[H"...))
}

// screen adds the rows that show.
func (t *trace) screen(rows []tracedRow, cursor vt.Cursor) {
	for y, r := range rows[:min(len(rows), t.high)] {
		t.print(r, fmt.Sprintf("\x1b[?7l\x1b[%dH", y+1))
		if r.on {
			t.wrap(y)
		}
	}
	_, _ = t.term.Write(fmt.Appendf(nil, "\x1b[?7h\x1b[%d;%dH", cursor.Row+1, cursor.Col+1))
}

// print writes a row in its colour; an empty one has a blank of that.
func (t *trace) print(r tracedRow, before string) {
	if r.text == "" {
		r.text = " "
	}
	i := len(t.rows)
	t.rows = append(t.rows, r)
	_, _ = t.term.Write(fmt.Appendf(nil, "%s\x1b[38;2;%d;%d;%dm%s\x1b[m", before, i>>16, i>>8&0xff, i&0xff, r.text))
}

// wrap makes row y one that goes on in the next, by the engine's own sequence.
func (t *trace) wrap(y int) { _, _ = t.term.Write(fmt.Appendf(nil, "\x1b[=%d;1w", y+1)) }

// tracedCell is where a character is, and where it came from.
type tracedCell struct {
	n      uint64 // number of its row in the engine
	x      int
	row    int // index in rows
	col    int // in that
	behind int // the column behind it there
}

// cells calls f for all characters in order.
func (t *trace) cells(f func(c tracedCell)) {
	_, rows := t.term.Size()
	seen := make([]int, len(t.rows))
	var line vt.Line
	for n := t.term.FirstLine(); n < t.term.ScreenTop()+uint64(rows); n++ {
		t.term.ReadLine(n, &line)
		for x, cell := range line.Cells {
			r, g, b, ok := t.term.Style(cell).Fg.RGB()
			row := int(r)<<16 | int(g)<<8 | int(b)
			if !ok || cell.IsSpacer() || row >= len(t.rows) {
				continue
			}
			c := tracedCell{n: n, x: x, row: row, col: seen[row], behind: seen[row] + 1}
			if cell.IsWide() {
				c.behind++
			}
			seen[row] = c.behind
			f(c)
		}
	}
}

// split returns the rows of the history and of the screen, and the place where the screen begins, if something is there.
func (t *trace) split() (above, shown []tracedRow, top spot) {
	var line vt.Line
	var row *tracedRow
	last := uint64(0)
	t.cells(func(c tracedCell) {
		begin := t.rows[c.row].at
		begin.col += c.col - c.x
		if row != nil && c.n == last {
			if begin.before(row.at) {
				row.at = begin
			}
			return
		}
		last = c.n
		t.term.ReadLine(c.n, &line)
		l, of := lineOf(t.term, &line), &above
		if c.n >= t.term.ScreenTop() {
			of = &shown
		}
		*of = append(*of, tracedRow{l.Text, l.Wrapped, begin})
		row = &(*of)[len(*of)-1]
	})
	if len(shown) > 0 {
		top = spot{shown[0].at.n, max(0, shown[0].at.col)}
	}
	return above, shown, top
}

// piece is a part of a row that lies in one row of the engine: from column col to before end, which is at x in row n.
type piece struct {
	col, end int
	n        uint64
	x        int
}

// index finds what became of places.
type index struct {
	pieces [][]piece // of each traced row, in order
	past   uint64    // the row behind all that is there
}

func (t *trace) index() (i index) {
	i.pieces = make([][]piece, len(t.rows))
	t.cells(func(c tracedCell) {
		of := &i.pieces[c.row]
		if k := len(*of); k > 0 && (*of)[k-1].n == c.n {
			(*of)[k-1].end = c.behind
		} else {
			*of = append(*of, piece{c.col, c.behind, c.n, c.x})
		}
		i.past = c.n + 1
	})
	return i
}

// find returns where column col of a row is: the number of a row in the engine, and the column there. Behind the end of a
// row are the columns of the next.
func (i *index) find(row, col int) (n uint64, x int) {
	for ; row < len(i.pieces); row++ {
		end := 0
		for _, p := range i.pieces[row] {
			if col < p.end {
				return p.n, p.x + col - p.col
			}
			end = p.end
		}
		col = max(0, col-end)
	}
	return i.past + uint64(row-len(i.pieces)), 0
}
