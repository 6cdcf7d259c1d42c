package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/squeeze"
	"github.com/vev-term/vev/internal/protocol"
)

// squeezer is one end of a connection's squeezed envelopes: of a server owned by the holder of the slot, of a client by the
// receiver.
type squeezer struct {
	model *squeeze.Model // nil before the first
	out   []byte
}

func (s *squeezer) ready() *squeeze.Model {
	if s.model == nil {
		s.model = squeeze.New()
	}
	return s.model
}

// squeeze replaces the envelope at the end of b, from at on. What it returns must be sent: the model has learned.
func (s *squeezer) squeeze(b []byte, at int) []byte {
	s.out = s.ready().Append(s.out[:0], b[at:])
	return appendData(appendHead(b[:at], tagSqueezed, sizeData(1, s.out)), 1, s.out)
}

// expand returns the envelope that body, a Squeezed message, stands for; it is valid until the next call.
func (s *squeezer) expand(body []byte) ([]byte, error) {
	code, err := parseSqueezed(body)
	if err != nil {
		return nil, err
	}
	out, ok := s.ready().Expand(s.out[:0], code, envelopeSize)
	s.out = out
	if !ok {
		return nil, broken("a squeezed envelope of %d bytes cannot be read", len(code))
	}
	return out, nil
}

// maxHead is the longest head of an envelope that may be squeezed.
const maxHead = 4

// envelopeSize says from its first bytes how long an envelope is, head included; 0: that takes more of them, negative: it is
// none, or too long.
func envelopeSize(head []byte) int {
	_, typ, n := wirefmt.ConsumeTag(head)
	if n < 0 {
		return moreHead(head)
	}
	length, m := wirefmt.ConsumeVarint(head[n:])
	if m < 0 {
		return moreHead(head)
	}
	if typ != wirefmt.Bytes || length > protocol.MaxSqueezedBytes || n+m+int(length) > protocol.MaxSqueezedBytes {
		return -1
	}
	return n + m + int(length)
}

func moreHead(head []byte) int {
	if len(head) == maxHead {
		return -1
	}
	return 0
}

// parseSqueezed returns the code in a Squeezed message.
func parseSqueezed(body []byte) (code []byte, err error) {
	c := cursor{what: "squeezed", b: body}
	for {
		more, err := c.next()
		switch {
		case err != nil || !more:
			return code, err
		case c.isData(1):
			code = c.data
		}
	}
}

// maySqueeze reports whether the client expands, and adds what a lean Output leaves out.
func maySqueeze(a protocol.Agreed) bool { return a.Features&protocol.FeatureSqueezed != 0 }

// appendLean appends the envelope of an Output without the base that follows from its number.
func appendLean(b []byte, m *protocol.Output) ([]byte, error) {
	if err := checkOutput(m); err != nil {
		return b, err
	}
	lean := *m
	lean.Base = 0
	return appendOutput(b, &lean), nil
}
