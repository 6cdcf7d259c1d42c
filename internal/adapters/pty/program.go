package pty

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// killGrace bounds how long Kill waits after SIGKILL for a program that the system does not
// end: one of another user, or one stuck in a device. Twice, because the hang-up of the
// terminal, which no user can refuse, comes after the first.
const killGrace = 2 * time.Second

// program is one running program. See ports.Program for who may call what.
type program struct {
	pid    int
	argv   []string // what was started
	master *os.File // pollable; never call Fd on it
	raw    syscall.RawConn
	reader reader

	ended  chan struct{} // closed by reap as its last act
	status domain.ExitStatus

	// sigMu guards reaped, and is held for the one system call that reaps or signals: after the
	// reaping the number may name somebody else's group.
	sigMu  sync.Mutex
	reaped bool
}

var _ ports.Program = (*program)(nil)

// newProgram starts the goroutine that reaps the program, so that no zombie stays whoever
// forgets to wait.
func newProgram(pid int, argv []string, master *os.File, exit exitWatch) *program {
	p := &program{pid: pid, argv: argv, master: master, ended: make(chan struct{})}
	p.raw, _ = master.SyscallConn() // fails only on a closed file: then its methods fail as well
	p.reader.init(p.raw)
	var wg sync.WaitGroup // p.ended is what is waited for
	wg.Go(func() { p.reap(exit) })
	return p
}

func (p *program) Pid() int { return p.pid }

func (p *program) Command() []string { return p.argv }

func (p *program) Read(b []byte) (int, error) {
	n, err := p.reader.read(b)
	if n == 0 && errors.Is(err, unix.EIO) {
		return 0, io.EOF // Linux: the last holder of the slave closed it
	}
	return n, err
}

func (p *program) Write(b []byte) (int, error) { return p.master.Write(b) }

func (p *program) TryWrite(b []byte) (n int) {
	_ = p.raw.Write(func(fd uintptr) bool { // a closed file: Write says so
		n, _ = descriptor.Write(int(fd), b)
		return true
	})
	return n
}

func (p *program) Resize(size domain.Size) error {
	if !size.Valid() {
		return badSize(size)
	}
	return p.ioctl(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, winsize(size))
	})
}

func winsize(size domain.Size) *unix.Winsize {
	return &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Cols)}
}

func (p *program) Foreground() ports.Process {
	if pgrp := p.foregroundGroup(); pgrp > 0 {
		return describe(pgrp)
	}
	return ports.Process{}
}

func (p *program) Cwd() string {
	if pgrp := p.foregroundGroup(); pgrp > 0 {
		return directory(pgrp)
	}
	return ""
}

// foregroundGroup returns the process group that holds the terminal, or 0.
func (p *program) foregroundGroup() int {
	pgrp := 0
	err := p.ioctl(func(fd int) (err error) {
		pgrp, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err != nil || pgrp <= 1 {
		return 0
	}
	return pgrp
}

// ioctl runs f on the master's descriptor and retries when a signal came between.
func (p *program) ioctl(f func(fd int) error) error {
	err := error(fault.New(fault.Internal, "no terminal"))
	if cerr := p.raw.Control(func(fd uintptr) {
		for err = f(int(fd)); errors.Is(err, unix.EINTR); {
			err = f(int(fd))
		}
	}); cerr != nil {
		return cerr
	}
	return err
}

func (p *program) Wait() domain.ExitStatus {
	<-p.ended
	return p.status
}

// reap waits for the program's end and takes its status.
func (p *program) reap(exit exitWatch) {
	defer close(p.ended)
	exit.wait(p.pid, func() bool {
		p.sigMu.Lock()
		defer p.sigMu.Unlock()
		var ws unix.WaitStatus
		pid, err := unix.Wait4(p.pid, &ws, unix.WNOHANG, nil)
		for err == unix.EINTR {
			pid, err = unix.Wait4(p.pid, &ws, unix.WNOHANG, nil)
		}
		if err == nil && pid == 0 {
			return false
		}
		p.reaped = true // also on ECHILD: whoever took the status, the number is free
		if err == nil {
			p.status = exitStatus(ws)
		}
		return true
	})
}

func exitStatus(ws unix.WaitStatus) domain.ExitStatus {
	if ws.Signaled() {
		return domain.ExitStatus{Signal: ws.Signal()}
	}
	return domain.ExitStatus{Code: ws.ExitStatus()}
}

func (p *program) Kill(ctx context.Context) {
	p.signal(unix.SIGHUP)
	p.signal(unix.SIGCONT) // a stopped program cannot act on the hang-up
	select {
	case <-p.ended:
		return
	case <-ctx.Done():
	}
	p.signal(unix.SIGKILL)
	if p.endsWithin(killGrace) {
		return
	}
	p.Close()
	p.endsWithin(killGrace)
}

func (p *program) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ended:
		return true
	case <-t.C:
		return false
	}
}

// signal sends sig to the program's group and to the one in the foreground. Errors are of no
// use: a group that is gone needs no signal, and one of another user's takes none.
func (p *program) signal(sig unix.Signal) {
	fg := p.foregroundGroup()
	p.sigMu.Lock()
	defer p.sigMu.Unlock()
	if p.reaped {
		return
	}
	unix.Kill(-p.pid, sig)
	if fg > 0 && fg != p.pid {
		unix.Kill(-fg, sig)
	}
}

// Close may be called again; only the first call closes.
func (p *program) Close() error {
	if err := p.master.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
