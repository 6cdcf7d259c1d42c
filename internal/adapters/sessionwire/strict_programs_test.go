package sessionwire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// TestLimitsOfAutomation: each at its edge, in what is received.
func TestLimitsOfAutomation(t *testing.T) {
	request := func(r wire.Request_builder) []byte { return frameOf(t, tagRequest, r.Build()) }
	run := func(command, author int) []byte {
		return request(wire.Request_builder{Run: wire.RunRequest_builder{Session: "w", Command: long(command), Author: long(author)}.Build()})
	}
	typed := func(author int) *wire.TypeRequest { return wire.TypeRequest_builder{Author: long(author)}.Build() }
	keys := func(author int) *wire.KeysRequest { return wire.KeysRequest_builder{Author: long(author)}.Build() }
	paste := func(author int) *wire.PasteRequest { return wire.PasteRequest_builder{Author: long(author)}.Build() }
	guarded := func(g wire.GuardedRequest_builder) []byte { return request(wire.Request_builder{Guarded: g.Build()}) }
	for _, r := range []refusal{
		{"longest command", run(16<<10, 0), ""},
		{"command", run(16<<10+1, 0), "command of run of 16385 bytes is 1 over the limit of 16384"},
		{"longest author of a run", run(1, 255), ""},
		{"author of a run", run(1, 256), "author of run of 256 bytes is 1 over the limit of 255"},
		{"longest author of a text", request(wire.Request_builder{Type: typed(255)}), ""},
		{"author of a text", request(wire.Request_builder{Type: typed(256)}), "author of type of 256 bytes is 1 over the limit of 255"},
		{"longest author of keys", request(wire.Request_builder{Keys: keys(255)}), ""},
		{"author of keys", request(wire.Request_builder{Keys: keys(256)}), "author of keys of 256 bytes is 1 over the limit of 255"},
		{"longest author of a paste", request(wire.Request_builder{Paste: paste(255)}), ""},
		{"author of a paste", request(wire.Request_builder{Paste: paste(256)}), "author of paste of 256 bytes is 1 over the limit of 255"},
		{"longest author of a lock", request(wire.Request_builder{Lock: wire.LockRequest_builder{Author: long(255)}.Build()}), ""},
		{"author of a lock", request(wire.Request_builder{Lock: wire.LockRequest_builder{Author: long(256)}.Build()}), "author of lock of 256 bytes is 1 over the limit of 255"},
		{"longest author of what is guarded", guarded(wire.GuardedRequest_builder{Type: typed(255)}), ""},
		{"author of a guarded text", guarded(wire.GuardedRequest_builder{Type: typed(256)}), "author of type of 256 bytes is 1 over the limit of 255"},
		{"author of guarded keys", guarded(wire.GuardedRequest_builder{Keys: keys(256)}), "author of keys of 256 bytes is 1 over the limit of 255"},
		{"author of a guarded paste", guarded(wire.GuardedRequest_builder{Paste: paste(256)}), "author of paste of 256 bytes is 1 over the limit of 255"},
	} {
		t.Run(r.what, func(t *testing.T) {
			_, err := new(clientDecoder).decode(r.frame)
			expect(t, r.says, err)
		})
	}

	output := func(n int) []byte {
		return frameOf(t, tagResult, wire.Result_builder{RunOutput: wire.RunOutput_builder{Data: make([]byte, n)}.Build()}.Build())
	}
	events := func(n int) []byte {
		e := wire.SessionEvent_builder{SessionId: make([]byte, 16), Type: uint32(domain.EventBell)}.Build()
		return frameOf(t, tagEvents, wire.WatchedEvents_builder{Events: many(n, e)}.Build())
	}
	for _, r := range []refusal{
		{"most output", output(256 << 10), ""},
		{"output", output(256<<10 + 1), "data of run output of 262145 bytes is 1 over the limit of 262144"},
		{"most events", events(64), ""},
		{"events", events(65), "event of watched events: 65 given, 1 over the limit of 64"},
	} {
		t.Run(r.what, func(t *testing.T) {
			_, err := new(serverDecoder).decode(r.frame)
			expect(t, r.says, err)
		})
	}
}

// TestLimitsOfAutomationHoldForWhoSends: what we would be cut off for is refused here, with its kind.
func TestLimitsOfAutomationHoldForWhoSends(t *testing.T) {
	run := func(command, author int) protocol.SessionClientMessage {
		return &protocol.Request{ID: 1, Body: &protocol.RunCommand{Session: "w", Command: long(command), Author: long(author)}}
	}
	_, err := appendClient(nil, run(protocol.MaxCommandBytes, protocol.MaxAuthorBytes))
	require.NoError(t, err)
	for _, m := range []protocol.SessionClientMessage{run(protocol.MaxCommandBytes+1, 0), run(1, protocol.MaxAuthorBytes+1)} {
		_, err := appendClient(nil, m)
		require.Equal(t, fault.Limit, fault.KindOf(refusedToSend(err, fault.Usage)))
	}
	output := func(n int) protocol.SessionServerMessage {
		return &protocol.Result{ID: 1, Body: &protocol.RunOutput{Data: make([]byte, n)}}
	}
	events := func(n int) protocol.SessionServerMessage {
		return &protocol.WatchedEvents{Events: many(n, domain.Event{Type: domain.EventBell})}
	}
	for _, edge := range []struct{ fits, over protocol.SessionServerMessage }{
		{output(protocol.MaxRunBytes), output(protocol.MaxRunBytes + 1)},
		{events(protocol.MaxWatchedEvents), events(protocol.MaxWatchedEvents + 1)},
	} {
		_, err := appendServer(nil, edge.fits)
		require.NoError(t, err)
		_, err = appendServer(nil, edge.over)
		require.Equal(t, fault.Limit, fault.KindOf(refusedToSend(err, fault.Internal)))
	}
}
