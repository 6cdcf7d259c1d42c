//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/testkit/ptytest"
)

// maxSeen is how many of the newest bytes that a terminal got are kept, to look for sequences in.
const maxSeen = 1 << 20

// term is a person's terminal: a pty, and an engine that shows what is written to it and answers questions. Programs run
// on it one after another, as in a window with a shell.
type term struct {
	t             *testing.T
	master, slave *os.File
	done          chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	stopped bool // it reads nothing
	mute    bool // it answers nothing
	flow    *sync.Cond
	screen  *vt.Terminal
	awaited map[string]bool // texts, and whether they were on the screen
	seen    []byte          // the newest bytes
	total   int64           // bytes in all
	changed chan struct{}   // closed at the next bytes
}

func newTerm(t *testing.T, cols, rows int) *term {
	t.Helper()
	master, slave := ptytest.Pair(t)
	ptytest.SetSize(t, master, domain.Size{Cols: cols, Rows: rows})
	tt := &term{
		t: t, master: master, slave: slave, done: make(chan struct{}),
		screen: vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 100_000}), changed: make(chan struct{}),
		awaited: map[string]bool{},
	}
	tt.flow = sync.NewCond(&tt.mu)
	go tt.read()
	t.Cleanup(tt.hangUp)
	return tt
}

// resize is what dragging the window's edge does.
func (tt *term) resize(cols, rows int) {
	tt.t.Helper()
	tt.mu.Lock()
	tt.screen.Resize(cols, rows)
	tt.mu.Unlock()
	ptytest.SetSize(tt.t, tt.master, domain.Size{Cols: cols, Rows: rows})
}

func (tt *term) read() {
	defer close(tt.done)
	buf := make([]byte, 64<<10)
	for {
		tt.mu.Lock()
		for tt.stopped {
			tt.flow.Wait()
		}
		tt.mu.Unlock()
		n, err := tt.master.Read(buf)
		if err != nil {
			return
		}
		tt.mu.Lock()
		_, _ = tt.screen.Write(buf[:n])
		answer := append([]byte(nil), tt.screen.TakeReplies()...)
		if tt.mute {
			answer = nil
		}
		tt.screen.TakeEvents()
		for text, was := range tt.awaited {
			tt.awaited[text] = was || strings.Contains(textOf(tt.screen), text)
		}
		tt.total += int64(n)
		tt.seen = append(tt.seen, buf[:n]...)
		if len(tt.seen) > 2*maxSeen {
			tt.seen = append(tt.seen[:0], tt.seen[len(tt.seen)-maxSeen:]...)
		}
		close(tt.changed)
		tt.changed = make(chan struct{})
		tt.mu.Unlock()
		if len(answer) > 0 {
			_, _ = tt.master.Write(answer)
		}
	}
}

// stop makes a terminal that takes no output any more, but for one read that is under way, until resume.
func (tt *term) stop() { tt.halt(true) }

func (tt *term) resume() { tt.halt(false) }

func (tt *term) halt(stopped bool) {
	tt.mu.Lock()
	tt.stopped = stopped
	tt.mu.Unlock()
	tt.flow.Broadcast()
}

// hangUp closes the window.
func (tt *term) hangUp() {
	tt.resume()
	_ = tt.master.Close()
	<-tt.done
}

// typ writes what a keyboard would; a terminal whose program reads nothing takes only so much.
func (tt *term) typ(keys string) {
	tt.t.Helper()
	_, err := tt.master.WriteString(keys)
	require.NoError(tt.t, err)
}

// look gives f the screen. f keeps nothing of it.
func (tt *term) look(f func(s *vt.Terminal)) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	f(tt.screen)
}

// until waits until ok holds of the screen.
func (tt *term) until(what string, ok func(s *vt.Terminal) bool) {
	tt.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		tt.mu.Lock()
		met, changed := ok(tt.screen), tt.changed
		tt.mu.Unlock()
		if met {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			tt.t.Fatalf("not within %v: %s\nthe screen:\n%s", patience, what, tt.text())
		}
	}
}

// sees waits until the screen holds text; a row's end is a line feed in it.
func (tt *term) sees(text string) {
	tt.t.Helper()
	tt.until(fmt.Sprintf("seeing %q", text), func(s *vt.Terminal) bool { return strings.Contains(textOf(s), text) })
}

