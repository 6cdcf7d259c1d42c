package pty

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// Programs starts programs on new pseudo-terminals. The zero value is ready for use, by any
// number of goroutines.
type Programs struct {
	inherited sync.Once // what this process got from its own parent is kept from its programs
}

var _ ports.Programs = (*Programs)(nil)

// Start runs cmd on a new terminal of the given size, as the leader of its own session. The
// environment is exactly cmd.Env, except that PWD names the directory. An empty Argv means
// the user's login shell, an empty Dir the home directory.
//
// Faults: NotFound and Denied name the command or the directory, Usage an impossible request,
// Limit an exhausted resource of the system, Unavailable anything else of the system's.
func (s *Programs) Start(cmd domain.Command, size domain.Size) (ports.Program, error) {
	if !size.Valid() {
		return nil, badSize(size)
	}
	im, err := resolve(cmd)
	if err != nil {
		return nil, err
	}
	s.inherited.Do(func() {
		sealDescriptors()
		catchIgnored(ignoredSignals())
	})
	master, slave, err := openTerminal(size)
	if err != nil {
		return nil, err
	}
	defer slave.Close() // the program has it now; ours would keep the master from ending
	pid, exit, err := spawn(im, slave)
	if err != nil {
		return nil, errors.Join(startFault(im, err), master.Close())
	}
	argv := im.argv
	if len(cmd.Argv) == 0 {
		argv = []string{im.path}
	}
	return newProgram(pid, argv, master, exit), nil
}

func badSize(size domain.Size) error {
	return fault.New(fault.Usage, "a terminal of %s is not possible", size).
		WithHint("sizes go from 1x1 to %dx%d", domain.MaxCols, domain.MaxRows)
}

// spawn starts im with slave as its controlling terminal and standard streams.
func spawn(im image, slave *os.File) (pid int, exit exitWatch, err error) {
	catchIgnored(0)
	// Fd makes the slave's description blocking, which is what the program expects of it.
	fd := slave.Fd()
	sys := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	prepareExit(&exit, sys)
	attr := &syscall.ProcAttr{Dir: im.dir, Env: im.env, Files: []uintptr{fd, fd, fd}, Sys: sys}
	pid, _, err = syscall.StartProcess(im.path, im.argv, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		// A script without an interpreter line: the shell runs it, as execvp has it.
		argv := append([]string{fallbackShell, im.path}, im.argv[1:]...)
		pid, _, err = syscall.StartProcess(fallbackShell, argv, attr)
	}
	return pid, exit, err
}

func startFault(im image, err error) error {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return fault.Wrap(fault.NotFound, err, "cannot run %q", im.name).
			WithHint("the file or the interpreter in its first line is missing")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fault.Wrap(fault.Denied, err, "cannot run %q", im.name).
			WithHint("check the permissions of %s", im.path)
	case errors.Is(err, syscall.ENOEXEC):
		return fault.Wrap(fault.Denied, err, "cannot run %q", im.name).
			WithHint("%s is not a program of this system", im.path)
	case errors.Is(err, syscall.E2BIG):
		return fault.Wrap(fault.Limit, err, "arguments and environment of %q are too long", im.name).
			WithHint("start it with a smaller environment")
	case errors.Is(err, syscall.EINVAL):
		return fault.Wrap(fault.Usage, err, "cannot run %q", im.name).
			WithHint("arguments and environment must not contain NUL bytes")
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return fault.Wrap(fault.Limit, err, "cannot run %q: the system has no room for a process", im.name).
			WithHint("end something, or raise the limit shown by: ulimit -u")
	}
	return fault.Wrap(fault.Unavailable, err, "cannot run %q", im.name)
}
