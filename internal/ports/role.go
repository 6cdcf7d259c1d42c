package ports

import "context"

// RoleRunner runs a role of vev's on other machines. Any goroutine may call its methods.
type RoleRunner interface {
	// RunRole runs `vev ROLE` on a host and returns the first line that it prints, without its end. What has to be asked of
	// a person goes to ask, as with LinkDialer. Errors are faults: those of LinkDialer; Unsupported where the vev there does
	// not know the role; Violation for a line of more than most bytes. The caller clears a line that holds a secret.
	RunRole(ctx context.Context, host, role string, most int, ask Ask) (line []byte, err error)
}
