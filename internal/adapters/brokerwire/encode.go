package brokerwire

import (
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// AppendClient appends the envelope of m. The error is a fault of kind Internal: a message
// that this direction does not have.
func AppendClient(dst []byte, m protocol.BrokerClientMessage) ([]byte, error) {
	e := new(wire.BrokerClientEnvelope)
	switch m := m.(type) {
	case *protocol.Register:
		e.SetRegister(wire.Register_builder{Client: fault.Clean(m.Client)}.Build())
	case *protocol.Subscribe:
		e.SetSubscribe(wire.Subscribe_builder{KnownRevision: m.KnownRevision}.Build())
	case *protocol.Resync:
		e.SetResync(wire.Resync_builder{HaveRevision: m.HaveRevision}.Build())
	case *protocol.Unsubscribe:
		e.SetUnsubscribe(new(wire.Unsubscribe))
	case *protocol.Mutation:
		setMutation(e, m)
	case *protocol.OpenStream:
		e.SetOpenStream(wire.OpenStream_builder{Ref: refOf(m.Ref), Host: m.Host, Start: uint32(m.Start)}.Build())
	case *protocol.StreamData:
		e.SetClientStreamData(wire.ClientStreamData_builder{Ref: refOf(m.Ref), Data: m.Data}.Build())
	case *protocol.CloseStream:
		e.SetCloseStream(wire.CloseStream_builder{Ref: refOf(m.Ref), Failure: failureOf(m.Failure)}.Build())
	case *protocol.StartPreview:
		e.SetStartPreview(wire.StartPreview_builder{
			OperationId: m.Operation[:], Host: m.Host, SessionId: m.Session[:], Cols: m.Cols, Rows: m.Rows,
		}.Build())
	case *protocol.CancelPreview:
		e.SetCancelPreview(wire.CancelPreview_builder{OperationId: m.Operation[:]}.Build())
	case *protocol.StreamWindowUpdate:
		e.SetStreamWindowUpdate(wire.StreamWindowUpdate_builder{Ref: refOf(m.Ref), Credit: m.Credit}.Build())
	case *protocol.PromptReply:
		e.SetPromptReply(wire.PromptReply_builder{PromptId: m.Prompt[:], Answer: m.Answer, Cancel: m.Cancel}.Build())
	case *protocol.StatsRequest:
		e.SetStatsRequest(wire.StatsRequest_builder{OperationId: m.Operation[:]}.Build())
	default:
		return dst, fault.New(fault.Internal, "no client message %T", m)
	}
	return appendEnvelope(dst, e)
}

func setMutation(e *wire.BrokerClientEnvelope, m *protocol.Mutation) {
	switch m.Kind {
	case protocol.AddHost:
		e.SetAddHost(wire.AddHost_builder{
			OperationId: m.Operation[:], Host: m.Host, Alias: m.Alias, Transport: m.Transport, Install: m.Install,
		}.Build())
	case protocol.RemoveHost:
		e.SetRemoveHost(wire.RemoveHost_builder{OperationId: m.Operation[:], Host: m.Host}.Build())
	case protocol.Reconcile:
		e.SetReconcile(wire.Reconcile_builder{OperationId: m.Operation[:], Host: m.Host}.Build())
	case protocol.UpdateHostPolicy:
		e.SetUpdateHostPolicy(wire.UpdateHostPolicy_builder{OperationId: m.Operation[:], Host: m.Host, Transport: m.Transport}.Build())
	}
}

// AppendServer appends the envelope of m. Errors as of AppendClient.
func AppendServer(dst []byte, m protocol.BrokerServerMessage) ([]byte, error) {
	e := new(wire.BrokerServerEnvelope)
	switch m := m.(type) {
	case *protocol.Registered:
		e.SetRegistered(wire.Registered_builder{Scope: scopeOf(m.Scope)}.Build())
	case *protocol.SnapshotPart:
		e.SetSnapshotPart(partOf(m))
	case *protocol.OperationResult:
		e.SetOperationResult(wire.OperationResult_builder{
			OperationId: m.Operation[:], Outcome: uint32(m.Outcome), Failure: failureOf(m.Failure),
		}.Build())
	case *protocol.StreamOpened:
		e.SetStreamOpened(wire.StreamOpened_builder{Ref: refOf(m.Ref), Direct: m.Direct}.Build())
	case *protocol.StreamData:
		e.SetServerStreamData(wire.ServerStreamData_builder{Ref: refOf(m.Ref), Data: m.Data}.Build())
	case *protocol.StreamClosed:
		e.SetStreamClosed(wire.StreamClosed_builder{Ref: refOf(m.Ref), Failure: failureOf(m.Failure)}.Build())
	case *protocol.Progress:
		e.SetProgress(wire.Progress_builder{OperationId: m.Operation[:], Text: fault.Clean(m.Text)}.Build())
	case *protocol.BrokerError:
		e.SetBrokerError(wire.BrokerErrorMessage_builder{Failure: failureOf(&m.Failure), OperationId: operationOf(m.Operation)}.Build())
	case *protocol.Shutdown:
		e.SetShutdown(wire.Shutdown_builder{Reason: failureOf(&m.Reason)}.Build())
	case *protocol.PreviewPublication:
		e.SetPreviewPublication(wire.PreviewPublication_builder{
			OperationId: m.Operation[:], Sequence: m.Sequence, Content: m.Content,
		}.Build())
	case *protocol.StreamWindowUpdate:
		e.SetStreamWindowUpdate(wire.StreamWindowUpdate_builder{Ref: refOf(m.Ref), Credit: m.Credit}.Build())
	case *protocol.SnapshotDelta:
		e.SetSnapshotDelta(deltaOf(m))
	case *protocol.Prompt:
		e.SetPrompt(wire.Prompt_builder{PromptId: m.Prompt[:], Host: m.Host, Text: fault.Clean(m.Text), Echo: m.Echo}.Build())
	case *protocol.BrokerStats:
		e.SetBrokerStats(statsOf(m))
	default:
		return dst, fault.New(fault.Internal, "no server message %T", m)
	}
	return appendEnvelope(dst, e)
}

func appendEnvelope(dst []byte, e proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, e)
	if err != nil {
		return dst, fault.Wrap(fault.Internal, err, "a message cannot be encoded")
	}
	return b, nil
}

