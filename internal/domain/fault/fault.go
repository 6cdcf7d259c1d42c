package fault

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Kind says who can do something about a failure. The zero value is a bug of ours.
type Kind uint8

const (
	Internal     Kind = iota // our own mistake; the text is for the log
	Usage                    // the command line or request is wrong: change it
	NotFound                 // no such session, host, line: the hint names what there is
	Conflict                 // it exists already, or is in a state that forbids this
	Denied                   // not yours, or not with these rights
	Unavailable              // cannot be reached now: try again
	Limit                    // a bound of the limits table was met: the message names it
	Incompatible             // the two versions do not meet: both are named
	Violation                // the peer broke docs/protocol.md: the connection or stream ends
	Canceled                 // somebody asked to stop
	Timeout                  // a deadline passed; nothing else is known to be wrong
	Unsupported              // a known request that this build does not serve
	Unknown                  // the outcome is not known: the answer was lost
	kindEnd
)

// MaxText is the largest number of bytes of a message or hint that travels.
const MaxText = 512

var kindNames = [kindEnd]string{
	Internal: "internal", Usage: "usage", NotFound: "not found", Conflict: "conflict", Denied: "denied",
	Unavailable: "unavailable", Limit: "limit", Incompatible: "incompatible", Violation: "violation",
	Canceled: "canceled", Timeout: "timeout", Unsupported: "unsupported", Unknown: "outcome unknown",
}

func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k < kindEnd }

// Error is the one error type that carries a meaning. Everything else is wrapped with %w.
type Error struct {
	Kind  Kind
	Msg   string // what was wrong, without prefix or newline
	Hint  string // what to do next, or empty
	Peer  bool   // reported by the other side: its text is data, already cleaned
	Cause error  // local only, never travels, or nil
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Msg + ": " + e.Cause.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.Cause }

// New returns an error of kind k.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of kind k that keeps cause for the log.
func Wrap(k Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...), Cause: cause}
}

// WithHint returns e with a hint for the user.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// KindOf returns the kind of the first *Error in err's chain, Internal if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Clean makes text from a peer safe to show: control characters and bad UTF-8 become
// spaces, and at most MaxText bytes remain.
func Clean(text string) string {
	out := make([]byte, 0, min(len(text), MaxText))
	for _, r := range text {
		if r < 0x20 || r == utf8.RuneError || (r >= 0x7f && r < 0xa0) {
			r = ' '
		}
		if len(out)+utf8.RuneLen(r) > MaxText {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
