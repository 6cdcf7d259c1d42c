package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
	"github.com/vev-term/vev/internal/testkit/doctable"
)

const protocolDoc = root + "/docs/protocol.md"

// column is one column of a table of protocol.md.
func column(t *testing.T, table string, n int) []string {
	t.Helper()
	var out []string
	for _, row := range doctable.Rows(t, protocolDoc, table) {
		out = append(out, row[n])
	}
	return out
}

// variants are a oneof's fields in the order of their tags: "tag name", by field or message name.
func variants(m proto.Message, oneof protoreflect.Name, name func(protoreflect.FieldDescriptor) protoreflect.Name) []string {
	var out []string
	fields := m.ProtoReflect().Descriptor().Oneofs().ByName(oneof).Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		out = append(out, fmt.Sprintf("%d %s", f.Number(), name(f)))
	}
	slices.SortFunc(out, func(a, b string) int { return tag(a) - tag(b) })
	return out
}

func tag(s string) int {
	number, _, _ := strings.Cut(s, " ")
	n, _ := strconv.Atoi(number)
	return n
}

func byMessage(f protoreflect.FieldDescriptor) protoreflect.Name { return f.Message().Name() }
func byField(f protoreflect.FieldDescriptor) protoreflect.Name   { return f.Name() }

func TestTheDocumentHasTheSizePolicies(t *testing.T) {
	var want []string
	for p := domain.SizePolicy(0); p.Valid(); p++ {
		want = append(want, fmt.Sprintf("%d %s", p, p))
	}
	var got []string
	for _, row := range doctable.Rows(t, protocolDoc, "size policies") {
		got = append(got, row[0]+" "+row[1])
	}
	require.Equal(t, want, got)
}

func TestTheDocumentHasTheLinks(t *testing.T) {
	states := numbered[domain.LinkState](t, "link states")
	for s := domain.LinkNone; s <= domain.LinkGone; s++ {
		require.Equal(t, s, states[fmt.Sprintf("%d %s", s, s)], "%s is not in the document", s)
	}
	require.Len(t, states, int(domain.LinkGone)+1)
	require.Equal(t, map[string]domain.Transport{
		"0 auto": domain.TransportAuto, "1 ssh": domain.TransportSSH, "2 quic": domain.TransportQUIC,
	}, numbered[domain.Transport](t, "transports"))
}

func TestTheDocumentHasTheStatesOfAHost(t *testing.T) {
	var want []string
	for s := catalogue.Unasked; s <= catalogue.Stale; s++ {
		want = append(want, fmt.Sprintf("%d %s", s, s))
	}
	var got []string
	for _, row := range doctable.Rows(t, protocolDoc, "list states") {
		got = append(got, row[0]+" "+row[1])
	}
	require.Equal(t, want, got)
	require.Equal(t, []string{fmt.Sprint(protocol.ReachAll), fmt.Sprint(protocol.ReachWarm)}, column(t, "reach", 0))
	require.Equal(t, catalogue.MaxHosts, protocol.MaxHosts)
	require.Equal(t, catalogue.MaxSessions, protocol.MaxSessions)
}

func TestTheDocumentHasTheEventsAndActivities(t *testing.T) {
	var types, activities []string
	for e := domain.EventCreated; e.Valid(); e++ {
		types = append(types, fmt.Sprintf("%d %s", e, e))
	}
	for a := domain.Working; a.Valid(); a++ {
		activities = append(activities, fmt.Sprintf("%d %s", a, a))
	}
	for table, want := range map[string][]string{"event types": types, "activities": activities} {
		var got []string
		for _, row := range doctable.Rows(t, protocolDoc, table) {
			got = append(got, row[0]+" "+row[1])
		}
		require.Equal(t, want, got, table)
	}
}

