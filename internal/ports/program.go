package ports

import (
	"context"

	"github.com/vev-term/vev/internal/domain"
)

// Program is one program on a pseudo-terminal of its own.
//
// One goroutine reads, one writes, any may call the rest. Close may be called at any time,
// more than once, and unblocks Read and Write.
type Program interface {
	// Read returns the output that is ready, at most 32 KiB of it, and waits when there is none.
	// io.EOF: every process that held the terminal has closed it and all output was read.
	Read(p []byte) (int, error)
	// Write gives input to the terminal. It waits while the program does not read; all of p was
	// written, or there is an error. What a program that edits lines does not take of a line over
	// 4 KiB, the kernel drops.
	Write(p []byte) (int, error)
	// TryWrite gives as much input as the terminal takes at once and never waits; it returns how
	// many bytes that were. Of what fails, the next Write tells why. For who may Write.
	TryWrite(p []byte) int
	// Resize sets the terminal's size; the kernel tells the program.
	Resize(domain.Size) error
	// Pid is the process id of the program; it is also its process group and session.
	Pid() int
	// Command is what was started: the command, or the login shell's path.
	Command() []string
	// Foreground says what holds the terminal now: command line (at most 64 KiB of it) and
	// directory of the foreground process group's leader. Best effort; zero values when it cannot
	// be told. About 12 µs: for the moment somebody asks, not for a loop.
	Foreground() Process
	// Cwd is the directory of what holds the terminal now, "" when it cannot be told: the part of
	// Foreground that a list of all sessions can afford.
	Cwd() string
	// Use says how the terminal is used now: by whom, in which mode, and whether they wait for input. Best effort; Told is
	// false when the system told nothing. About 50 µs: for the moment somebody asks.
	Use() TerminalUse
	// ForegroundGroup is the process group that holds the terminal, 0 when it cannot be told: one system call.
	ForegroundGroup() int
	// Wait waits for the program's end, reaps it and returns how it ended. Output may be unread still.
	// Every caller gets the same answer.
	Wait() domain.ExitStatus
	// Kill asks the program's process group, and the foreground one, to hang up; if the program
	// is still there when ctx ends they are killed outright. Returns once the program has ended;
	// of a program that the system will not end (another user's, or stuck in a device) the
	// terminal is closed as well, and Kill returns a few seconds after ctx.
	Kill(ctx context.Context)
	// Close gives the terminal back: the kernel hangs up on what still holds it.
	Close() error
}

// Process is what the system tells about a running process.
type Process struct {
	Pid  int
	Argv []string
	Cwd  string
}

// TerminalUse is what the system tells about the use of a terminal.
type TerminalUse struct {
	Pid       int      // of the foreground group's leader, which may have ended
	Argv      []string // its command line
	Told      bool
	Canonical bool // the kernel edits lines: the program gets them whole
	Echo      bool // the kernel shows what is typed
	Reads     bool // a process of the foreground group waits for input; never where the system does not tell
}

// Programs starts programs on pseudo-terminals.
type Programs interface {
	// Start runs cmd on a new terminal of the given size. The error is a fault whose message
	// names the command and whose hint says what to check.
	Start(cmd domain.Command, size domain.Size) (Program, error)
}
