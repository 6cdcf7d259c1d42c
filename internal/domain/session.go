package domain

import (
	"encoding/hex"
	"strconv"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// SessionID identifies a session for ever; names may change and come back.
type SessionID [16]byte

func (id SessionID) String() string { return hex.EncodeToString(id[:]) }

// ParseSessionID reads what String writes.
func ParseSessionID(text string) (id SessionID, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(id) {
		return SessionID{}, false
	}
	return SessionID(raw), true
}

// IsZero reports whether id names no session.
func (id SessionID) IsZero() bool { return id == SessionID{} }

// MaxNameBytes is the longest session name.
const MaxNameBytes = 64

// NameRule is the sentence shown when a name is refused.
const NameRule = "a session name is 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"

// CheckName returns a Usage fault unless name is a legal session name.
func CheckName(name string) error {
	if len(name) >= 1 && len(name) <= MaxNameBytes && alnum(name[0]) {
		ok := true
		for i := 1; i < len(name) && ok; i++ {
			c := name[i]
			ok = alnum(c) || c == '.' || c == '_' || c == '-'
		}
		if ok {
			return nil
		}
	}
	if len(name) > MaxNameBytes {
		return fault.New(fault.Usage, "session name of %d bytes is too long", len(name)).WithHint("%s", NameRule)
	}
	return fault.New(fault.Usage, "bad session name %q", name).WithHint("%s", NameRule)
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// LowestFree returns the lowest number, from 0, that is not taken as a name.
func LowestFree(taken func(name string) bool) string {
	for n := 0; ; n++ {
		if name := strconv.Itoa(n); !taken(name) {
			return name
		}
	}
}

// Nearest returns the name closest to want by edit distance, or "" when none is close
// enough to be what was meant.
func Nearest(want string, names []string) string {
	best, bestD := "", max(2, len(want)/2)+1
	for _, n := range names {
		if d := editDistance(want, n); d < bestD {
			best, bestD = n, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		diag := prev[0]
		prev[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = prev[j+1]
			prev[j+1] = min(cost, prev[j+1]+1, prev[j]+1)
		}
	}
	return prev[len(b)]
}

// Bounds of a terminal size, in cells.
const (
	MaxCols = 1000
	MaxRows = 500
)

// DefaultSize is the size of a session that no terminal has looked at.
var DefaultSize = Size{Cols: 80, Rows: 24}

// Size is a terminal size in cells.
type Size struct{ Cols, Rows int }

// Valid reports whether s lies within 1x1 and MaxColsxMaxRows.
func (s Size) Valid() bool {
	return s.Cols >= 1 && s.Cols <= MaxCols && s.Rows >= 1 && s.Rows <= MaxRows
}

func (s Size) String() string { return strconv.Itoa(s.Cols) + "x" + strconv.Itoa(s.Rows) }

// Command is what a session runs.
type Command struct {
	Argv []string // empty: the user's login shell
	Env  []string // KEY=VALUE, the client's environment; bounded by the limits table
	Dir  string   // absolute, or empty for the home directory
}

// ExitStatus says how a program ended.
type ExitStatus struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // the signal that ended it, or 0
}

// ShellCode is the status a shell would report: the code, or 128 + the signal.
func (s ExitStatus) ShellCode() int {
	if s.Signal != 0 {
		return 128 + int(s.Signal)
	}
	return s.Code
}

func (s ExitStatus) String() string {
	if s.Signal != 0 {
		return "signal " + s.Signal.String()
	}
	return "status " + strconv.Itoa(s.Code)
}

// SessionState is where a session is in its life.
type SessionState uint8

const (
	Running SessionState = iota
	Exited               // the program ended before anyone saw it; kept until looked at
)

func (s SessionState) String() string {
	if s == Exited {
		return "exited"
	}
	return "running"
}

// SessionInfo is one row of the list of sessions.
type SessionInfo struct {
	ID       SessionID
	Name     string
	State    SessionState
	Exit     ExitStatus // when State is Exited
	Attached int        // clients attached now
	Created  time.Time
	LastUsed time.Time // last attach, detach or input
	Pid      int       // of the program; 0 once it ended
	Command  []string
	Cwd      string
	Title    string
	Size     Size
	Policy   SizePolicy

	Condition  Condition // what it is doing; Since is zero where the daemon does not tell
	Generation uint64    // grows when another program or command gets the terminal
	Locked     bool      // only attached clients may type
}

// Origin is where a client runs, as it says itself.
type Origin struct {
	Terminal string // name of its terminal's kind
	Host     string
	Pid      int // 0: not known
}

// ClientInfo is one row of the list of attached clients.
type ClientInfo struct {
	ID          uint64 // of the client, among all of its daemon; never given twice
	Session     SessionID
	SessionName string
	Size        Size // of its terminal
	ReadOnly    bool
	Attached    time.Time
	LastActive  time.Time // last attach, input or focus
	Origin      Origin
}
