package brokerwire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

var update = flag.Bool("update", false, "write testdata/version1.txt anew, for new messages only")

const goldenFile = "testdata/version1.txt"

// Version 1 is what released programs speak: its bytes may never change.
func TestVersion1(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile(goldenFile, []byte(golden()), 0o644))
	}
	want, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	require.Equal(t, string(want), golden())

	seen := make(map[Tag]bool)
	lines := strings.Split(strings.TrimSpace(string(want)), "\n")[1:]
	for i, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			_, text, _ := strings.Cut(lines[i], ": ")
			b, err := hex.DecodeString(text)
			require.NoError(t, err)
			m, err := s.decode(b)
			require.NoError(t, err)
			require.Equal(t, s.message(), m)
			tag, _, _ := protowire.ConsumeTag(b)
			require.Equal(t, strings.Fields(s.name)[0], num(Tag(tag)))
			seen[Tag(tag)] = true
		})
	}
	require.Len(t, seen, 17+16, "each message has a sample")
}

func num(t Tag) string {
	return string([]byte{'0' + byte(t/100), '0' + byte(t/10%10), '0' + byte(t%10)})
}

// The tags are frozen: here, in the schema, and in docs/protocol.md, which another test compares.
func TestTagsAreFrozen(t *testing.T) {
	for name, tc := range map[string]struct {
		envelope proto.Message
		first    Tag
		names    string
	}{
		"client": {new(wire.BrokerClientEnvelope), TagRegister, "register subscribe resync unsubscribe add_host remove_host " +
			"reconcile open_stream client_stream_data close_stream update_host_policy start_preview cancel_preview " +
			"stream_window_update prompt_reply stats_request ping"},
		"server": {new(wire.BrokerServerEnvelope), TagRegistered, "registered snapshot_part operation_result stream_opened " +
			"server_stream_data stream_closed progress broker_error shutdown preview_publication stream_window_update " +
			"snapshot_delta prompt broker_stats pong link_report"},
	} {
		t.Run(name, func(t *testing.T) {
			fields := tc.envelope.ProtoReflect().Descriptor().Fields()
			names := strings.Fields(tc.names)
			require.Equal(t, len(names), fields.Len())
			for i, want := range names {
				f := fields.ByName(protoreflect.Name(want))
				require.NotNil(t, f, want)
				require.Equal(t, tc.first+Tag(i), Tag(f.Number()), want)
			}
		})
	}
	require.EqualValues(t, 101, TagRegister)
	require.EqualValues(t, 116, TagStatsRequest)
	require.EqualValues(t, 201, TagRegistered)
	require.EqualValues(t, 214, TagBrokerStats)
}

// field makes an envelope by hand.
func field(tag Tag, body ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(tag), protowire.BytesType), bytes.Join(body, nil))
}

func text(n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), s)
}

