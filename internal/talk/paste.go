package talk

import (
	"io"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// Paste gives a session what from has, in chunks of what one input message holds. Two chunks are held, because the
// last one must be known as such before it is sent; the program's own pace is the only timeout. as makes the request of a chunk; nil: the chunk is it.
func (t *Talk) Paste(session string, from io.Reader, as func(*protocol.Paste) protocol.RequestBody) error {
	now, next := make([]byte, protocol.MaxInputBytes), make([]byte, protocol.MaxInputBytes)
	n, readErr := io.ReadFull(from, now)
	for begin := true; n > 0; begin = false {
		var ahead int
		if readErr == nil {
			ahead, readErr = io.ReadFull(from, next)
		}
		chunk := &protocol.Paste{Session: session, Data: now[:n], Begin: begin, End: ahead == 0}
		request := protocol.RequestBody(chunk)
		if as != nil {
			request = as(chunk)
		}
		if _, err := t.Ask(protocol.MaxWait, request); err != nil {
			return err
		}
		now, next, n = next, now, ahead
	}
	if readErr != io.EOF && readErr != io.ErrUnexpectedEOF {
		return fault.Wrap(fault.Internal, readErr, "the paste is not complete: cannot read on")
	}
	return nil
}
