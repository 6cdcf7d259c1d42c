package mcp

import "time"

const (
	// MaxMade is how many sessions one server may make.
	MaxMade = 64
	// MaxText is the longest text of one call to type or run, in bytes.
	MaxText = 64 << 10
	// MaxPaste is the longest text of one call to paste.
	MaxPaste = 1 << 20
	// MaxKeys is how many keys one call may press.
	MaxKeys = 256
	// MaxHistory is how many lines of history one call may read.
	MaxHistory = 5000
	// MaxAnswer is how many bytes of text one answer carries; the newest are kept, and the answer says so.
	MaxAnswer = 256 << 10
	// MaxEvents is how many events one answer tells.
	MaxEvents = 256
	// MaxWait is how long a call may wait for something.
	MaxWait = 10 * time.Minute
	// DefaultWait is how long it waits if it does not say.
	DefaultWait = time.Minute
	// maxLine bounds one message of the caller: a paste whose every byte is escaped, and what is around it.
	maxLine = 8 << 20
)
