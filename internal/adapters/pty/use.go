package pty

import (
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// Use implements ports.Program.
func (p *program) Use() ports.TerminalUse {
	pgrp := p.foregroundGroup()
	if pgrp == 0 {
		return ports.TerminalUse{}
	}
	var modes *unix.Termios
	if p.ioctl(func(fd int) (err error) {
		modes, err = unix.IoctlGetTermios(fd, getTermios)
		return err
	}) != nil {
		return ports.TerminalUse{}
	}
	use := ports.TerminalUse{
		Pid: pgrp, Argv: arguments(pgrp), Told: true,
		Canonical: modes.Lflag&unix.ICANON != 0, Echo: modes.Lflag&unix.ECHO != 0,
	}
	use.Reads = reads(p.pid, pgrp, use.Canonical)
	return use
}

// ForegroundGroup implements ports.Program.
func (p *program) ForegroundGroup() int { return p.foregroundGroup() }