func TestStrictness(t *testing.T) {
	register := field(TagRegister)
	ref := field(1, field(1, protowire.AppendFixed64([]byte{1<<3 | 1}, 1), text(2, strings.Repeat("c", 16))), []byte{2 << 3, 5})
	long := strings.Repeat("x", 600)
	for name, tc := range map[string]struct {
		server bool
		body   []byte
		want   string
	}{
		"nothing":            {false, nil, "begins with no field"},
		"garbage":            {false, []byte{0xff, 0xff}, "begins with no field"},
		"unknown tag":        {false, field(118), "unknown message 118"},
		"unknown, small tag": {false, field(1), "unknown message 1"},
		"wrong direction":    {false, field(TagRegistered), "message 201 in the wrong direction"},
		"wrong direction 2":  {true, register, "message 101 in the wrong direction"},
		"two variants":       {false, append(field(TagUnsubscribe), register...), "3 bytes follow message 104"},
		"trailing bytes":     {false, append(field(TagUnsubscribe), 0), "1 bytes follow message 104"},
		"cut":                {false, register[:2], "has no length"},
		"too short":          {false, append(register[:2:2], 5, 0), "message 101 of 5 bytes is 4 longer than its envelope"},
		"wire type":          {false, protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(TagRegister), protowire.VarintType), 1), "has wire type 0, must be 2"},
		"a second preamble":  {false, append([]byte{1<<3 | 5}, 0x31, 0x56, 0x45, 0x56), "a second preamble"},
		"bad UTF-8":          {false, field(TagRegister, text(1, "\xff")), "message 101 cannot be read"},
		"bad field":          {false, field(TagRegister, []byte{1<<3 | 2, 9}), "message 101 cannot be read"},
		"text over limit":    {false, field(TagRegister, text(1, long)), "message 101: client of 600 bytes is 88 over the limit of 512"},
		"host over limit":    {false, field(TagOpenStream, ref, text(2, long)), "host of 600 bytes is 345 over the limit of 255"},
		"host to open":       {false, field(TagRegister, append([]byte{2<<3 | 2, 0xdb, 4}, text(1, long)...)), "host of 600 bytes is 345 over the limit of 255"},
		"first over limit":   {false, field(TagOpenStream, ref, text(4, strings.Repeat("x", protocol.MaxFirstBytes+1))), "first of 8193 bytes is 1 over the limit of 8192"},
		"no ref":             {false, field(TagCloseStream), "it names no stream"},
		"no scope":           {false, field(TagCloseStream, field(1, []byte{2 << 3, 5})), "it has no scope"},
		"short connection":   {false, field(TagCloseStream, field(1, field(1, text(2, "abc")), []byte{2 << 3, 5})), "connection id has 3 bytes, must have 16"},
		"stream 0":           {false, field(TagCloseStream, field(1, field(1, text(2, strings.Repeat("c", 16))))), "stream id 0"},
		"start policy":       {false, field(TagOpenStream, ref, []byte{3 << 3, 2}), "start policy is 2, must be 0 to 1"},
		"public":             {false, field(TagOpenStream, ref, []byte{5 << 3}), "message 108 cannot be read"},
		"public to open":     {false, field(TagRegister, []byte{2<<3 | 2, 1, 4 << 3}), "message 101 cannot be read"},
		"ping 0":             {false, field(TagPing), "message 117: ping 0; the first is 1"},
		"pong 0":             {true, field(TagPong), "message 215: ping 0; the first is 1"},
		"report of nothing":  {true, field(TagLinkReport), "it names no stream"},
		"no operation":       {false, field(TagStatsRequest), "operation id has 0 bytes, must have 16"},
		"long operation":     {false, field(TagStatsRequest, text(1, strings.Repeat("o", 17))), "operation id has 17 bytes"},
		"long answer":        {false, field(TagPromptReply, text(1, strings.Repeat("p", 16)), text(2, strings.Repeat("a", 4097))), "answer of 4097 bytes is 1 over the limit of 4096"},
		"outcome":            {true, field(TagOperationResult, text(1, strings.Repeat("o", 16)), []byte{2 << 3, 3}), "outcome is 3, must be 0 to 2"},
		"failure text":       {true, field(TagShutdown, field(1, text(2, long))), "failure text of 600 bytes is 88 over"},
		"no reason":          {true, field(TagShutdown), "it has no failure"},
		"a ref given twice":  {false, field(TagCloseStream, ref, ref), "message 110: field 1 is given twice"},
		"two parts":          {true, field(TagSnapshotPart, field(2), field(6)), "message 202: field 6 is a second variant"},
		"no part":            {true, field(TagSnapshotPart), "none that is known"},
		"preview too large":  {true, field(TagPreviewPublication, text(1, strings.Repeat("o", 16)), text(3, strings.Repeat("p", protocol.MaxPreviewBytes+1))), "1 over the limit of 65536"},
		"long program":       {false, field(TagReconcile, text(1, strings.Repeat("o", 16)), text(4, strings.Repeat("/", protocol.MaxPathBytes+1))), "program of 4097 bytes is 1 over the limit of 4096"},
		"long step":          {true, field(TagProgress, text(1, strings.Repeat("o", 16)), text(3, strings.Repeat("s", protocol.MaxStepBytes+1))), "step of 17 bytes is 1 over the limit of 16"},
		"revision 0":         {true, field(TagSnapshotDelta, []byte{2 << 3, 1}), "a delta of revision 0"},
		"back":               {true, field(TagSnapshotDelta, []byte{1 << 3, 7, 2 << 3, 7}), "revision 7 of the catalogue follows 7"},
		"state of a host":    {true, part(3, []byte{7 << 3, 4}), "state is 4, must be 0 to 3"},
		"contact":            {true, part(3, protowire.AppendVarint([]byte{5 << 3}, 1<<63)), "last contact in ms is -9223372036854775808, must be 0 to 253402300799999"},
		"state of a session": {true, session([]byte{4 << 3, 2}), "session state is 2, must be 0 to 1"},
		"title of a session": {true, session(text(5, strings.Repeat("t", 1025))), "title of 1025 bytes is 1 over the limit of 1024"},
		"command":            {true, part(4, bytes.Repeat(text(12, strings.Repeat("t", 512)), 3)), "command of 1536 bytes is 512 over the limit of 1024"},
		"arguments":          {true, part(4, bytes.Repeat(text(12, "a"), 65)), "65 arguments are 1 over the limit of 64"},
		"directory":          {true, session(text(13, strings.Repeat("t", 1025))), "directory of 1025 bytes is 1 over the limit of 1024"},
		"policy":             {true, session([]byte{0x80, 1, 4}), "size policy is 4, must be 0 to 3"},
		"reason":             {true, session(text(18, strings.Repeat("r", 257)), []byte{}), "reason of 257 bytes is 1 over the limit of 256"},
		"size":               {true, session([]byte{14 << 3, 80}), "size is 80x0, must be 1x1 to 1000x500"},
		"signal":             {true, session(protowire.AppendVarint([]byte{8 << 3}, 128)), "signal is 128, must be 0 to 127"},
		"hosts of one":       {false, field(TagSubscribe, bytes.Repeat(text(2, "h"), 65)), "65 hosts are 1 over the limit of 64"},
		"host of one":        {false, field(TagSubscribe, text(2, strings.Repeat("h", 256))), "host of 256 bytes is 1 over the limit of 255"},
		"reach":              {false, field(TagSubscribe, []byte{3 << 3, 2}), "reach is 2, must be 0 to 1"},
		"too many hosts":     {true, field(TagSnapshotDelta, bytes.Repeat(field(3), protocol.MaxHosts+1)), "65 hosts are 1 over the limit of 64"},
		"too many sessions":  {true, field(TagSnapshotDelta, bytes.Repeat(field(4), protocol.MaxDeltaSessions+1)), "1025 sessions are 1 over"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if tc.server {
				_, err = DecodeServer(tc.body)
			} else {
				_, err = DecodeClient(tc.body)
			}
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, fault.Violation, fault.KindOf(err))
		})
	}
}

