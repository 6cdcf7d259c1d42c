package tty

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// Terminal is the terminal of standard input. Make it with Open.
type Terminal struct {
	f     *os.File      // opened here: the poller knows it, so Close ends a Read
	brief io.ReadWriter // f as well: how it is read and written
	found unix.Termios  // the modes before Raw
	watch *watch

	closing sync.Once
	err     error // of the first Close
}

var _ ports.Terminal = (*Terminal)(nil)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := modes(f)
	return err == nil
}

// Open opens the terminal of standard input; its modes are as they were. From here on signals
// are events, except those that this process ignores: who started it wanted that. The fault is
// Usage when standard input is no terminal.
func Open() (*Terminal, error) {
	if !IsTerminal(os.Stdin) {
		return nil, fault.New(fault.Usage, "standard input is not a terminal").
			WithHint("run vev in a terminal; without one use vev new -d, vev send and vev capture")
	}
	f, err := reopen(os.Stdin)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot open the terminal of standard input").
			WithHint("vev doctor checks the terminal")
	}
	found, err := modes(f)
	if err != nil {
		f.Close()
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the terminal's modes")
	}
	return &Terminal{f: f, brief: descriptor.OfFile(f), found: found, watch: newWatch()}, nil
}

// reopen opens the terminal behind in for ourselves: itself, even when it is not the
// controlling terminal, or else, when it belongs to another user (after su), the controlling
// one, which anybody may open who has it.
func reopen(in *os.File) (*os.File, error) {
	const flags = os.O_RDWR | unix.O_NOCTTY | unix.O_NONBLOCK
	if path, err := name(in); err == nil {
		if f, err := os.OpenFile(path, flags, 0); err == nil {
			return f, nil
		}
	}
	return os.OpenFile("/dev/tty", flags, 0)
}

// Raw implements ports.Terminal: nothing the terminal sends is changed, echoed or a signal.
func (t *Terminal) Raw() error {
	raw := t.found
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag &^= unix.CSIZE | unix.PARENB
	raw.Cflag |= unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	return t.set(raw)
}

// Restore implements ports.Terminal.
func (t *Terminal) Restore() error { return t.set(t.found) }

// set changes the modes at once, without waiting for output that the terminal may not take.
// In the background it would stop us or spoil another job's modes, so it does nothing there;
// with the return to the foreground comes TerminalResumed, and with that the next Raw. A
// terminal that hung up has no modes: the end of Read and TerminalHungUp tell it, after which
// a leader of a session is continued, too, and may see TerminalResumed first.
func (t *Terminal) set(m unix.Termios) error {
	return control(t.f, func(fd int) error {
		if owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && owner != unix.Getpgrp() {
			return nil
		}
		err := unix.IoctlSetTermios(fd, setModes, &m)
		if errors.Is(err, unix.EIO) {
			return nil
		}
		return err
	})
}

// Read implements ports.Terminal.
func (t *Terminal) Read(p []byte) (int, error) {
	n, err := t.brief.Read(p)
	if n == 0 && errors.Is(err, unix.EIO) {
		err = io.EOF // hung up
	}
	return n, err
}

// Write implements ports.Terminal.
func (t *Terminal) Write(p []byte) (int, error) { return t.brief.Write(p) }

// Size implements ports.Terminal.
func (t *Terminal) Size() (domain.Size, error) { return SizeOf(t.f) }

// SizeOf is the size of a terminal, which need not be open as one: domain.DefaultSize where it has none. Errors are the system's.
func SizeOf(f *os.File) (domain.Size, error) {
	var size domain.Size
	err := control(f, func(fd int) error {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			size = domain.Size{Cols: int(ws.Col), Rows: int(ws.Row)}
		}
		return err
	})
	if err != nil {
		return domain.Size{}, err
	}
	if size.Cols == 0 || size.Rows == 0 {
		return domain.DefaultSize, nil
	}
	return domain.Size{Cols: min(size.Cols, domain.MaxCols), Rows: min(size.Rows, domain.MaxRows)}, nil
}

// Events implements ports.Terminal.
func (t *Terminal) Events() <-chan ports.TerminalEvent { return t.watch.events }

// Suspend implements ports.Terminal.
func (t *Terminal) Suspend() error {
	if !continuable() {
		return fault.New(fault.Unsupported, "there is no shell to continue this job").
			WithHint("detach instead, and attach again later")
	}
	if err := t.Restore(); err != nil {
		return err
	}
	return stopJob()
}

// Close implements ports.Terminal.
func (t *Terminal) Close() error {
	t.closing.Do(func() {
		t.err = t.Restore()
		t.watch.close()
		t.err = errors.Join(t.err, t.f.Close())
	})
	return t.err
}

// modes reads the modes of a terminal; an error: it is none.
func modes(f *os.File) (unix.Termios, error) {
	var m unix.Termios
	err := control(f, func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, getModes)
		if err == nil {
			m = *got
		}
		return err
	})
	return m, err
}

// control runs an ioctl without taking the file from the poller, as Fd would.
func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}