// await returns what waits until the screen has held text, from now on: for what may be gone when somebody looks.
func (tt *term) await(text string) (told func()) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	tt.awaited[text] = false
	return func() {
		tt.t.Helper()
		tt.until(fmt.Sprintf("having seen %q", text), func(*vt.Terminal) bool { return tt.awaited[text] })
	}
}

// lacks waits until the screen does not hold text.
func (tt *term) lacks(text string) {
	tt.t.Helper()
	tt.until(fmt.Sprintf("not seeing %q", text), func(s *vt.Terminal) bool { return !strings.Contains(textOf(s), text) })
}

// gets waits until text was among the bytes, whatever became of it on the screen.
func (tt *term) gets(text string) {
	tt.t.Helper()
	tt.until(fmt.Sprintf("getting %q", text), func(*vt.Terminal) bool { return bytes.Contains(tt.seen, []byte(text)) })
}

func (tt *term) text() (text string) {
	tt.look(func(s *vt.Terminal) { text = textOf(s) })
	return text
}

// got is how many bytes the terminal got.
func (tt *term) got() int64 {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return tt.total
}

// modes are the line discipline's.
func (tt *term) modes() unix.Termios {
	tt.t.Helper()
	return ptytest.Modes(tt.t, tt.slave)
}

// textOf is the screen as text, a line for each row, blanks at the ends cut.
func textOf(s *vt.Terminal) string {
	_, rows := s.Size()
	var text strings.Builder
	for y := range rows {
		text.WriteString(rowText(s, y))
		text.WriteByte('\n')
	}
	return text.String()
}

func rowText(s *vt.Terminal, y int) string {
	var row []byte
	for _, c := range s.Row(y).Cells() {
		switch {
		case c.IsSpacer():
		case c.IsBlank():
			row = append(row, ' ')
		default:
			row = s.AppendCell(row, c)
		}
	}
	return strings.TrimRight(string(row), " ")
}

// shot is all that a person sees of a terminal, and what keys do there, to be compared.
type shot struct {
	rows   []string // text and styles
	cursor vt.Cursor
	modes  vt.Modes
}

func shoot(s *vt.Terminal) shot {
	_, rows := s.Size()
	view := shot{cursor: s.Cursor(), modes: s.Modes()}
	view.cursor.Pending = false // no program sees it
	for y := range rows {
		view.rows = append(view.rows, rowText(s, y)+styleText(s, y))
	}
	return view
}

// styleText names the stretches of a row that are not in default style.
func styleText(s *vt.Terminal, y int) string {
	var text strings.Builder
	cells := s.Row(y).Cells()
	for x := 0; x < len(cells); {
		style := s.Style(cells[x])
		from := x
		for x < len(cells) && s.Style(cells[x]) == style {
			x++
		}
		if style != (vt.Style{}) {
			fmt.Fprintf(&text, " <%d-%d %s/%s %v%s>", from+1, x, style.Fg, style.Bg, style.Attrs.Names(), style.Attrs.Underline())
		}
	}
	return text.String()
}

func (tt *term) shoot() (view shot) {
	tt.look(func(s *vt.Terminal) { view = shoot(s) })
	return view
}

// program is a process on a terminal, its controlling one.
type program struct {
	t    *testing.T
	on   *term // nil: on none
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start runs a command on the terminal.
func (tt *term) start(cmd *exec.Cmd) *program {
	tt.t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tt.slave, tt.slave, tt.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(tt.t, cmd.Start())
	p := &program{t: tt.t, on: tt, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // the state tells
	}()
	tt.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.done
	})
	return p
}

// vev runs vev on the terminal.
func (tt *term) vev(h *home, args ...string) *program {
	tt.t.Helper()
	return tt.start(h.command(args...))
}

// exits waits for the program's end and returns its status: the exit code, or minus the signal that ended it.
func (p *program) exits() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		screen := ""
		if p.on != nil {
			screen = p.on.text()
		}
		p.t.Fatalf("%v did not end within %v; the screen:\n%s", p.cmd.Args, patience, screen)
	}
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) signal(sig syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(sig))
}

func (p *program) pid() int { return p.cmd.Process.Pid }
