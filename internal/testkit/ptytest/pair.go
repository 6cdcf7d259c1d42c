package ptytest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
)

// Pair opens a terminal without a program, until the test's end. The master can be read with
// deadlines and closed while it is read.
func Pair(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, slave, err := openPair()
	if err != nil {
		t.Fatalf("no terminal: %v", err)
	}
	t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

// Modes returns the modes of a terminal by either of its ends.
func Modes(t testing.TB, f *os.File) unix.Termios {
	t.Helper()
	var modes unix.Termios
	control(t, f, func(fd int) error {
		m, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			modes = *m
		}
		return err
	})
	return modes
}

// SetSize sets a terminal's size by either of its ends.
func SetSize(t testing.TB, f *os.File, size domain.Size) {
	t.Helper()
	control(t, f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Cols)})
	})
}
