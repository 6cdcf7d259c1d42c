package ports

import "github.com/vev-term/vev/internal/domain"

// Agents keeps one place in the file system for each session where the ssh agent of whoever
// uses it is found: the sockets themselves come and go with logins. Any goroutine may call.
type Agents interface {
	// Path is the place of a session's agent, "" where the system cannot offer one.
	Path(domain.SessionID) string
	// Point makes the place lead to the socket at target; "" makes it lead nowhere, so that
	// nothing answers for a user who has gone.
	Point(id domain.SessionID, target string) error
}