// What does not say that it may be seen may not: nothing, 0, and a field of another type.
func TestWhatIsPublicSaysSo(t *testing.T) {
	ref := field(1, field(1, protowire.AppendFixed64([]byte{1<<3 | 1}, 1), text(2, strings.Repeat("c", 16))), []byte{2 << 3, 5})
	for _, public := range [][]byte{nil, {5 << 3, 0}, {5<<3 | 2, 1, 1}} {
		m, err := DecodeClient(field(TagOpenStream, ref, public))
		require.NoError(t, err)
		require.False(t, m.(*protocol.OpenStream).Public, "%x", public)
	}
}

// part is a snapshot's part by hand.
func part(n protowire.Number, body ...[]byte) []byte {
	return field(TagSnapshotPart, field(Tag(n), body...))
}

// session is a session's part by hand.
func session(fields ...[]byte) []byte {
	return part(4, append([][]byte{text(2, strings.Repeat("s", 16))}, fields...)...)
}

// What exactly meets a limit passes.
func TestLimitsAreInclusive(t *testing.T) {
	_, err := DecodeClient(field(TagRegister, text(1, strings.Repeat("x", fault.MaxText))))
	require.NoError(t, err)
	_, err = DecodeServer(field(TagSnapshotDelta, []byte{1 << 3, 6, 2 << 3, 7}, bytes.Repeat(field(3), protocol.MaxHosts)))
	require.NoError(t, err)
	_, err = DecodeServer(session(text(5, strings.Repeat("t", 1024)), bytes.Repeat(text(12, strings.Repeat("a", 16)), 64)))
	require.NoError(t, err)
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	extra := append(text(100, "from a newer peer"), protowire.AppendVarint(protowire.AppendTag(nil, 101, protowire.VarintType), 7)...)
	for _, s := range samples() {
		b, err := s.append(nil)
		require.NoError(t, err)
		tag, _, n := protowire.ConsumeTag(b)
		body, _ := protowire.ConsumeBytes(b[n:])
		m, err := s.decode(field(Tag(tag), extra, body))
		require.NoError(t, err, s.name)
		require.Equal(t, s.message(), m, s.name)
	}
}

