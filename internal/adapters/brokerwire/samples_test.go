package brokerwire

import (
	"fmt"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func bytes16(first byte) (b [16]byte) {
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

var (
	testScope = protocol.Scope{BrokerEpoch: 0x0102030405060708, Connection: bytes16(0x10)}
	testRef   = protocol.StreamRef{Scope: testScope, ID: 300}
	testOp    = protocol.OperationID(bytes16(0x20))
	testFault = protocol.Failure{Kind: fault.Conflict, Text: "it is there", Hint: "take another name"}
)

// sample is one message of version 1 as it is encoded for ever.
type sample struct {
	name   string
	client protocol.BrokerClientMessage
	server protocol.BrokerServerMessage
}

func (s sample) append(dst []byte) ([]byte, error) {
	if s.client != nil {
		return AppendClient(dst, s.client)
	}
	return AppendServer(dst, s.server)
}

func (s sample) decode(b []byte) (any, error) {
	if s.client != nil {
		return DecodeClient(b)
	}
	return DecodeServer(b)
}

func (s sample) message() any {
	if s.client != nil {
		return s.client
	}
	return s.server
}

// samples has each message once with everything set, and where that means something, with nothing.
func samples() []sample {
	c := func(name string, m protocol.BrokerClientMessage) sample { return sample{name: name, client: m} }
	s := func(name string, m protocol.BrokerServerMessage) sample { return sample{name: name, server: m} }
	entry := catalogue.Host{
		Name: "box", Address: "192.0.2.1", Link: domain.LinkConnected, Transport: domain.TransportSSH,
		Heard: time.UnixMilli(1700000000123).UTC(), Failure: testFault.Fault(),
	}
	session := catalogue.Session{Host: "box", SessionInfo: domain.SessionInfo{
		ID: bytes16(0x40), Name: "work", State: domain.Exited, Title: "vim", Attached: 2,
	}}
	full := session
	full.Exit, full.Pid, full.Command, full.Cwd = domain.ExitStatus{Code: -1, Signal: 9}, 4711, []string{"vim", "\xff"}, "/home/u"
	full.Created, full.LastUsed = entry.Heard, entry.Heard.Add(time.Hour)
	full.Size, full.Policy = domain.DefaultSize, domain.SizeFixed
	doing := full
	doing.Condition = domain.Condition{Activity: domain.Attention, Reason: "bell", Since: entry.Heard}
	doing.Generation, doing.Locked = 7, true
	stale := entry
	stale.State = catalogue.Stale
	gone := catalogue.Key{Host: "box", ID: bytes16(0x50)}
	return []sample{
		c("101 register", &protocol.Register{Client: "vev 1.0"}),
		c("102 subscribe", &protocol.Subscribe{KnownRevision: 7}),
		c("102 subscribe to hosts", &protocol.Subscribe{Hosts: []string{"", "box"}, Reach: protocol.ReachWarm}),
		c("103 resync", &protocol.Resync{HaveRevision: 8}),
		c("104 unsubscribe", &protocol.Unsubscribe{}),
		c("105 add host", &protocol.Mutation{Operation: testOp, Kind: protocol.AddHost, Host: "u@box", Alias: "box", Transport: 2, Install: true}),
		c("106 remove host", &protocol.Mutation{Operation: testOp, Kind: protocol.RemoveHost, Host: "box"}),
		c("107 reconcile", &protocol.Mutation{Operation: testOp, Kind: protocol.Reconcile, Host: "box"}),
		c("108 open stream", &protocol.OpenStream{Ref: testRef, Host: "box", Start: protocol.ExistingOnly}),
		c("108 open stream here", &protocol.OpenStream{Ref: testRef}),
		c("109 client stream data", &protocol.StreamData{Ref: testRef, Data: []byte("ls\r")}),
		c("110 close stream", &protocol.CloseStream{Ref: testRef}),
		c("110 abort stream", &protocol.CloseStream{Ref: testRef, Failure: &testFault}),
		c("111 update host policy", &protocol.Mutation{Operation: testOp, Kind: protocol.UpdateHostPolicy, Host: "box", Transport: 3}),
		c("112 start preview", &protocol.StartPreview{Operation: testOp, Host: "box", Session: bytes16(0x40), Cols: 80, Rows: 24}),
		c("113 cancel preview", &protocol.CancelPreview{Operation: testOp}),
		c("114 client window update", &protocol.StreamWindowUpdate{Ref: testRef, Credit: 2 << 20}),
		c("115 prompt reply", &protocol.PromptReply{Prompt: bytes16(0x60), Answer: []byte("secret"), Cancel: true}),
		c("116 stats request", &protocol.StatsRequest{Operation: testOp}),
		c("117 ping", &protocol.Ping{Number: 300}),

		s("201 registered", &protocol.Registered{Scope: testScope}),
		s("202 snapshot begin", &protocol.SnapshotPart{Revision: 9, Part: protocol.SnapshotBegin{}}),
		s("202 snapshot host", &protocol.SnapshotPart{Revision: 9, Part: protocol.HostEntry{Host: entry}}),
		s("202 snapshot stale host", &protocol.SnapshotPart{Revision: 9, Part: protocol.HostEntry{Host: stale}}),
		s("202 snapshot session", &protocol.SnapshotPart{Revision: 9, Part: protocol.SessionEntry{Session: session}}),
		s("202 snapshot whole session", &protocol.SnapshotPart{Revision: 9, Part: protocol.SessionEntry{Session: full}}),
		s("202 snapshot session that does something", &protocol.SnapshotPart{Revision: 9, Part: protocol.SessionEntry{Session: doing}}),
		s("202 snapshot tombstone", &protocol.SnapshotPart{Revision: 9, Part: protocol.Tombstone{Key: gone}}),
		s("202 snapshot end", &protocol.SnapshotPart{Revision: 9, Part: protocol.SnapshotEnd{Parts: 3}}),
		s("203 operation ok", &protocol.OperationResult{Operation: testOp}),
		s("203 operation failed", &protocol.OperationResult{Operation: testOp, Outcome: protocol.OutcomeFailed, Failure: &testFault}),
		s("204 stream opened", &protocol.StreamOpened{Ref: testRef}),
		s("204 stream opened directly", &protocol.StreamOpened{Ref: testRef, Direct: true}),
		s("205 server stream data", &protocol.StreamData{Ref: testRef, Data: []byte("file\r\n")}),
		s("206 stream closed", &protocol.StreamClosed{Ref: testRef}),
		s("206 stream failed", &protocol.StreamClosed{Ref: testRef, Failure: &testFault}),
		s("207 progress", &protocol.Progress{Operation: testOp, Text: "copying"}),
		s("208 broker error", &protocol.BrokerError{Failure: testFault, Operation: testOp}),
		s("208 broker error of no operation", &protocol.BrokerError{Failure: testFault}),
		s("209 shutdown", &protocol.Shutdown{Reason: testFault}),
		s("210 preview publication", &protocol.PreviewPublication{Operation: testOp, Sequence: 5, Content: []byte("$ ")}),
		s("211 server window update", &protocol.StreamWindowUpdate{Ref: testRef, Credit: 1}),
		s("212 snapshot delta", &protocol.SnapshotDelta{Delta: catalogue.Delta{
			Base: 9, Revision: 10, Hosts: []catalogue.Host{entry, {Name: "new"}},
			Sessions: []catalogue.Session{session}, Gone: []catalogue.Key{gone, {Host: "old"}},
		}}),
		s("213 prompt", &protocol.Prompt{Prompt: bytes16(0x60), Host: "box", Text: "Password:", Echo: true}),
		s("214 broker stats", &protocol.BrokerStats{Operation: testOp, Stats: protocol.BrokerNumbers{
			Pid: 1, Version: "1.0", Uptime: 3 * time.Millisecond, UptimeMS: 3, Clients: 4, Streams: 5, StreamsTotal: 6,
			ParkedBytes: 7, CreditOwedBytes: 8, BytesIn: 9, BytesOut: 10, FramesIn: 11, FramesOut: 12, CreditWaits: 13,
			FlowErrors: 14, ForeignRefused: 15, HeapBytes: 16, Goroutines: 17,
		}}),
		s("215 pong", &protocol.Pong{Number: 300}),
		s("216 link report", &protocol.LinkReport{
			Ref: testRef, State: domain.LinkSilent, Transport: domain.TransportQUIC, RTT: 300 * time.Microsecond,
			Silent: 4 * time.Second, Move: true,
		}),
		s("216 link report of nothing known", &protocol.LinkReport{Ref: testRef}),
		c("105 add host, not to be started", &protocol.Mutation{Operation: testOp, Kind: protocol.AddHost, Host: "box", Start: protocol.ExistingOnly, Install: true, Program: "/opt/vev\xff"}),
		c("107 reconcile, installing", &protocol.Mutation{Operation: testOp, Kind: protocol.Reconcile, Host: "box", Install: true, Program: "/opt/vev"}),
		c("111 update start policy", &protocol.Mutation{Operation: testOp, Kind: protocol.UpdateHostPolicy, Host: "box", Transport: 1, Start: protocol.ExistingOnly}),
		s("202 snapshot host, not by its first choice", &protocol.SnapshotPart{Revision: 9, Part: protocol.HostEntry{Host: catalogue.Host{
			Name: "box", Link: domain.LinkConnected, Transport: domain.TransportSSH, Why: "UDP does not get through",
		}}}),
		s("207 progress of a step", &protocol.Progress{Operation: testOp, Text: "port 22 does not answer", Step: "tcp", Took: 1500 * time.Microsecond, Failure: &testFault}),
		c("108 open stream that begins", &protocol.OpenStream{Ref: testRef, Host: "box", First: []byte("VEV1")}),
		c("101 register and open", &protocol.Register{Client: "vev 1.0", Open: &protocol.Opening{Host: "box", Start: protocol.ExistingOnly, First: []byte("VEV1")}}),
		c("108 open stream that anybody may see", &protocol.OpenStream{Ref: testRef, Host: "box", First: []byte("VEV1"), Public: true}),
		c("101 register and open what anybody may see", &protocol.Register{Client: "vev 1.0", Open: &protocol.Opening{Host: "box", First: []byte("VEV1"), Public: true}}),
	}
}

// golden is the content of testdata/version1.txt for the samples.
func golden() string {
	var b strings.Builder
	b.WriteString("# Each message of the broker conversation, version 1: name, envelope in hex. Never edit a line.\n")
	for _, s := range samples() {
		e, err := s.append(nil)
		fmt.Fprintf(&b, "%s: %x%s\n", s.name, e, map[bool]string{true: "", false: fmt.Sprint(" ", err)}[err == nil])
	}
	return b.String()
}
