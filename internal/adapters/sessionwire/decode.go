package sessionwire

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
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
		return decodeAs(body, resizeShape, new(wire.Resize), decodeResize)
	case tagDetach:
		return decodeAs(body, emptyShape, new(wire.Detach), decodeDetach)
	case tagWatch:
		return decodeAs(body, emptyShape, new(wire.Watch), decodeWatch)
	case tagCancel:
		return decodeAs(body, emptyShape, new(wire.Cancel), decodeCancel)
	case tagAttach:
		return decodeAs(body, attachShape, new(wire.Attach), decodeAttach)
	case tagRequest:
		return decodeAs(body, requestShape, new(wire.Request), decodeRequest)
	}
	return nil, unknownTag(tag, "client")
}

// serverDecoder reads what a server sends. Its messages are valid until the next call.
type serverDecoder struct {
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
		err = parseOutput(body, &d.output, &d.layout)
		return &d.output, err
	case tagAttached:
		return decodeAs(body, attachedShape, new(wire.Attached), decodeAttached)
	case tagResult:
		return decodeAs(body, resultShape, new(wire.Result), decodeResult)
	case tagEnded:
		return decodeAs(body, endedShape, new(wire.Ended), decodeEnded)
	case tagRefused:
		return decodeAs(body, refusedShape, new(wire.Refused), decodeRefused)
	}
	return nil, unknownTag(tag, "server")
}

func unknownTag(tag protowire.Number, end string) error {
	return broken("message %d is none of a session %s", tag, end)
}

// decodeAs bounds the bytes, has the generated code read them, and converts.
func decodeAs[W proto.Message, M any](body []byte, s *shape, w W, convert func(W) (M, error)) (m M, err error) {
	if err := s.walk(body); err != nil {
		return m, err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, w); err != nil {
		return m, broken("%s holds text that is not UTF-8, or is malformed", s.name)
	}
	return convert(w)
}