func TestTheDocumentHasTheMessages(t *testing.T) {
	for table, want := range map[string][]string{
		"broker client":  variants(new(wire.BrokerClientEnvelope), "body", byMessage),
		"broker server":  variants(new(wire.BrokerServerEnvelope), "body", byMessage),
		"session client": variants(new(wire.SessionClientEnvelope), "body", byMessage),
		"session server": variants(new(wire.SessionServerEnvelope), "body", byMessage),
		"events":         variants(new(wire.Event), "body", byField),
		"requests":       variants(new(wire.Request), "body", byField),
		"results":        variants(new(wire.Result), "body", byField),
	} {
		var got []string
		for _, row := range doctable.Rows(t, protocolDoc, table) {
			got = append(got, row[0]+" "+row[1])
		}
		require.Equal(t, want, got, table)
	}
	var preamble []string
	fields := new(wire.PreambleRequest).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		preamble = append(preamble, fmt.Sprintf("%d %s", fields.Get(i).Number(), fields.Get(i).Name()))
	}
	var got []string
	for _, row := range doctable.Rows(t, protocolDoc, "preamble request") {
		got = append(got, row[0]+" "+row[1])
	}
	require.Equal(t, preamble, got)
}

func TestTheDocumentHasTheRolesAndCodes(t *testing.T) {
	for i, row := range doctable.Rows(t, protocolDoc, "roles") {
		r := protocol.Role(i + 1)
		require.Equal(t, strconv.Itoa(i+1), row[0])
		require.Equal(t, r.String(), row[1])
		if row[2] != "" {
			require.Equal(t, strconv.Itoa(int(r.Peer())), row[2])
		}
	}
	require.Zero(t, protocol.Role(5).Peer(), "a role that the document does not have")

	require.Equal(t, map[string]protocol.RejectCode{
		"1 magic": protocol.RejectMagic, "2 epoch": protocol.RejectEpoch, "3 version": protocol.RejectVersion, "4 role": protocol.RejectRole,
		"5 duplicate": protocol.RejectDuplicate, "6 out of order": protocol.RejectOutOfOrder, "7 limit": protocol.RejectLimit,
	}, numbered[protocol.RejectCode](t, "rejection codes"))

	kinds := numbered[fault.Kind](t, "failures")
	for k := fault.Kind(0); k.Valid(); k++ {
		require.Equal(t, k, kinds[fmt.Sprintf("%d %s", k, k.String())], "%s is not in the document", k)
		delete(kinds, fmt.Sprintf("%d %s", k, k.String()))
	}
	require.Empty(t, kinds, "kinds that do not exist")

	require.Equal(t, map[string]protocol.EndReason{
		"1 exited": protocol.EndExited, "2 detached": protocol.EndDetached, "3 taken": protocol.EndTaken,
		"4 killed": protocol.EndKilled, "6 failed": protocol.EndFailed,
	}, numbered[protocol.EndReason](t, "end reasons"))
}

// numbered is a table of numbers and names: "number name" to the number.
func numbered[N ~uint8 | ~uint32](t *testing.T, table string) map[string]N {
	t.Helper()
	out := map[string]N{}
	for _, row := range doctable.Rows(t, protocolDoc, table) {
		n, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		out[row[0]+" "+row[1]] = N(n)
	}
	return out
}

