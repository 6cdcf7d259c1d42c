package streambus

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned by everything that a closed bus or subscription cannot do.
	ErrClosed = errors.New("streambus: closed")

	// ErrReplayUnavailable says that frames which Since asks for are gone, or may be. The error
	// that is it is a *ReplayError.
	ErrReplayUnavailable = errors.New("streambus: replay unavailable")
)

// ReplayError says why a replay would have a gap.
type ReplayError struct {
	Since    uint64 // what was asked for
	Earliest uint64 // the smallest Since that has no gap now
	Last     uint64 // the last sequence that was published
}

func (e *ReplayError) Error() string {
	if e.Since > e.Last {
		return fmt.Sprintf("streambus: replay unavailable: %d was never published here, the last is %d", e.Since, e.Last)
	}
	return fmt.Sprintf("streambus: replay unavailable: frames between %d and %d are gone", e.Since+1, e.Earliest)
}

// Is makes it ErrReplayUnavailable.
func (e *ReplayError) Is(target error) bool { return target == ErrReplayUnavailable }

// TopicError says which rule a topic or prefix breaks.
type TopicError struct {
	Topic  string
	Reason string
}

func (e *TopicError) Error() string {
	return fmt.Sprintf("streambus: topic %.64q: %s", e.Topic, e.Reason)
}

// PayloadError says that a payload is larger than the bus or reader takes.
type PayloadError struct {
	Size, Limit uint64 // bytes
}

func (e *PayloadError) Error() string {
	return fmt.Sprintf("streambus: a payload of %d bytes, the limit is %d", e.Size, e.Limit)
}

// OptionError says which option does not make sense.
type OptionError struct {
	Option string
	Reason string
}

func (e *OptionError) Error() string { return "streambus: " + e.Option + ": " + e.Reason }

// FormatError says how bytes are no message of the wire format.
type FormatError struct {
	Reason string
}

func (e *FormatError) Error() string { return "streambus: not a message: " + e.Reason }
