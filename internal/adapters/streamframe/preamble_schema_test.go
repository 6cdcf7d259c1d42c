package streamframe

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

func drawHello(t *rapid.T) protocol.Hello {
	u := func(what string) uint32 { return rapid.Uint32().Draw(t, what) }
	return protocol.Hello{
		Magic: u("magic"), Epoch: u("epoch"), MinVersion: u("least"), MaxVersion: u("most"), Role: protocol.Role(u("role")),
		MaxEnvelope: u("envelope"), MaxChunk: u("chunk"), Features: rapid.Uint64().Draw(t, "features"),
		Software: rapid.String().Draw(t, "software"),
	}
}

func schemaHello(h protocol.Hello) *wire.PreambleRequest {
	return wire.PreambleRequest_builder{
		Magic: h.Magic, Epoch: h.Epoch, MinVersion: h.MinVersion, MaxVersion: h.MaxVersion, Role: uint32(h.Role),
		MaxEnvelopeBytes: h.MaxEnvelope, MaxChunkBytes: h.MaxChunk, Features: h.Features, Software: fault.Clean(h.Software),
	}.Build()
}

func marshalled(t require.TestingT, m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	return b
}

func written(t require.TestingT, encode Encode) []byte {
	b, err := encode(nil)
	require.NoError(t, err)
	return b
}

// The bytes of the preamble are those of the generated code, field for field.
func TestPreambleIsTheSchemas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHello(t)
		b := written(t, encodeHello(h))
		require.Equal(t, string(marshalled(t, schemaHello(h))), string(b))
		got, rejection := decodeHello(b, h)
		require.Nil(t, rejection)
		h.Software = fault.Clean(h.Software)
		require.Equal(t, h, got)

		require.Equal(t, string(marshalled(t, wire.PreambleResponse_builder{
			Magic: h.Magic,
			Accepted: wire.PreambleAccepted_builder{
				Epoch: h.Epoch, Version: h.MaxVersion, Role: uint32(h.Role), MaxEnvelopeBytes: h.MaxEnvelope, MaxChunkBytes: h.MaxChunk,
				Features: h.Features, Software: h.Software,
			}.Build(),
		}.Build())), string(written(t, encodeAgreed(h, &protocol.Agreed{
			Version: h.MaxVersion, MaxEnvelope: h.MaxEnvelope, MaxChunk: h.MaxChunk, Features: h.Features,
		}))))

		r := protocol.Rejection{
			Code: protocol.RejectCode(h.Epoch), MinVersion: h.MinVersion, MaxVersion: h.MaxVersion,
			Text: rapid.String().Draw(t, "text"), Software: h.Software,
		}
		b = written(t, encodeRejection(&r))
		r.Text = fault.Clean(r.Text)
		require.Equal(t, string(marshalled(t, wire.PreambleResponse_builder{
			Magic: protocol.Magic,
			Rejected: wire.PreambleRejected_builder{
				Code: uint32(r.Code), MinVersion: r.MinVersion, MaxVersion: r.MaxVersion, Text: r.Text, Software: r.Software,
			}.Build(),
		}.Build())), string(b))
		_, back, err := decodeAnswer(b, protocol.NewHello(protocol.BrokerClient, ""))
		require.NoError(t, err)
		require.Equal(t, r, *back)
	})
}

// What the generated code cannot read is refused; what it reads is read to the same values.
func TestPreambleReadsAsTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := marshalled(t, schemaHello(drawHello(t)))
		b = append(b, 10<<3, 1) // a field of a newer peer
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "where")] = rapid.Byte().Draw(t, "byte")
		}
		want := new(wire.PreambleRequest)
		var h protocol.Hello
		out := wirefmt.Read(b, &h, visitHello)
		if err := proto.Unmarshal(b, want); err != nil {
			require.Error(t, out.Broken, "%v", err)
			return
		}
		require.NoError(t, out.Broken)
		require.Equal(t, len(want.ProtoReflect().GetUnknown()) > 0, out.Unknown)
		want.ProtoReflect().SetUnknown(nil)
		again, err := wirefmt.Append(nil, &h, visitHello)
		require.NoError(t, err)
		require.Equal(t, string(marshalled(t, want)), string(again))
	})
}

func TestAnAnswerHasOneOutcome(t *testing.T) {
	accepted := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), nil)
	rejected := protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), nil)
	for what, b := range map[string][]byte{
		"both": append(accepted[:2:2], rejected...), "accepted twice": append(accepted[:2:2], accepted...),
		"rejected twice": append(rejected[:2:2], rejected...),
	} {
		_, rejection, err := decodeAnswer(b, protocol.NewHello(protocol.BrokerClient, ""))
		require.Nil(t, rejection, what)
		require.Equal(t, fault.Violation, fault.KindOf(err), what)
		require.ErrorContains(t, err, "second variant", what)
	}
}
