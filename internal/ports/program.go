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
	// Read returns output as it comes, at most 4 KiB or so at a time on Linux. io.EOF: every
	// process that held the terminal has closed it and all output was read.
	Read(p []byte) (int, error)
	// Write gives input to the terminal. It waits while the program does not read.
	Write(p []byte) (int, error)
	// Resize sets the terminal's size; the kernel tells the program.
	Resize(domain.Size) error
	// Pid is the process id of the program; it is also its process group and session.
	Pid() int
	// Foreground says what holds the terminal now: command line and directory of the
	// foreground process group's leader. Best effort; zero values when it cannot be told.
	Foreground() Process
	// Wait waits for the program's end, reaps it and returns how it ended. Output may be unread still.
	// Every caller gets the same answer.
	Wait() domain.ExitStatus
	// Kill asks the program's process group, and the foreground one, to hang up; if the program
	// is still there when ctx ends they are killed outright. Returns once the program has ended.
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

// Programs starts programs on pseudo-terminals.
type Programs interface {
	// Start runs cmd on a new terminal of the given size. The error is a fault whose message
	// names the command and whose hint says what to check.
	Start(cmd domain.Command, size domain.Size) (Program, error)
}