func TestUnknownFailureCodeIsInternal(t *testing.T) {
	for _, code := range []uint64{200, 1 << 20} {
		m, err := DecodeServer(field(TagShutdown, field(1, protowire.AppendVarint([]byte{1 << 3}, code), text(2, "new kind"))))
		require.NoError(t, err)
		require.Equal(t, protocol.Failure{Kind: fault.Internal, Text: "new kind"}, m.(*protocol.Shutdown).Reason)
	}
}

// What travels is always short and clean, whatever the error was.
func TestFailuresAreCut(t *testing.T) {
	b, err := AppendServer(nil, &protocol.Shutdown{Reason: protocol.Failure{Text: strings.Repeat("\x1b", 9000), Hint: "\xff"}})
	require.NoError(t, err)
	m, err := DecodeServer(b)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(" ", fault.MaxText), m.(*protocol.Shutdown).Reason.Text)
}

func TestForeignMessagesAreNotEncoded(t *testing.T) {
	_, err := AppendClient(nil, nil)
	require.Equal(t, fault.Internal, fault.KindOf(err))
	_, err = AppendServer(nil, nil)
	require.Equal(t, fault.Internal, fault.KindOf(err))
}

// By hand and by the generated code, the same bytes; and each reads the other's.
func TestRefsAreByteIdentical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope := protocol.Scope{
			BrokerEpoch: rapid.Uint64Min(1).Draw(t, "epoch"),
			Connection:  protocol.ConnectionID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "connection")),
		}
		id := protocol.StreamID(rapid.Uint64Min(1).Draw(t, "id"))
		ref := protocol.StreamRef{Scope: scope, ID: id}
		n := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(16000, 17000), rapid.Just(protocol.MaxChunkBytes)).Draw(t, "payload")
		data := bytes.Repeat([]byte{7}, n)
		credit := rapid.Uint32Min(1).Draw(t, "credit")
		client, server := ClientRefs(scope, false), ServerRefs(scope, false)

		want, err := AppendClient(nil, &protocol.StreamData{Ref: ref, Data: data})
		same(t, "client data", append(client.AppendDataHead(nil, id, n), data...), want, err)
		checkData(t, server, want, id, n)
		want, err = AppendServer(nil, &protocol.StreamData{Ref: ref, Data: data})
		same(t, "server data", append(server.AppendDataHead(nil, id, n), data...), want, err)
		checkData(t, client, want, id, n)

		want, err = AppendClient(nil, &protocol.StreamWindowUpdate{Ref: ref, Credit: credit})
		same(t, "client grant", client.AppendWindowUpdate(nil, id, credit), want, err)
		checkGrant(t, server, want, id, credit)
		want, err = AppendServer(nil, &protocol.StreamWindowUpdate{Ref: ref, Credit: credit})
		same(t, "server grant", server.AppendWindowUpdate(nil, id, credit), want, err)
		checkGrant(t, client, want, id, credit)
	})
}

func same(t *rapid.T, what string, got, want []byte, err error) {
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s: %v\n%x\n%x", what, err, got, want)
	}
}

func checkData(t *rapid.T, r *Refs, b []byte, id protocol.StreamID, n int) {
	gotID, skip, payload, ok := r.ParseData(b[:min(len(b), MaxDataHead)], len(b))
	if !ok || gotID != id || payload != n || skip != len(b)-n {
		t.Fatalf("data %d of %d read as %d %d %d %v", id, n, gotID, skip, payload, ok)
	}
}

func checkGrant(t *rapid.T, r *Refs, b []byte, id protocol.StreamID, credit uint32) {
	if len(b) > MaxWindowUpdate {
		t.Fatalf("a grant has %d bytes", len(b))
	}
	gotID, got, ok := r.ParseWindowUpdate(b)
	if !ok || gotID != id || got != credit {
		t.Fatalf("grant %d of %d read as %d %d %v", id, credit, gotID, got, ok)
	}
}

// Whatever by hand accepts, the generated code reads the same way.
func TestRefsAcceptNothingElse(t *testing.T) {
	refs := ServerRefs(testScope, false)
	data, err := AppendClient(nil, &protocol.StreamData{Ref: testRef, Data: []byte("payload")})
	require.NoError(t, err)
	grant, err := AppendClient(nil, &protocol.StreamWindowUpdate{Ref: testRef, Credit: 70000})
	require.NoError(t, err)
	for _, good := range [][]byte{data, grant} {
		for i := range good {
			for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff, good[i] + 1, good[i] ^ 0x80} {
				bad := bytes.Clone(good)
				bad[i] = b
				agreeWithGenerated(t, refs, bad)
			}
			agreeWithGenerated(t, refs, good[:i])
		}
		agreeWithGenerated(t, refs, append(good, 0))
	}
}

