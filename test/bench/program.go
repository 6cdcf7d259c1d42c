//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// programArg makes this program one of those that run in sessions.
const programArg = "_program"

// paintedRows is how much of the screen a painted one covers; the rest is left to a status line.
const paintedRows = termRows - 2

// runProgram runs one of the programs for sessions and ends the process.
func runProgram(args []string) {
	if len(args) < 2 {
		args = append(args, "", "")
	}
	switch args[0] {
	case "paint":
		paint(args[1])
	case "echo":
		echoKeys()
	case "fill":
		fill(args[1], args[2])
	case "drain":
		drainOutput(args[1:])
	case "fillpaint":
		writeLines(args[1])
		paint(args[2])
	case "stamps":
		stampFlood()
	case "clock":
		clock()
	case "top":
		processTable(args[1], args[2])
	case "near":
		joinNear(args[1])
	case "far":
		joinFar(args[1], args[2])
	}
	os.Exit(2)
}

// rawInput has every key come at once and unchanged, and output go out as it is.
func rawInput() {
	modes, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		os.Exit(1)
	}
	modes.Iflag = 0
	modes.Oflag &^= unix.OPOST
	modes.Lflag = 0
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(0, unix.TCSETS, modes) != nil {
		os.Exit(1)
	}
}

// paintedRow is what a painted screen shows in row y. The tag makes each screen another.
func paintedRow(tag string, y int) string {
	text := fmt.Appendf(nil, "%s row %02d ", tag, y)
	for x := len(text); x < termCols-1; x++ {
		text = append(text, byte('A'+(x*5+y*11)%58)) // letters and a few marks, no blank
	}
	return string(text)
}

// paint shows a known screen in colours, again at each change of the window, until its input ends.
func paint(tag string) {
	rawInput()
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for {
			frame := []byte("\x1b[2J")
			for y := range paintedRows {
				text := paintedRow(tag, y)
				frame = fmt.Appendf(frame, "\x1b[%d;1H\x1b[3%dm%s\x1b[1m%s\x1b[m", y+1, 1+y%6, text[:30], text[30:])
			}
			_, _ = os.Stdout.Write(frame)
			<-changed
		}
	}()
	var in [64]byte
	for {
		if _, err := os.Stdin.Read(in[:]); err != nil {
			os.Exit(0)
		}
	}
}

// echoKeys shows each key as it comes. '!' clears the screen and '\r' starts a row.
func echoKeys() {
	runtime.LockOSThread() // no hand-over between threads inside a measured echo
	rawInput()
	_, _ = unix.Write(1, []byte("\x1b[2J\x1b[H"+readyMark))
	in := make([]byte, 4096)
	var out []byte
	for {
		n, err := unix.Read(0, in)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			os.Exit(0)
		}
		out = out[:0]
		for _, key := range in[:n] {
			switch key {
			case '!':
				out = append(out, "\x1b[2J\x1b[H"...)
			case '\r':
				out = append(out, "\r\n"...)
			default:
				out = append(out, key)
			}
		}
		if _, err := unix.Write(1, out); err != nil {
			os.Exit(1)
		}
	}
}

// fill writes full lines of text, creates a file to say so, and becomes a cat: fifty of this program would crowd the
// machine.
func fill(lines, done string) {
	rawInput()
	writeLines(lines)
	if os.WriteFile(done, nil, 0o600) != nil {
		os.Exit(1)
	}
	cat, err := exec.LookPath("cat")
	if err == nil {
		err = syscall.Exec(cat, []string{"cat"}, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// writeLines writes full lines of text that begin with their number.
func writeLines(lines string) {
	n, _ := strconv.Atoi(lines)
	text := words(7)
	var out []byte
	for i := range n {
		out = fmt.Appendf(out, "%06d ", i)
		out = append(out, text.next(termCols-7)...)
		out = append(out, "\r\n"...)
		if len(out) >= 32<<10 || i == n-1 {
			if _, err := os.Stdout.Write(out); err != nil {
				os.Exit(1)
			}
			out = out[:0]
		}
	}
}

// drainOutput runs a command in a pty and throws away what it shows.
func drainOutput(argv []string) {
	master, slave, err := openPTY()
	if err != nil {
		os.Exit(1)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	inPTY(cmd, slave)
	if cmd.Start() != nil {
		os.Exit(1)
	}
	slave.Close()
	in := make([]byte, 64<<10)
	for {
		if n, err := unix.Read(master, in); n <= 0 && err != unix.EINTR {
			os.Exit(0)
		}
	}
}

// textSource makes text that is the same in every run.
type textSource struct{ state uint32 }

func words(seed uint32) *textSource { return &textSource{state: seed} }

// next returns n letters and blanks.
func (s *textSource) next(n int) []byte {
	text := make([]byte, n)
	for i := range text {
		s.state = s.state*1664525 + 1013904223
		text[i] = "etaoinshrdlucmfwypvbgkqjxz      "[s.state>>27]
	}
	return text
}
