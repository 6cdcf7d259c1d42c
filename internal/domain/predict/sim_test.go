package predict

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
)

// program answers input with output.
type program interface {
	input(b byte) (output string)
}

// state is what a daemon sends: what turns the client's screen into the daemon's, and two positions.
type state struct {
	data        []byte
	echo, acked uint64
}

// world is a program, its daemon, and a client that guesses, joined by queues which the test moves.
type world struct {
	program program
	daemon  *vt.Terminal
	painter *render.Painter
	output  string // of the program, not in the daemon's terminal yet
	written uint64
	echo    uint64

	toProgram []byte
	toClient  []state

	client *vt.Terminal
	p      *Predictor
	typed  uint64
	now    time.Time
}

func newWorld(prog program, cols, rows int) *world {
	w := &world{
		program: prog, daemon: vt.New(vt.Options{Cols: cols, Rows: rows}), painter: render.NewPainter(render.Canonical, render.Capabilities{}),
		client: vt.New(vt.Options{Cols: cols, Rows: rows}), p: New(Adaptive), now: time.Unix(1000, 0),
	}
	w.p.Measured(300 * time.Millisecond)
	return w
}

// types is one chunk of input.
func (w *world) types(s string) {
	w.typed += uint64(len(s))
	w.toProgram = append(w.toProgram, s...)
	w.p.Typed(w.client, []byte(s), w.typed, w.now)
}

// writes gives one byte of input to the program.
func (w *world) writes() {
	if len(w.toProgram) == 0 {
		return
	}
	w.output += w.program.input(w.toProgram[0])
	w.toProgram = w.toProgram[1:]
	w.written++
}

// answers puts n bytes of the program's output into the daemon's terminal.
func (w *world) answers(n int) {
	n = min(n, len(w.output))
	w.daemon.Write([]byte(w.output[:n]))
	w.output = w.output[n:]
}

// ripens: the program has had time to answer everything.
func (w *world) ripens() {
	w.answers(len(w.output))
	w.echo = w.written
}

func (w *world) draws() {
	var f render.Frame
	f.SetTerminal(w.daemon)
	w.toClient = append(w.toClient, state{data: w.painter.Paint(nil, &f), echo: w.echo, acked: w.written})
}

// shows gives the oldest state to the client.
func (w *world) shows() {
	if len(w.toClient) == 0 {
		return
	}
	s := w.toClient[0]
	w.toClient = w.toClient[1:]
	w.client.Write(s.data)
	w.p.Shown(w.client, s.echo, s.acked, w.now)
}

// settles lets everything arrive.
func (w *world) settles() {
	for len(w.toProgram) > 0 {
		w.writes()
	}
	w.ripens()
	w.draws()
	for len(w.toClient) > 0 {
		w.shows()
	}
}

// seen is the text of the screen that the user sees, a line a row, cut behind the last that is not blank.
func (w *world) seen() string {
	_, rows := w.client.Size()
	var out []string
	for y := range rows {
		cells := w.client.Row(y).Cells()
		for _, r := range w.p.Rows() {
			if r.Y == y {
				cells = r.Cells
			}
		}
		out = append(out, w.line(cells))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

func (w *world) line(cells []vt.Cell) string {
	var b []byte
	for _, c := range cells {
		switch {
		case c.IsSpacer():
		case c.Rune() == 0:
			b = append(b, ' ')
		default:
			b = w.client.AppendCell(b, c)
		}
	}
	return strings.TrimRight(string(b), " ")
}

// editor is a program that edits one line behind a prompt, as shells do: each answer draws the rest of the line.
type editor struct {
	prompt    string
	line      []rune
	at        int
	esc       int
	part      []byte
	overwrite bool
	onEnter   func(line string) (next program, output string)
	inner     program // has the input, if there is one
}

func (e *editor) input(b byte) string {
	if e.inner != nil {
		return e.inner.input(b)
	}
	if e.esc > 0 {
		return e.sequence(b)
	}
	switch {
	case b == 0x1b:
		e.esc = 1
	case b == 0x7f && e.at > 0:
		w := runeWidth(e.line[e.at-1])
		e.at--
		e.line = append(e.line[:e.at], e.line[e.at+1:]...)
		return strings.Repeat("\b", w) + e.tail("\x1b[K")
	case b == 0x01:
		back := e.back(e.line[:e.at])
		e.at = 0
		return back
	case b == '\r':
		line := string(e.line)
		e.line, e.at = nil, 0
		out := "\r\n" + e.prompt
		if e.onEnter != nil {
			e.inner, out = e.onEnter(line)
		}
		return out
	case b >= 0x20 && b != 0x7f:
		return e.print(b)
	}
	return ""
}

func (e *editor) print(b byte) string {
	e.part = append(e.part, b)
	if !utf8.FullRune(e.part) {
		return ""
	}
	r, _ := utf8.DecodeRune(e.part)
	e.part = e.part[:0]
	if e.overwrite && e.at < len(e.line) {
		e.line[e.at] = r
	} else {
		e.line = append(e.line[:e.at], append([]rune{r}, e.line[e.at:]...)...)
	}
	e.at++
	return string(r) + e.tail("")
}

func (e *editor) tail(erase string) string {
	rest := e.line[e.at:]
	return string(rest) + erase + e.back(rest)
}

func (e *editor) back(over []rune) string {
	n := 0
	for _, r := range over {
		n += runeWidth(r)
	}
	return strings.Repeat("\b", n)
}

func (e *editor) sequence(b byte) string {
	if e.esc++; e.esc == 2 {
		return ""
	}
	e.esc = 0
	switch {
	case b == 'D' && e.at > 0:
		e.at--
		return strings.Repeat("\b", runeWidth(e.line[e.at]))
	case b == 'C' && e.at < len(e.line):
		e.at++
		return strings.Repeat("\x1b[C", runeWidth(e.line[e.at-1]))
	}
	return ""
}

func runeWidth(r rune) int { return vt.RuneWidth(r) }

// silent reads without echo until Enter; mask is shown for each character.
type silent struct {
	mask  string
	enter string
}

func (s *silent) input(b byte) string {
	if b == '\r' {
		return s.enter
	}
	return s.mask
}
