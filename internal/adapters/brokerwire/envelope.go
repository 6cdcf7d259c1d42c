package brokerwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
)

// Tag is the field number of a message within its direction's envelope. Tags are frozen.
type Tag = wirefmt.Number

// Tags of messages from client to broker.
const (
	TagRegister Tag = iota + 101
	TagSubscribe
	TagResync
	TagUnsubscribe
	TagAddHost
	TagRemoveHost
	TagReconcile
	TagOpenStream
	TagClientStreamData
	TagCloseStream
	TagUpdateHostPolicy
	TagStartPreview
	TagCancelPreview
	TagClientWindowUpdate
	TagPromptReply
	TagStatsRequest
	TagPing
	clientTagsEnd
)

// Tags of messages from broker to client.
const (
	TagRegistered Tag = iota + 201
	TagSnapshotPart
	TagOperationResult
	TagStreamOpened
	TagServerStreamData
	TagStreamClosed
	TagProgress
	TagBrokerError
	TagShutdown
	TagPreviewPublication
	TagServerWindowUpdate
	TagSnapshotDelta
	TagPrompt
	TagBrokerStats
	TagPong
	TagLinkReport
	serverTagsEnd
)

func isClientTag(t Tag) bool { return t >= TagRegister && t < clientTagsEnd }
func isServerTag(t Tag) bool { return t >= TagRegistered && t < serverTagsEnd }

func violation(format string, args ...any) *fault.Error {
	return fault.New(fault.Violation, format, args...)
}

// open takes an envelope apart: exactly one field, length-delimited, nothing behind it. ours
// says which tags this direction has, theirs the other one's.
func open(body []byte, ours, theirs func(Tag) bool) (Tag, []byte, error) {
	tag, kind, n := wirefmt.ConsumeTag(body)
	switch {
	case n < 0:
		return 0, nil, violation("the envelope begins with no field")
	case streamframe.IsPreamble(body):
		return 0, nil, violation("a second preamble")
	case theirs(tag):
		return 0, nil, violation("message %d in the wrong direction", tag)
	case !ours(tag):
		return 0, nil, violation("unknown message %d", tag)
	case kind != wirefmt.Bytes:
		return 0, nil, violation("message %d has wire type %d, must be %d", tag, kind, wirefmt.Bytes)
	}
	size, m := wirefmt.ConsumeVarint(body[n:])
	if m < 0 {
		return 0, nil, violation("message %d has no length", tag)
	}
	rest := body[n+m:]
	switch {
	case size > uint64(len(rest)):
		return 0, nil, violation("message %d of %d bytes is %d longer than its envelope", tag, size, size-uint64(len(rest)))
	case size < uint64(len(rest)):
		return 0, nil, violation("%d bytes follow message %d in its envelope", uint64(len(rest))-size, tag)
	}
	return tag, rest, nil
}
