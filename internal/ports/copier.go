package ports

import "context"

// Copier gives text to the user's clipboard by a way of its own, beside the terminal's. Any goroutine may call.
type Copier interface {
	// Copy hands text over, as it is; unblocked by the context. The fault says what the user can do.
	Copy(ctx context.Context, text []byte) error
}
