package sessionwire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// FuzzSessionClient: whatever comes from a client, decoding it does not panic; what decodes can
// be sent again and then decodes the same; the generated code agrees that it is a message.
func FuzzSessionClient(f *testing.F) {
	for _, m := range goldenClient() {
		frame, err := appendClient(nil, m)
		require.NoError(f, err)
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := new(clientDecoder).decode(frame)
		readsAs(t, frame, new(wire.SessionClientEnvelope), err)
		if err != nil {
			require.IsType(t, (*breach)(nil), err)
			return
		}
		again, err := appendClient(nil, m)
		require.NoError(t, err)
		got, err := new(clientDecoder).decode(again)
		require.NoError(t, err)
		require.Equal(t, m, got)

		env := new(wire.SessionClientEnvelope)
		require.NoError(t, proto.Unmarshal(frame, env))
		switch m := m.(type) {
		case *protocol.Input:
			require.Equal(t, m, &protocol.Input{Seq: env.GetInput().GetSeq(), Data: env.GetInput().GetData()})
		case *protocol.Ack:
			a := env.GetAck()
			require.Equal(t, m, &protocol.Ack{Epoch: a.GetEpoch(), State: a.GetState(), EventSeq: a.GetEventSeq(), Held: time.Duration(min(a.GetHeldUs(), uint64(time.Hour/time.Microsecond))) * time.Microsecond})
		}
	})
}

// FuzzSessionServer is the same for what comes from a server.
func FuzzSessionServer(f *testing.F) {
	for _, m := range goldenServer() {
		frame, err := appendServer(nil, m)
		require.NoError(f, err)
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := new(serverDecoder).decode(frame)
		readsAs(t, frame, new(wire.SessionServerEnvelope), err)
		if err != nil {
			require.IsType(t, (*breach)(nil), err)
			return
		}
		m = withoutEmpty(m)
		again, err := appendServer(nil, m)
		require.NoError(t, err)
		got, err := new(serverDecoder).decode(again)
		require.NoError(t, err)
		require.Equal(t, m, withoutEmpty(got))

		env := new(wire.SessionServerEnvelope)
		require.NoError(t, proto.Unmarshal(frame, env))
		if m, ok := m.(*protocol.Output); ok {
			require.Equal(t, m, outputOf(env.GetOutput()))
		}
	})
}
