package ports

import "github.com/vev-term/vev/internal/domain"

// TerminalEvent is something the system tells about the user's terminal. The set is closed;
// the zero value is no event.
type TerminalEvent uint8

const (
	TerminalResized   TerminalEvent = iota + 1 // the size changed: ask Size
	TerminalSuspend                            // somebody asks for a stop: leave the screen, then call Suspend
	TerminalResumed                            // running again after a stop of any kind: Raw, then draw everything
	TerminalHungUp                             // the terminal is gone
	TerminalTerminate                          // somebody asks for the end of this program
)

func (e TerminalEvent) String() string {
	switch e {
	case TerminalResized:
		return "resized"
	case TerminalSuspend:
		return "suspend"
	case TerminalResumed:
		return "resumed"
	case TerminalHungUp:
		return "hung up"
	case TerminalTerminate:
		return "terminate"
	}
	return "no event"
}

// Terminal is the user's own terminal. One goroutine reads, one writes, any may call the rest.
type Terminal interface {
	// Raw puts the terminal in raw mode; Restore undoes it. Each may be called again: Raw after
	// TerminalResumed sets the modes anew, whatever was done to them meanwhile. A terminal that
	// is gone has none, which is no error of either: Read tells it.
	Raw() error
	// Read returns what the terminal sends, unchanged. io.EOF or an error: the terminal is gone.
	// Unblocked by Close.
	Read(p []byte) (int, error)
	// Write sends bytes to the terminal; it waits while the terminal takes none. All of p was
	// written, or there is an error. Unblocked by Close.
	Write(p []byte) (int, error)
	// Size is the size in cells now; domain.DefaultSize when the terminal does not know its own.
	Size() (domain.Size, error)
	// Events tells what happens to the terminal, from the moment it was opened. Each event waits
	// for its reader at most once: what repeats before it is read is told once. Closed by Close.
	Events() <-chan TerminalEvent
	// Suspend restores the modes and stops this program's job, as the suspend key does. It
	// returns when the job runs again; TerminalResumed follows. The fault is Unsupported when no
	// shell is there to continue the job. The caller has left the alternate screen before.
	Suspend() error
	// Restore puts the modes back as they were found. Safe at any time, from any goroutine. It
	// changes nothing while another job owns the terminal: that job's modes are not ours.
	Restore() error
	// Close restores and releases the terminal and its signals; a blocked Read returns an error.
	Close() error
}