func agreeWithGenerated(t testing.TB, refs *Refs, b []byte) {
	t.Helper()
	m, err := DecodeClient(b)
	if id, skip, n, ok := refs.ParseData(b[:min(len(b), MaxDataHead)], len(b)); ok {
		require.NoError(t, err, "%x", b)
		require.Equal(t, &protocol.StreamData{Ref: protocol.StreamRef{Scope: testScope, ID: id}, Data: b[skip : skip+n]}, m)
	}
	if id, credit, ok := refs.ParseWindowUpdate(b); ok {
		require.NoError(t, err, "%x", b)
		require.Equal(t, &protocol.StreamWindowUpdate{Ref: protocol.StreamRef{Scope: testScope, ID: id}, Credit: credit}, m)
	}
}

func addSamples(f *testing.F, client bool) {
	for _, s := range samples() {
		if b, err := s.append(nil); err == nil && (s.client != nil) == client {
			f.Add(b)
		}
	}
}

func FuzzClientEnvelope(f *testing.F) {
	addSamples(f, true)
	refs := ServerRefs(testScope, false)
	f.Fuzz(func(t *testing.T, b []byte) {
		sameAsSchema(t, sample{client: &protocol.Register{}}, b)
		agreeWithGenerated(t, refs, b)
		m, err := DecodeClient(b)
		if err != nil {
			require.Equal(t, fault.Violation, fault.KindOf(err))
			return
		}
		again, err := AppendClient(nil, m)
		require.NoError(t, err)
		m2, err := DecodeClient(again)
		require.NoError(t, err)
		require.Equal(t, clean(m), clean(m2))
	})
}

func FuzzServerEnvelope(f *testing.F) {
	addSamples(f, false)
	f.Fuzz(func(t *testing.T, b []byte) {
		sameAsSchema(t, sample{server: &protocol.Shutdown{}}, b)
		m, err := DecodeServer(b)
		if err != nil {
			require.Equal(t, fault.Violation, fault.KindOf(err))
			return
		}
		again, err := AppendServer(nil, m)
		require.NoError(t, err)
		_, err = DecodeServer(again)
		require.NoError(t, err)
	})
}

// clean is m with what encoding cleans cleaned.
func clean(m protocol.BrokerClientMessage) protocol.BrokerClientMessage {
	switch m := m.(type) {
	case *protocol.Register:
		return &protocol.Register{Client: fault.Clean(m.Client), Open: m.Open}
	case *protocol.CloseStream:
		if m.Failure != nil {
			f := protocol.Failure{Kind: m.Failure.Kind, Text: fault.Clean(m.Failure.Text), Hint: fault.Clean(m.Failure.Hint)}
			return &protocol.CloseStream{Ref: m.Ref, Failure: &f}
		}
	}
	return m
}

// Where it was agreed, references of the frames that make up nearly all traffic have no scope; one
// that has it nevertheless is in another form than agreed, and left to Decode.
func TestShortRefs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client, server := ClientRefs(testScope, true), ServerRefs(testScope, true)
		id := protocol.StreamID(rapid.Uint64Range(1, math.MaxUint64).Draw(t, "id"))
		n := rapid.IntRange(1, 64<<10).Draw(t, "bytes")
		head := client.AppendDataHead(nil, id, n)
		require.LessOrEqual(t, len(head), MaxDataHead-scopeBytes)
		got, skip, payload, ok := server.ParseData(head, len(head)+n)
		require.True(t, ok)
		require.Equal(t, []any{id, len(head), n}, []any{got, skip, payload})

		credit := rapid.Uint32Range(1, math.MaxUint32).Draw(t, "credit")
		update := server.AppendWindowUpdate(nil, id, credit)
		got, granted, ok := client.ParseWindowUpdate(update)
		require.True(t, ok)
		require.Equal(t, []any{id, credit}, []any{got, granted})

		long := ClientRefs(testScope, false).AppendDataHead(nil, id, n)
		_, _, _, ok = server.ParseData(long, len(long)+n)
		require.False(t, ok)
	})
}
