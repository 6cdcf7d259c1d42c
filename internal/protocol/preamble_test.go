package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

var roles = []protocol.Role{protocol.SessionClient, protocol.SessionServer, protocol.BrokerClient, protocol.BrokerServer}

func TestRolesMeetTheirPeers(t *testing.T) {
	for _, r := range roles {
		require.NotEqual(t, r, r.Peer())
		require.Equal(t, r, r.Peer().Peer(), r.String())
	}
	require.Zero(t, protocol.Role(0).Peer())
	require.Zero(t, protocol.Role(5).Peer())
	require.Equal(t, "role 5", protocol.Role(5).String())
}

// offer is a client's hello to a session server with versions 3 to 5.
func offer(change func(*protocol.Hello)) protocol.Hello {
	h := protocol.NewHello(protocol.SessionClient, "vev/2")
	h.MinVersion, h.MaxVersion = 3, 5
	if change != nil {
		change(&h)
	}
	return h
}

func ours() protocol.Hello {
	h := protocol.NewHello(protocol.SessionServer, "vev/1")
	h.MinVersion, h.MaxVersion, h.Features = 3, 5, 0b1100
	return h
}

func TestWhatIsAgreed(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*protocol.Hello)
		want   protocol.Agreed
	}{
		"equal": {nil, protocol.Agreed{Version: 5, MaxEnvelope: 16 << 20, MaxChunk: 64 << 10, Software: "vev/2"}},
		"an older peer": {
			func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 1, 3 },
			protocol.Agreed{Version: 3, MaxEnvelope: 16 << 20, MaxChunk: 64 << 10, Software: "vev/2"},
		},
		"a newer peer": {
			func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 5, 9 },
			protocol.Agreed{Version: 5, MaxEnvelope: 16 << 20, MaxChunk: 64 << 10, Software: "vev/2"},
		},
		"the smallest ceilings": {
			func(h *protocol.Hello) {
				h.MaxEnvelope, h.MaxChunk = protocol.MinEnvelopeCeiling, protocol.MinChunkCeiling
			},
			protocol.Agreed{Version: 5, MaxEnvelope: 1 << 20, MaxChunk: 1 << 10, Software: "vev/2"},
		},
		"features of both, and unknown ones": {
			func(h *protocol.Hello) { h.Features = 1<<63 | 0b0110 },
			protocol.Agreed{Version: 5, MaxEnvelope: 16 << 20, MaxChunk: 64 << 10, Features: 0b0100, Software: "vev/2"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			agreed, rejection := protocol.Negotiate(ours(), offer(c.change))
			require.Nil(t, rejection)
			require.Equal(t, c.want, *agreed)
		})
	}
}

func TestWhatIsRejected(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*protocol.Hello)
		code   protocol.RejectCode
		text   string
	}{
		"magic":      {func(h *protocol.Hello) { h.Magic++ }, 1, "magic is 0x56455632, must be 0x56455631"},
		"epoch":      {func(h *protocol.Hello) { h.Epoch = 2 }, 2, "epoch is 2, must be 1"},
		"too old":    {func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 1, 2 }, 3, "versions 1 to 2 and 3 to 5 do not meet"},
		"too new":    {func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 6, 7 }, 3, "versions 6 to 7 and 3 to 5 do not meet"},
		"same role":  {func(h *protocol.Hello) { h.Role = protocol.SessionServer }, 4, "session server called a session server"},
		"other role": {func(h *protocol.Hello) { h.Role = protocol.BrokerClient }, 4, "broker client called a session server"},
		"no role":    {func(h *protocol.Hello) { h.Role = 0 }, 4, "role 0 called a session server"},
		"empty range": {
			func(h *protocol.Hello) { h.MinVersion, h.MaxVersion = 5, 4 }, 7, "version range 5 to 4 is empty",
		},
		"envelope too small": {
			func(h *protocol.Hello) { h.MaxEnvelope = protocol.MinEnvelopeCeiling - 1 },
			7, "envelope ceiling is 1048575, must be 1048576 to 16777216",
		},
		"envelope too large": {
			func(h *protocol.Hello) { h.MaxEnvelope = protocol.MaxEnvelopeBytes + 1 },
			7, "envelope ceiling is 16777217, must be 1048576 to 16777216",
		},
		"chunk too small": {
			func(h *protocol.Hello) { h.MaxChunk = protocol.MinChunkCeiling - 1 }, 7, "chunk ceiling is 1023, must be 1024 to 65536",
		},
		"chunk too large": {
			func(h *protocol.Hello) { h.MaxChunk = protocol.MaxChunkBytes + 1 }, 7, "chunk ceiling is 65537, must be 1024 to 65536",
		},
	} {
		t.Run(what, func(t *testing.T) {
			agreed, rejection := protocol.Negotiate(ours(), offer(c.change))
			require.Nil(t, agreed)
			require.Equal(t, protocol.Rejection{Code: c.code, MinVersion: 3, MaxVersion: 5, Text: c.text, Software: "vev/1"}, *rejection)
		})
	}
}

