package netsim

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
)

// text is what a terminal shows, a line a row.
func text(t *vt.Terminal) string {
	_, n := t.Size()
	rows := make([]string, n)
	for y := range n {
		row := t.Row(y)
		line := vt.Line{Cells: row.Cells()[:row.Used()]}
		rows[y] = strings.TrimRight(string(render.AppendText(nil, t, &line)), " ")
	}
	return strings.Join(rows, "\n")
}

func firstLine(screen string) string {
	line, _, _ := strings.Cut(screen, "\n")
	return line
}

// oracle is an engine that is given what the daemon's is given, and remembers every screen it showed.
type oracle struct {
	mu   sync.Mutex
	term *vt.Terminal
	had  map[picture]bool
	// wroteAt is when it was last given output. Where the daemon changes the size in that very instant it may do that before it
	// takes what it has read, which cannot be seen here: from then on the oracle is blurred, and knows not every screen. Some
	// one to three crowds of a hundred come to that.
	wroteAt time.Time
	blurred bool
}

// picture is a screen and its size.
type picture struct {
	text string
	size domain.Size
}

func newOracle(size domain.Size) *oracle {
	o := &oracle{term: vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows, HistoryLines: 10_000}), had: map[picture]bool{}}
	o.note()
	return o
}

// note remembers the screen, with mu held.
func (o *oracle) note() {
	o.had[o.picture()] = true
}

// picture is what the engine shows, with mu held.
func (o *oracle) picture() picture {
	cols, rows := o.term.Size()
	return picture{text(o.term), domain.Size{Cols: cols, Rows: rows}}
}

func (o *oracle) write(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.term.Write(p)
	o.wroteAt = time.Now()
	o.note()
}

func (o *oracle) resize(size domain.Size) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.term.Resize(size.Cols, size.Rows)
	o.blurred = o.blurred || o.wroteAt.Equal(time.Now())
	o.note()
}

func (o *oracle) now() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return text(o.term)
}

// showed reports whether a screen was one of them, where no notice of the client covers it.
func (o *oracle) showed(screen string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.had[picture{screen, o.picture().size}] {
		return true
	}
	above, ok := withoutNotice(screen)
	if !ok {
		return false
	}
	for had := range o.had {
		if strings.HasPrefix(had.text, above) {
			return true
		}
	}
	return false
}

// withoutNotice cuts the last row off if that is a notice.
func withoutNotice(screen string) (above string, ok bool) {
	at := strings.LastIndexByte(screen, '\n') + 1
	last := strings.TrimSpace(screen[at:])
	return screen[:at], strings.HasPrefix(last, "connection lost") || strings.HasPrefix(last, "reconnecting") || strings.HasPrefix(last, "no contact")
}

// program is a session's program: it echoes what is typed and prints what the test says.
type program struct {
	mu      sync.Mutex
	changed sync.Cond
	oracle  *oracle
	output  []byte
	typed   []byte
	over    bool
}

func newProgram(o *oracle) *program {
	p := &program{oracle: o}
	p.changed.L = &p.mu
	return p
}

func (p *program) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.output) == 0 && !p.over {
		p.changed.Wait()
	}
	if len(p.output) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 32<<10)], p.output)
	p.output = p.output[n:]
	p.oracle.write(b[:n])
	return n, nil
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typed = append(p.typed, b...)
	p.output = append(p.output, b...)
	p.changed.Broadcast()
	return len(b), nil
}

func (p *program) TryWrite(b []byte) int {
	n, _ := p.Write(b)
	return n
}

func (p *program) print(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output = append(p.output, s...)
	p.changed.Broadcast()
}

// shows has the program show what an act says, if it is one of a program's.
func (p *program) shows(i int, a act, rows int) bool {
	switch a.Kind {
	case "line":
		p.print(fmt.Sprintf("line %d\r\n", i))
	case "lines":
		for n := range a.N / 100 {
			p.print(fmt.Sprintf("line %d of %d\r\n", n, i))
		}
	case "paint":
		for y := range rows {
			p.print(fmt.Sprintf("\x1b[%d;1H\x1b[3%dmrow %d of picture %d\x1b[K\x1b[m", y+1, i%8, y, i))
		}
	case "flood":
		p.print(strings.Repeat(fmt.Sprintf("%d y\r\n", i), 10*a.N))
	case "clear":
		p.print("\x1b[2J\x1b[H")
	default:
		return false
	}
	return true
}

func (p *program) got() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.typed)
}

func (p *program) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.changed.Broadcast()
}

func (p *program) Resize(size domain.Size) error { p.oracle.resize(size); return nil }
func (p *program) Pid() int                      { return 1 }
func (p *program) Command() []string             { return []string{"test"} }
func (p *program) Foreground() ports.Process     { return ports.Process{} }
func (p *program) Use() ports.TerminalUse        { return ports.TerminalUse{} }
func (p *program) ForegroundGroup() int          { return 0 }
func (p *program) Cwd() string                   { return "/" }
func (p *program) Kill(context.Context)          { p.end() }
func (p *program) Close() error                  { p.end(); return nil }

func (p *program) Wait() domain.ExitStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.over {
		p.changed.Wait()
	}
	return domain.ExitStatus{Signal: syscall.SIGHUP}
}

// programs starts the one program.
type programs struct{ p ports.Program }

func (ps programs) Start(domain.Command, domain.Size) (ports.Program, error) { return ps.p, nil }

// terminal is a user's: an engine, keys that wait to be read, and a check of each picture.
type terminal struct {
	mu      sync.Mutex
	changed sync.Cond
	keys    []byte
	closed  bool
	stuck   bool
	size    domain.Size
	screen  *vt.Terminal
	check   func(screen string) // of each picture, or nil
	events  chan ports.TerminalEvent
}

func newTerminal(size domain.Size, check func(string)) *terminal {
	t := &terminal{
		size: size, check: check, events: make(chan ports.TerminalEvent, 8),
		screen: vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows}),
	}
	t.changed.L = &t.mu
	return t
}

func (t *terminal) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.keys) == 0 && !t.closed {
		t.changed.Wait()
	}
	if t.closed {
		return 0, io.ErrClosedPipe
	}
	n := copy(p, t.keys)
	t.keys = t.keys[n:]
	return n, nil
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.stuck && !t.closed {
		t.changed.Wait()
	}
	if t.closed {
		return 0, io.ErrClosedPipe
	}
	_, _ = t.screen.Write(p)
	if t.check != nil && t.screen.Modes().Alternate {
		t.check(text(t.screen))
	}
	return len(p), nil
}

func (t *terminal) press(keys string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys = append(t.keys, keys...)
	t.changed.Broadcast()
}

func (t *terminal) look(check func(string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check = check
}

func (t *terminal) hold(stuck bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stuck = stuck
	t.changed.Broadcast()
}

func (t *terminal) resize(size domain.Size) {
	t.mu.Lock()
	t.size = size
	t.screen.Resize(size.Cols, size.Rows)
	t.mu.Unlock()
	select {
	case t.events <- ports.TerminalResized:
	default: // one waits already: it is told once
	}
}

func (t *terminal) shows() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return text(t.screen)
}

func (t *terminal) now() domain.Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

func (t *terminal) Size() (domain.Size, error) { return t.now(), nil }

func (t *terminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.changed.Broadcast()
	return nil
}

func (t *terminal) Raw() error                         { return nil }
func (t *terminal) Restore() error                     { return nil }
func (t *terminal) Suspend() error                     { return fmt.Errorf("no shell") }
func (t *terminal) Events() <-chan ports.TerminalEvent { return t.events }
