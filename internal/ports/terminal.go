package ports

import "github.com/vev-term/vev/internal/domain"

// Terminal is the user's own terminal. One goroutine reads, one writes.
type Terminal interface {
	// Raw puts the terminal in raw mode; Restore undoes it. Each may be called again.
	Raw() error
	// Read returns what the terminal sends, unchanged. Unblocked by Close.
	Read(p []byte) (int, error)
	// Write sends bytes to the terminal; it waits while the terminal takes none.
	Write(p []byte) (int, error)
	// Size is the size in cells now.
	Size() (domain.Size, error)
	// Restore puts the modes back as they were found. Safe at any time, from any goroutine.
	Restore() error
	// Close restores and releases the terminal; a blocked Read returns an error.
	Close() error
}