func TestTheDocumentHasTheLimits(t *testing.T) {
	want := map[string]string{}
	for name, v := range map[string]int{
		"MaxEnvelopeBytes": protocol.MaxEnvelopeBytes, "MaxControlBytes": protocol.MaxControlBytes, "MaxPreambleBytes": protocol.MaxPreambleBytes,
		"MinEnvelopeCeiling": protocol.MinEnvelopeCeiling, "MinChunkCeiling": protocol.MinChunkCeiling,
		"MaxChunkBytes": protocol.MaxChunkBytes, "StreamWindowBytes": protocol.StreamWindowBytes, "StreamChunkCredit": protocol.StreamChunkCredit,
		"MaxStreams": protocol.MaxStreams, "MaxParkedBytes": protocol.MaxParkedBytes, "MaxPendingOps": protocol.MaxPendingOps,
		"RememberedOps": protocol.RememberedOps, "MaxBrokerClients": protocol.MaxBrokerClients, "MaxSessions": protocol.MaxSessions, "MaxSqueezedBytes": protocol.MaxSqueezedBytes,
		"MaxAttachments": protocol.MaxAttachments, "MaxConversations": protocol.MaxConversations, "MaxRequestsPerConn": protocol.MaxRequestsPerConn,
		"MaxOutputWindow": protocol.MaxOutputWindow, "MaxOutputWindowBytes": protocol.MaxOutputWindowBytes, "MaxEventsKept": protocol.MaxEventsKept,
		"MaxInputBytes": protocol.MaxInputBytes, "InputWindowBytes": protocol.InputWindowBytes, "MaxEnvEntries": protocol.MaxEnvEntries,
		"MaxEnvEntryBytes": protocol.MaxEnvEntryBytes, "MaxArgs": protocol.MaxArgs, "MaxArgBytes": protocol.MaxArgBytes,
		"MaxPathBytes": protocol.MaxPathBytes, "MaxKeys": protocol.MaxKeys, "MaxKeyBytes": protocol.MaxKeyBytes,
		"MaxPatternBytes": protocol.MaxPatternBytes, "MaxHistoryLines": protocol.MaxHistoryLines, "MaxKeptLines": protocol.MaxKeptLines, "MaxWatchedEvents": protocol.MaxWatchedEvents, "MaxCommandBytes": protocol.MaxCommandBytes, "MaxRunBytes": protocol.MaxRunBytes, "MaxAuthorBytes": protocol.MaxAuthorBytes, "MaxLineBytes": protocol.MaxLineBytes,
		"MaxTextBytes": protocol.MaxTextBytes, "MaxClipboardBytes": protocol.MaxClipboardBytes, "MaxModes": protocol.MaxModes,
		"MaxPanes": protocol.MaxPanes, "MaxTokenBytes": protocol.MaxTokenBytes, "MaxHosts": protocol.MaxHosts, "MaxHostBytes": protocol.MaxHostBytes, "MaxFirstBytes": protocol.MaxFirstBytes,
		"MaxStepBytes": protocol.MaxStepBytes, "MaxPreviewBytes": protocol.MaxPreviewBytes, "MaxAnswerBytes": protocol.MaxAnswerBytes, "MaxPrompts": protocol.MaxPrompts, "MaxDeltaSessions": protocol.MaxDeltaSessions,
		"MaxRowTextBytes": protocol.MaxRowTextBytes, "MaxRowArgs": protocol.MaxRowArgs,
	} {
		want[name] = strconv.Itoa(v)
	}
	for name, d := range map[string]time.Duration{
		"LeastPreviewInterval": protocol.LeastPreviewInterval, "FarPreviewInterval": protocol.FarPreviewInterval,
		"MaxPreviewInterval": protocol.MaxPreviewInterval,
		"HandshakeTimeout":   protocol.HandshakeTimeout, "RequestTimeout": protocol.RequestTimeout, "PromptTimeout": protocol.PromptTimeout, "ProbeTimeout": protocol.ProbeTimeout, "MaxWait": protocol.MaxWait,
	} {
		want[name] = d.String()
	}
	got := map[string]string{}
	for _, row := range doctable.Rows(t, protocolDoc, "limits") {
		got[row[0]] = row[1]
	}
	require.Equal(t, want, got)
	require.ElementsMatch(t, constantsOf(t, "internal/protocol/limits.go"), column(t, "limits", 0), "limits.go and this test")
}

// constantsOf are the names of a file's exported constants.
func constantsOf(t *testing.T, file string) []string {
	var names []string
	for _, s := range sources(t) {
		if s.path != file {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					if id.IsExported() {
						names = append(names, id.Name)
					}
				}
			}
			return true
		})
	}
	require.NotEmpty(t, names)
	return names
}

// broker is a machine in a state, with stream 2 in a state; stream 1 is open wherever it can be.
func broker(conn brokerwire.ConnState, stream brokerwire.StreamState) *brokerwire.Machine {
	m := brokerwire.NewMachine()
	if conn == brokerwire.ConnNew {
		return m
	}
	m.PeerRegister()
	m.PeerOpen(1)
	m.Opened(1)
	if stream != brokerwire.StreamNever {
		m.PeerOpen(2)
	}
	if stream == brokerwire.StreamOpen {
		m.Opened(2)
	}
	if stream == brokerwire.StreamClosed {
		m.Close(2)
	}
	switch conn {
	case brokerwire.ConnClosing:
		m.Closing()
	case brokerwire.ConnClosed:
		m.Closed()
	}
	return m
}

// verdictWord is a verdict in the document's words.
func verdictWord(v brokerwire.Verdict, err *fault.Error, legal string) string {
	switch {
	case err != nil && err.Kind == fault.Violation:
		return "violation"
	case err != nil:
		return "refused"
	case v == brokerwire.Discard:
		return "discarded"
	}
	return legal
}

