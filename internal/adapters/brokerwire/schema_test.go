package brokerwire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func (s sample) envelope() proto.Message {
	if s.client != nil {
		return new(wire.BrokerClientEnvelope)
	}
	return new(wire.BrokerServerEnvelope)
}

// The generated code finds nothing unknown in what we write, and writes the same bytes.
func TestBytesAreThoseOfTheSchema(t *testing.T) {
	for _, s := range samples() {
		b, err := s.append(nil)
		require.NoError(t, err)
		e := s.envelope()
		require.NoError(t, proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, e), s.name)
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, again, b, s.name)
	}
}

// What the generated code cannot read is refused, and nothing else for that reason.
func TestReadableIsWhatTheSchemaReads(t *testing.T) {
	all := samples()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "message")
		b, err := s.append(nil)
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b = changed(t, b)
		}
		sameAsSchema(t, s, b)
	})
}

// changed sets, inserts, drops or repeats something behind the tag.
func changed(t *rapid.T, b []byte) []byte {
	const tag = 2
	i := rapid.IntRange(tag, max(tag, len(b)-1)).Draw(t, "where")
	v := rapid.Byte().Draw(t, "byte")
	switch i = min(i, len(b)); rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		return append(append(bytes.Clone(b[:i]), v), b[min(i+1, len(b)):]...)
	case 1:
		return append(append(bytes.Clone(b[:i]), v), b[i:]...)
	case 2:
		return append(bytes.Clone(b[:i]), b[min(i+1, len(b)):]...)
	}
	return append(bytes.Clone(b), b[i:]...)
}

func sameAsSchema(t require.TestingT, s sample, b []byte) {
	_, err := s.decode(b)
	schema := proto.Unmarshal(b, s.envelope())
	if schema != nil {
		require.Error(t, err, "%s %x: %v", s.name, b, schema)
		return
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		require.NoError(t, e.Cause, "%s %x", s.name, b)
	}
}
