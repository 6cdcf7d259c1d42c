package sessionwire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// changed sets, inserts, drops or repeats something behind the first two bytes.
func changed(t *rapid.T, b []byte) []byte {
	i := min(rapid.IntRange(2, max(2, len(b)-1)).Draw(t, "where"), len(b))
	v := rapid.Byte().Draw(t, "byte")
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		return append(append(bytes.Clone(b[:i]), v), b[min(i+1, len(b)):]...)
	case 1:
		return append(append(bytes.Clone(b[:i]), v), b[i:]...)
	case 2:
		return append(bytes.Clone(b[:i]), b[min(i+1, len(b)):]...)
	}
	return append(bytes.Clone(b), b[i:]...)
}

// readsAs: what the generated code cannot read is refused, and nothing else for that reason.
func readsAs(t require.TestingT, frame []byte, env proto.Message, err error) {
	if schema := proto.Unmarshal(frame, env); schema != nil {
		require.Error(t, err, "%x: %v", frame, schema)
	} else if err != nil {
		require.False(t, strings.HasSuffix(err.Error(), "or is malformed"), "%x", frame)
	}
}

func TestReadableIsWhatTheSchemaReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame, err := appendClient(nil, genClient().Draw(t, "client's"))
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			frame = changed(t, frame)
		}
		_, err = new(clientDecoder).decode(frame)
		readsAs(t, frame, new(wire.SessionClientEnvelope), err)
	})
	rapid.Check(t, func(t *rapid.T) {
		frame, err := appendServer(nil, genServer().Draw(t, "server's"))
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			frame = changed(t, frame)
		}
		_, err = new(serverDecoder).decode(frame)
		readsAs(t, frame, new(wire.SessionServerEnvelope), err)
	})
}

// A request may be served while the next message is read.
func TestRequestsKeepNothingOfTheFrame(t *testing.T) {
	for _, body := range []protocol.RequestBody{
		&protocol.Type{Session: "work", Data: []byte("abc")}, &protocol.Paste{Session: "work", Data: []byte("abc")},
	} {
		frame, err := appendClient(nil, &protocol.Request{ID: 1, Body: body})
		require.NoError(t, err)
		m, err := new(clientDecoder).decode(frame)
		require.NoError(t, err)
		clear(frame)
		require.Equal(t, body, m.(*protocol.Request).Body)
	}
}
