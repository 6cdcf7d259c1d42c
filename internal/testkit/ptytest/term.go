package ptytest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

const (
	// patience bounds every wait. It is met only by a failure.
	patience = 20 * time.Second
	// maxOutput bounds the raw tap: a program that writes more fails the test.
	maxOutput = 64 << 20
	// maxReplies bounds the engine's answers that the program has not read; more are dropped, as a
	// terminal would.
	maxReplies = 64 << 10
)

// Term is a program on a terminal. Its methods are for the test's goroutine.
type Term struct {
	t      testing.TB
	master *os.File
	found  unix.Termios
	cmd    *exec.Cmd

	work  sync.WaitGroup
	ended chan struct{} // closed when the program's status is known
	quiet chan struct{} // closed when all output was read

	mu      sync.Mutex
	engine  *vt.Terminal
	output  bytes.Buffer
	more    chan struct{} // closed and made anew at each arrival of output
	replies []byte
	answer  chan struct{} // cap 1: replies wait
}

// Start runs argv on a new terminal of its own, with exactly env, and sees to its end with the
// test's. Directory and umask are the test's.
func Start(t testing.TB, argv, env []string, size domain.Size) *Term {
	t.Helper()
	master, slave, err := openPair()
	if err != nil {
		t.Fatalf("no terminal: %v", err)
	}
	defer slave.Close()
	p := &Term{
		t: t, master: master, ended: make(chan struct{}), quiet: make(chan struct{}),
		engine: vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows}),
		more:   make(chan struct{}), answer: make(chan struct{}, 1),
	}
	SetSize(t, slave, size)
	p.found = p.Modes()
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = env
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		master.Close()
		t.Fatalf("cannot start %q: %v", argv, err)
	}
	p.work.Go(p.read)
	p.work.Go(p.reply)
	p.work.Go(func() {
		defer close(p.ended)
		p.cmd.Wait()
	})
	t.Cleanup(p.close)
	return p
}

// close ends the program outright and joins all goroutines.
func (p *Term) close() {
	p.cmd.Process.Kill()
	p.master.Close()
	<-p.quiet
	close(p.answer)
	p.work.Wait()
	if p.t.Failed() {
		p.t.Logf("the screen of %q at the end:\n%s", p.cmd.Args, p.Screen())
	}
}

func (p *Term) read() {
	defer close(p.quiet)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.output.Write(buf[:n])
		p.engine.Write(buf[:n])
		if r := p.engine.TakeReplies(); len(p.replies)+len(r) <= maxReplies {
			p.replies = append(p.replies, r...)
		}
		tooMuch := p.output.Len() > maxOutput
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
		select {
		case p.answer <- struct{}{}:
		default:
		}
		if tooMuch {
			p.t.Errorf("more than %d bytes of output", maxOutput)
		}
		if err != nil || tooMuch {
			return
		}
	}
}

// reply writes the engine's answers, apart from the reader: a program that reads nothing must
// not stop its own output.
func (p *Term) reply() {
	for range p.answer {
		p.mu.Lock()
		r := p.replies
		p.replies = nil
		p.mu.Unlock()
		if len(r) > 0 {
			p.master.Write(r)
		}
	}
}

// Type gives the program keys. It waits while the terminal takes none.
func (p *Term) Type(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatalf("cannot type %q: %v", keys, err)
	}
}

// Resize changes the terminal's size; the kernel tells the program.
func (p *Term) Resize(size domain.Size) {
	p.t.Helper()
	p.mu.Lock()
	p.engine.Resize(size.Cols, size.Rows)
	p.mu.Unlock()
	SetSize(p.t, p.master, size)
}

// Screen returns what is seen now.
func (p *Term) Screen() Screen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return take(p.engine)
}

// Output returns all bytes that the program wrote so far.
func (p *Term) Output() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.output.Bytes())
}

// WaitFor waits until ok says that the screen is as wanted, and returns it. The test fails,
// with the reason why and the screen, when that does not come or cannot come any more.
func (p *Term) WaitFor(why string, ok func(Screen) bool) Screen {
	p.t.Helper()
	var last Screen
	p.wait(why, func() bool {
		last = take(p.engine)
		return ok(last)
	})
	return last
}

// WaitText waits until text is on one line of the screen.
func (p *Term) WaitText(text string) Screen {
	p.t.Helper()
	return p.WaitFor("for the text "+text, func(s Screen) bool { return s.Contains(text) })
}

// WaitOutput waits until text is among the bytes that the program wrote.
func (p *Term) WaitOutput(text string) {
	p.t.Helper()
	p.wait("for the bytes "+text, func() bool { return bytes.Contains(p.output.Bytes(), []byte(text)) })
}

// wait waits until ok, called under the lock after each arrival, is true.
func (p *Term) wait(why string, ok func() bool) {
	p.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		done, more := ok(), p.more
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-more:
			continue
		case <-p.quiet:
			p.mu.Lock()
			done = ok()
			p.mu.Unlock()
			if done {
				return
			}
			p.t.Fatalf("waited %s, and the output ended; the screen:\n%s", why, p.Screen())
		case <-deadline.C:
			p.t.Fatalf("waited %s in vain; the screen:\n%s", why, p.Screen())
		}
	}
}

// Wait waits for the program's end and all of its output.
func (p *Term) Wait() domain.ExitStatus {
	p.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for _, c := range []chan struct{}{p.ended, p.quiet} {
		select {
		case <-c:
		case <-deadline.C:
			p.t.Fatalf("%q does not end; the screen:\n%s", p.cmd.Args, p.Screen())
		}
	}
	ws := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return domain.ExitStatus{Signal: ws.Signal()}
	}
	return domain.ExitStatus{Code: ws.ExitStatus()}
}

// Pid is the program's process id.
func (p *Term) Pid() int { return p.cmd.Process.Pid }

// Signal sends sig to the program.
func (p *Term) Signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatalf("cannot send %v: %v", sig, err)
	}
}

// HangUp takes the terminal away, as closing a window does.
func (p *Term) HangUp() { p.master.Close() }

// Modes returns the terminal's modes now; they stay after the program's end.
func (p *Term) Modes() unix.Termios {
	p.t.Helper()
	return Modes(p.t, p.master)
}

// Found returns the terminal's modes before the program started.
func (p *Term) Found() unix.Termios { return p.found }

// Raw reports whether the terminal hands on keys unchanged and unechoed now.
func (p *Term) Raw() bool {
	p.t.Helper()
	m := p.Modes()
	return m.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) == 0 && m.Iflag&unix.ICRNL == 0 && m.Oflag&unix.OPOST == 0
}

// SetModes changes the terminal's modes from outside, as another program would.
func (p *Term) SetModes(m unix.Termios) {
	p.t.Helper()
	control(p.t, p.master, func(fd int) error { return unix.IoctlSetTermios(fd, setTermios, &m) })
}

// control does something with a descriptor and keeps the file pollable.
func control(t testing.TB, f *os.File, do func(fd int) error) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err == nil {
		var failed error
		if err = conn.Control(func(fd uintptr) { failed = do(int(fd)) }); err == nil {
			err = failed
		}
	}
	if err != nil {
		t.Fatalf("the terminal fails: %v", err)
	}
}

// Env returns a small environment for programs under test, with what is given added.
func Env(extra ...string) []string {
	env := []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "PS1=$ "}
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = append(deleteKey(env, key), kv)
	}
	return env
}

func deleteKey(env []string, key string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, key+"=") {
			out = append(out, kv)
		}
	}
	return out
}
