package sessionwire

import (
	"fmt"

	"github.com/vev-term/vev/internal/domain/fault"
)

// breach is a message that docs/protocol.md does not allow, before anybody knows whose it is.
type breach struct {
	limit bool // a bound was met; else the message is wrong in itself
	msg   string
}

func (b *breach) Error() string { return b.msg }

func broken(format string, args ...any) error {
	return &breach{msg: fmt.Sprintf(format, args...)}
}

// tooLong says that something has n bytes of at most limit.
func tooLong(what string, n, limit int) error {
	return &breach{limit: true, msg: fmt.Sprintf("%s of %d bytes is %d over the limit of %d", what, n, n-limit, limit)}
}

// tooMany says that something was given at least n times, of at most limit.
func tooMany(what string, n, limit int) error {
	return &breach{limit: true, msg: fmt.Sprintf("%s: %d given, %d over the limit of %d", what, n, n-limit, limit)}
}

// outside says that a value is not between low and high.
func outside(what string, v, low, high int64) error {
	return &breach{limit: true, msg: fmt.Sprintf("%s is %d, must be %d to %d", what, v, low, high)}
}

// received is the breach of a peer: it ends the conversation.
func received(err error) error {
	return fault.New(fault.Violation, "%s", err.Error())
}

// refusedToSend is our own breach, found before a byte was sent. rest is the kind of what is
// no matter of limits.
func refusedToSend(err error, rest fault.Kind) error {
	kind := rest
	if b, ok := err.(*breach); ok && b.limit {
		kind = fault.Limit
	}
	return fault.New(kind, "%s", err.Error())
}
