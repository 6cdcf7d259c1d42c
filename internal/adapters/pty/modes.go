package pty

import "golang.org/x/sys/unix"

// setModes makes the terminal what a login gives: line editing, echo, signals, UTF-8, DEL
// erases, NL goes out as CR NL. Most of it is the kernel's default; none is left to it.
func setModes(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag |= unix.ICRNL | unix.IXON | unix.BRKINT | unix.IUTF8
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Cflag |= unix.CREAD | unix.CS8
	t.Lflag |= unix.ISIG | unix.ICANON | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE
	t.Cc[unix.VERASE] = 0x7f
	t.Cc[unix.VINTR] = 0x03
	t.Cc[unix.VQUIT] = 0x1c
	t.Cc[unix.VEOF] = 0x04
	t.Cc[unix.VSUSP] = 0x1a
	return unix.IoctlSetTermios(fd, setTermios, t)
}
