package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

// clientDecoder reads what a client sends. Its messages are valid until the next call.
type clientDecoder struct {
	input protocol.Input
	ack   protocol.Ack
}

// decode returns the message of a frame; the error is a breach.
func (d *clientDecoder) decode(frame []byte) (protocol.SessionClientMessage, error) {
	tag, body, err := open(frame)
	if err != nil {
		return nil, err
	}
	switch tag {
	case tagInput:
		err = parseInput(body, &d.input)
		return &d.input, err
	case tagAck:
		err = parseAck(body, &d.ack)
		return &d.ack, err
	case tagResize:
		return read[protocol.SessionClientMessage](body, &resizeShape, new(protocol.Resize), visitResize, checkResize)
	case tagFocus:
		return read[protocol.SessionClientMessage](body, &emptyShape, new(protocol.Focus), visitFocus, nil)
	case tagDetach:
		return read[protocol.SessionClientMessage](body, &emptyShape, new(protocol.Detach), wirefmt.Empty, nil)
	case tagWatch:
		return read[protocol.SessionClientMessage](body, &watchShape, new(protocol.Watch), visitWatch, checkWatch)
	case tagCancel:
		return read[protocol.SessionClientMessage](body, &emptyShape, new(protocol.Cancel), visitCancel, nil)
	case tagAttach:
		return read[protocol.SessionClientMessage](body, &attachShape, new(protocol.Attach), visitAttach, checkAttach)
	case tagRequest:
		return read[protocol.SessionClientMessage](body, &requestShape, new(protocol.Request), visitRequest, checkRequest)
	}
	return nil, unknownTag(tag, "client")
}

// serverDecoder reads what a server sends. Its messages are valid until the next call.
type serverDecoder struct {
	lean   bool // bases are left out
	output protocol.Output
	layout protocol.Layout
}

// decode returns the message of a frame; the error is a breach.
func (d *serverDecoder) decode(frame []byte) (protocol.SessionServerMessage, error) {
	tag, body, err := open(frame)
	if err != nil {
		return nil, err
	}
	switch tag {
	case tagOutput:
		err = parseOutput(body, &d.output, &d.layout, d.lean)
		return &d.output, err
	case tagAttached:
		return read[protocol.SessionServerMessage](body, &attachedShape, new(protocol.Attached), visitAttached, checkAttached)
	case tagResult:
		return read[protocol.SessionServerMessage](body, &resultShape, new(protocol.Result), visitResult, checkResult)
	case tagEnded:
		return read[protocol.SessionServerMessage](body, &endedShape, new(protocol.Ended), visitEnded, checkEnded)
	case tagRefused:
		return read[protocol.SessionServerMessage](body, &refusedShape, new(protocol.Refused), visitRefused, nil)
	case tagWatching:
		return read[protocol.SessionServerMessage](body, &watchingShape, new(protocol.Watching), visitWatching, nil)
	case tagEvents:
		return read[protocol.SessionServerMessage](body, &eventsShape, new(protocol.WatchedEvents), visitWatchedEvents, checkEvents)
	case tagPreview:
		return read[protocol.SessionServerMessage](body, &previewShape, new(protocol.Preview), visitPreview, checkPreview)
	case tagUpdate:
		return read[protocol.SessionServerMessage](body, &updateShape, new(protocol.CatalogueUpdate), visitUpdate, checkUpdate)
	}
	return nil, unknownTag(tag, "server")
}

func unknownTag(tag wirefmt.Number, end string) error {
	return broken("message %d is none of a session %s", tag, end)
}

// read bounds the bytes, fills m from them and checks its values. m becomes an I.
func read[I, T any](
	body []byte, s *shape, m *T, visit func(*wirefmt.Fields, *T), check func(*T) error,
) (none I, err error) {
	if err := s.walk(body); err != nil {
		return none, err
	}
	out := wirefmt.Read(body, m, visit)
	switch {
	case out.Broken != nil:
		return none, broken("%s holds text that is not UTF-8, or is malformed", s.name)
	case out.Refused != nil:
		return none, out.Refused
	case check != nil:
		if err := check(m); err != nil {
			return none, err
		}
	}
	return any(m).(I), nil
}