func genHello(role protocol.Role) *rapid.Generator[protocol.Hello] {
	return rapid.Custom(func(t *rapid.T) protocol.Hello {
		h := protocol.NewHello(role, "vev")
		h.MinVersion = rapid.Uint32Range(1, 6).Draw(t, "min")
		h.MaxVersion = rapid.Uint32Range(h.MinVersion, 8).Draw(t, "max")
		h.MaxEnvelope = rapid.Uint32Range(protocol.MinEnvelopeCeiling, protocol.MaxEnvelopeBytes).Draw(t, "envelope")
		h.MaxChunk = rapid.Uint32Range(protocol.MinChunkCeiling, protocol.MaxChunkBytes).Draw(t, "chunk")
		h.Features = rapid.Uint64().Draw(t, "features")
		return h
	})
}

func TestNegotiationIsFairToBothSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom(roles).Draw(t, "role")
		a, b := genHello(role).Draw(t, "a"), genHello(role.Peer()).Draw(t, "b")
		agreed, rejection := protocol.Negotiate(a, b)
		turned, refused := protocol.Negotiate(b, a)
		require.Equal(t, rejection == nil, refused == nil, "who answers decides nothing")
		if rejection != nil {
			require.Nil(t, agreed)
			require.Equal(t, protocol.RejectVersion, rejection.Code)
			require.True(t, a.MaxVersion < b.MinVersion || b.MaxVersion < a.MinVersion)
			return
		}
		require.Equal(t, agreed, turned)
		v := agreed.Version
		require.True(t, a.MinVersion <= v && v <= a.MaxVersion && b.MinVersion <= v && v <= b.MaxVersion, "both speak it")
		require.True(t, v+1 > a.MaxVersion || v+1 > b.MaxVersion, "no higher one is common")
		require.True(t, agreed.MaxEnvelope <= a.MaxEnvelope && agreed.MaxEnvelope <= b.MaxEnvelope)
		require.True(t, agreed.MaxChunk <= a.MaxChunk && agreed.MaxChunk <= b.MaxChunk)
		require.Equal(t, a.Features&b.Features, agreed.Features)
	})
}

func TestARejectionNamesBothSides(t *testing.T) {
	for what, c := range map[string]struct {
		rejection protocol.Rejection
		kind      fault.Kind
		msg, hint string
	}{
		"the other side is older": {
			protocol.Rejection{Code: protocol.RejectVersion, MinVersion: 1, MaxVersion: 2, Text: "versions do not meet", Software: "vev/0.1"},
			fault.Incompatible, "vev/0.1 speaks versions 1 to 2, this is vev/2 with versions 3 to 5: versions do not meet",
			"the other side is older: end its sessions and restart it, or upgrade it",
		},
		"we are older": {
			protocol.Rejection{Code: protocol.RejectVersion, MinVersion: 6, MaxVersion: 8, Text: "versions do not meet", Software: "vev/9"},
			fault.Incompatible, "vev/9 speaks versions 6 to 8, this is vev/2 with versions 3 to 5: versions do not meet",
			"this vev is older: upgrade it",
		},
		"another epoch": {
			protocol.Rejection{Code: protocol.RejectEpoch, MinVersion: 3, MaxVersion: 5, Text: "epoch is 1, must be 2", Software: "vev/9"},
			fault.Incompatible, "vev/9 speaks versions 3 to 5, this is vev/2 with versions 3 to 5: epoch is 1, must be 2",
			"the two do not come from one release: install the same vev on both sides",
		},
		"a role": {
			protocol.Rejection{Code: protocol.RejectRole, MinVersion: 3, MaxVersion: 5, Text: "wrong\x1b[31m role"},
			fault.Violation, "the other side speaks versions 3 to 5, this is vev/2 with versions 3 to 5: wrong [31m role", "",
		},
	} {
		t.Run(what, func(t *testing.T) {
			err := c.rejection.Fault(offer(nil))
			require.Equal(t, c.kind, err.Kind)
			require.Equal(t, c.msg, err.Error())
			require.Equal(t, c.hint, err.Hint)
			require.True(t, err.Peer)
		})
	}
}
