package brokerwire

import (
	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// checker keeps the first breach found while a message is turned into its typed form.
type checker struct {
	tag Tag
	err error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = violation("message %d: "+format, append([]any{c.tag}, args...)...)
	}
}

// read is the generated code's part: framing of fields and UTF-8.
func (c *checker) read(body []byte, m proto.Message) {
	if err := proto.Unmarshal(body, m); err != nil {
		c.err = fault.Wrap(fault.Violation, err, "message %d cannot be read", c.tag)
	}
}

func (c *checker) text(what, s string, limit int) string {
	if len(s) > limit {
		c.fail("%s of %d bytes is %d over the limit of %d", what, len(s), len(s)-limit, limit)
	}
	return s
}

func (c *checker) bytes(what string, b []byte, limit int) []byte {
	if len(b) > limit {
		c.fail("%s of %d bytes is %d over the limit of %d", what, len(b), len(b)-limit, limit)
	}
	return b
}

func (c *checker) count(what string, n, limit int) {
	if n > limit {
		c.fail("%d %s are %d over the limit of %d", n, what, n-limit, limit)
	}
}

// id is a 16-byte identity that must be there.
func (c *checker) id(what string, b []byte) (id [16]byte) {
	if len(b) != len(id) {
		c.fail("%s has %d bytes, must have %d", what, len(b), len(id))
		return id
	}
	copy(id[:], b)
	return id
}

// optionalID is an identity that may be absent: zero then.
func (c *checker) optionalID(what string, b []byte) [16]byte {
	if len(b) == 0 {
		return [16]byte{}
	}
	return c.id(what, b)
}

func (c *checker) scope(m *wire.Scope) protocol.Scope {
	if m == nil {
		c.fail("it has no scope")
		return protocol.Scope{}
	}
	return protocol.Scope{BrokerEpoch: m.GetBrokerEpoch(), Connection: c.id("connection id", m.GetConnectionId())}
}

func (c *checker) ref(m *wire.StreamRef) protocol.StreamRef {
	if m == nil {
		c.fail("it names no stream")
		return protocol.StreamRef{}
	}
	ref := protocol.StreamRef{Scope: c.scope(m.GetScope()), ID: protocol.StreamID(m.GetStreamId())}
	if ref.ID == 0 {
		c.fail("stream id 0; the first is 1")
	}
	return ref
}

// failure is nil where the field is absent. An unknown code becomes Internal when shown.
func (c *checker) failure(m *wire.Failure) *protocol.Failure {
	if m == nil {
		return nil
	}
	kind := fault.Internal
	if code := m.GetCode(); code <= 0xff && fault.Kind(code).Valid() {
		kind = fault.Kind(code)
	}
	return &protocol.Failure{
		Kind: kind,
		Text: c.text("failure text", m.GetText(), fault.MaxText),
		Hint: c.text("failure hint", m.GetHint(), fault.MaxText),
	}
}

func (c *checker) needFailure(m *wire.Failure) protocol.Failure {
	f := c.failure(m)
	if f == nil {
		c.fail("it has no failure")
		return protocol.Failure{}
	}
	return *f
}

func (c *checker) choice(what string, v, last uint32) uint32 {
	if v > last {
		c.fail("%s is %d, must be 0 to %d", what, v, last)
	}
	return v
}
