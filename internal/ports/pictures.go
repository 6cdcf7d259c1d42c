package ports

import (
	"context"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// Session is one that can be looked at.
type Session struct {
	Address domain.Address
	ID      domain.SessionID
	Title   string // of its window, without control characters
	State   string // in a word, where it is not simply running
}

// Sessions tells which sessions there are. For one goroutine.
type Sessions interface {
	// Next returns all sessions, in the order in which they are to be shown: at first as soon as they are known, then when
	// something has changed. It waits until ctx ends. Errors are faults; none is worth another try.
	Next(ctx context.Context) ([]Session, error)
}

// Pictures gives live pictures of sessions. Any goroutine may call.
type Pictures interface {
	// Look asks for pictures of a session, drawn for a terminal of that size, which must be valid: the part of the session's screen
	// with the cursor. It waits for the broker, not for a picture. Errors are faults. The caller closes the stream.
	Look(ctx context.Context, host domain.Host, id domain.SessionID, size domain.Size) (PictureStream, error)
}

// PictureStream is the pictures of one session. One goroutine calls Next; Close may be called from any.
type PictureStream interface {
	// Next waits for a picture that differs from the last one it returned, and returns the newest: bytes that make a
	// fresh canonical terminal of the size that was asked for show it. Unblocked by ctx and Close. The error, a fault, is
	// final: NotFound when the session is gone.
	Next(ctx context.Context) ([]byte, error)
	Close() error
}

// PreviewRequest is a client that asks a broker for pictures of a session. Whoever serves it shows them from one goroutine.
type PreviewRequest interface {
	// Asked is what it is about. Its size need not be valid.
	Asked() protocol.StartPreview
	// Show gives the client a picture, of at most protocol.MaxPreviewBytes; it waits while the client takes nothing. Canceled: the client
	// has had enough, or is gone. Unblocked by that. The content is the caller's again on return.
	Show(content []byte) error
	// End tells the client why no more come, unless it knows. It does not wait.
	End(why protocol.Failure)
}
