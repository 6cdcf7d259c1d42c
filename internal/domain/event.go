package domain

import "time"

// EventType says what happened in a session. The set is closed; numbers and names are never given anew.
type EventType uint8

// The types, with the fields of [Event] that they use.
const (
	EventCreated      EventType = iota + 1 // Text: the command
	EventRenamed                           // Name: the new one, Text: the old one
	EventAttached                          // Client
	EventDetached                          // Client
	EventResized                           // Size
	EventTitle                             // Text
	EventCwd                               // Text: path or file URL, as the program gave it
	EventBell                              // Count
	EventNotification                      // Title, Text
	EventClipboard                         // Text: the selections, Count: bytes; never what was copied
	EventProgress                          // Count: percent, -1: none
	EventPrompt                            // a shell prompts
	EventCommandStart                      // a command of a shell began
	EventCommandEnd                        // HasStatus, Status, Took
	EventStatus                            // Title: the program, Text: its state and message
	EventForeground                        // Text: the command line of what holds the terminal now
	EventActivity                          // output after silence
	EventIdle                              // no output for IdleAfter
	EventExited                            // HasStatus, Status: as a shell reports it
	EventLocked                            // Text: "locked" or "unlocked"
	EventLost                              // Count: of the program's, which said too much at once
	eventTypes
)

var eventNames = [eventTypes]string{
	"", "created", "renamed", "attached", "detached", "resized", "title", "cwd", "bell", "notification", "clipboard", "progress",
	"prompt", "command-start", "command-end", "status", "foreground", "activity", "idle", "exited", "lock", "lost",
}

func (t EventType) String() string {
	if t < eventTypes {
		return eventNames[t]
	}
	return ""
}

// Valid reports whether t is one of the types.
func (t EventType) Valid() bool { return t > 0 && t < eventTypes }

// EventSet is a set of types: bit n stands for type n.
type EventSet uint64

// With returns s and t.
func (s EventSet) With(t EventType) EventSet { return s | 1<<t }

// Has reports whether t is in s.
func (s EventSet) Has(t EventType) bool { return s>>t&1 != 0 }

// ParseEventType reads a type by its name.
func ParseEventType(name string) (EventType, bool) {
	for t := EventCreated; t < eventTypes; t++ {
		if eventNames[t] == name {
			return t, true
		}
	}
	return 0, false
}

// EventNames are the names of all types.
func EventNames() []string { return append([]string(nil), eventNames[1:]...) }

const (
	// MaxEventText bounds each text of an event; the daemon cuts what a program sends.
	MaxEventText = 1 << 10
	// IdleAfter is how long a session prints nothing until it is idle.
	IdleAfter = 3 * time.Second
)

// Event is something that happened in a session. Fields that its type does not name are zero.
type Event struct {
	// Seq is larger with each event of a daemon, and larger than those of the daemons that ran before it there.
	Seq       uint64
	At        time.Time
	Session   SessionID
	Name      string // of the session, then
	Type      EventType
	Title     string
	Text      string
	Count     int
	Client    uint64
	Size      Size
	HasStatus bool
	Status    int
	Took      time.Duration
}