func TestTheDocumentHasTheStatesOfAStream(t *testing.T) {
	for i, row := range doctable.Rows(t, protocolDoc, "stream states") {
		state := brokerwire.StreamState(i)
		fresh := func() *brokerwire.Machine { return broker(brokerwire.ConnRegistered, state) }
		require.Equal(t, state.String(), row[0])
		require.Equal(t, state, fresh().Stream(2))

		m := fresh()
		v, err := m.PeerOpen(2)
		require.Equal(t, row[1], verdictWord(v, err, m.Stream(2).String()), "OpenStream in %s", row[0])
		m = fresh()
		v, err = m.PeerOpened(2)
		require.Equal(t, row[2], verdictWord(v, err, m.Stream(2).String()), "StreamOpened in %s", row[0])
		v, err = fresh().PeerFrame(2)
		require.Equal(t, row[3], verdictWord(v, err, "legal"), "data in %s", row[0])
		m = fresh()
		v, err = m.PeerClose(2)
		require.Equal(t, row[4], verdictWord(v, err, m.Stream(2).String()), "close in %s", row[0])
		m = fresh()
		require.Equal(t, row[5] != "-", m.Close(2), "our close in %s", row[0])
		if row[5] != "-" {
			require.Equal(t, row[5], m.Stream(2).String())
		}
	}
	require.Equal(t, int(brokerwire.StreamClosed)+1, len(column(t, "stream states", 0)))
}

func TestTheDocumentHasTheStatesOfAConnection(t *testing.T) {
	for i, row := range doctable.Rows(t, protocolDoc, "connection states") {
		state := brokerwire.ConnState(i)
		fresh := func() *brokerwire.Machine { return broker(state, brokerwire.StreamNever) }
		require.Equal(t, state.String(), row[0])
		require.Equal(t, state, fresh().State())

		m := fresh()
		v, err := m.PeerRegister()
		require.Equal(t, row[1], ignored(verdictWord(v, err, m.State().String())), "registration in %s", row[0])

		frame, ferr := fresh().PeerFrame(1)
		open, oerr := fresh().PeerOpen(3)
		operation, perr := fresh().PeerOperation(protocol.OperationID{1})
		got := []string{verdictWord(frame, ferr, "legal"), verdictWord(open, oerr, "legal"), verdictWord(operation, perr, "legal")}
		require.Equal(t, map[string][]string{
			"violation":          {"violation", "violation", "violation"},
			"legal":              {"legal", "legal", "legal"},
			"nothing new begins": {"legal", "refused", "refused"},
			"ignored":            {"discarded", "discarded", "discarded"},
		}[row[2]], got, "messages in %s", row[0])

		m = fresh()
		m.Closing()
		require.Equal(t, row[3], m.State().String(), "goodbye in %s", row[0])
		m = fresh()
		m.Closed()
		require.Equal(t, row[4], m.State().String(), "end in %s", row[0])
	}
	require.Equal(t, int(brokerwire.ConnClosed)+1, len(column(t, "connection states", 0)))
}

func ignored(word string) string {
	if word == "discarded" {
		return "ignored"
	}
	return word
}

// The trace follows from the rules above it: pay n + 64 before sending, grant at the batch.
func TestTheDocumentsTraceOfCredit(t *testing.T) {
	const (
		window = protocol.StreamWindowBytes
		cost   = protocol.MaxChunkBytes + protocol.StreamChunkCredit
	)
	batch := max(min(window/2, window-cost+1), 1)
	credit, held, owed := window, 0, 0
	for _, row := range doctable.Rows(t, protocolDoc, "credit trace") {
		frames, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		granted := 0
		for range frames {
			if strings.HasPrefix(row[0], "the sender") {
				require.GreaterOrEqual(t, credit, cost, row[0])
				credit, held = credit-cost, held+cost
				continue
			}
			held, owed = held-cost, owed+cost
			if owed >= batch {
				credit, granted, owed = credit+owed, granted+owed, 0
			}
		}
		if strings.Contains(row[0], "all it can") || strings.Contains(row[0], "waits") {
			require.Less(t, credit, cost, row[0])
		}
		require.Equal(t, window, credit+held+owed)
		for i, v := range []int{credit, held, owed, granted} {
			require.Equal(t, strconv.Itoa(v), row[2+i], "%s: column %d", row[0], 2+i)
		}
	}
}
