package ports

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
)

// Audit keeps a record of what was typed by request, not by an attached person. Any goroutine may call.
type Audit interface {
	// Record keeps one entry. It waits for the file system at the most; what cannot be kept is the implementation's to
	// report, and hinders nobody.
	Record(AuditEntry)
}

// AuditEntry is one input of a request.
type AuditEntry struct {
	At      time.Time
	Session domain.SessionID
	Name    string
	Author  string // as they say themselves
	Kind    string // type, keys, paste, run, lock or unlock
	Data    []byte // as it was asked for; the implementation decides what of it is kept
	Refused string // why nothing was typed, or empty
}