func scopeOf(s protocol.Scope) *wire.Scope {
	return wire.Scope_builder{BrokerEpoch: s.BrokerEpoch, ConnectionId: s.Connection[:]}.Build()
}

func refOf(r protocol.StreamRef) *wire.StreamRef {
	return wire.StreamRef_builder{Scope: scopeOf(r.Scope), StreamId: uint64(r.ID)}.Build()
}

func failureOf(f *protocol.Failure) *wire.Failure {
	if f == nil {
		return nil
	}
	return wire.Failure_builder{Code: uint32(f.Kind), Text: fault.Clean(f.Text), Hint: fault.Clean(f.Hint)}.Build()
}

// operationOf is absent for the zero id: an error that answers no operation.
func operationOf(id protocol.OperationID) []byte {
	if id == (protocol.OperationID{}) {
		return nil
	}
	return id[:]
}

// small is a count as it travels; ours never come near the bound.
func small(n int) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }

func statsOf(m *protocol.BrokerStats) *wire.BrokerStats {
	s := &m.Stats
	return wire.BrokerStats_builder{
		OperationId: m.Operation[:], Pid: small(s.Pid), Version: fault.Clean(s.Version), UptimeMs: uint64(max(s.UptimeMS, 0)),
		Clients: small(s.Clients), Streams: small(s.Streams), StreamsTotal: s.StreamsTotal,
		ParkedBytes: s.ParkedBytes, CreditOwedBytes: s.CreditOwedBytes, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
		FramesIn: s.FramesIn, FramesOut: s.FramesOut, CreditWaits: s.CreditWaits, FlowErrors: s.FlowErrors,
		ForeignRefused: s.ForeignRefused, HeapBytes: s.HeapBytes, Goroutines: small(s.Goroutines),
	}.Build()
}
