package brokerwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// AppendClient appends the envelope of m. The error is a fault of kind Internal: a message
// that this direction does not have, or a text that is not UTF-8.
func AppendClient(dst []byte, m protocol.BrokerClientMessage) ([]byte, error) {
	switch m := m.(type) {
	case *protocol.Register:
		return envelope(dst, TagRegister, m, visitRegister)
	case *protocol.Subscribe:
		return envelope(dst, TagSubscribe, m, visitSubscribe)
	case *protocol.Resync:
		return envelope(dst, TagResync, m, visitResync)
	case *protocol.Unsubscribe:
		return envelope(dst, TagUnsubscribe, m, wirefmt.Empty)
	case *protocol.Mutation:
		return appendMutation(dst, m)
	case *protocol.OpenStream:
		return envelope(dst, TagOpenStream, m, visitOpenStream)
	case *protocol.StreamData:
		return envelope(dst, TagClientStreamData, m, visitStreamData)
	case *protocol.CloseStream:
		return envelope(dst, TagCloseStream, m, visitCloseStream)
	case *protocol.StartPreview:
		return envelope(dst, TagStartPreview, m, visitStartPreview)
	case *protocol.CancelPreview:
		return envelope(dst, TagCancelPreview, m, visitCancelPreview)
	case *protocol.StreamWindowUpdate:
		return envelope(dst, TagClientWindowUpdate, m, visitWindowUpdate)
	case *protocol.PromptReply:
		return envelope(dst, TagPromptReply, m, visitPromptReply)
	case *protocol.StatsRequest:
		return envelope(dst, TagStatsRequest, m, visitStatsRequest)
	case *protocol.Ping:
		return envelope(dst, TagPing, m, visitPing)
	}
	return dst, fault.New(fault.Internal, "no client message %T", m)
}

func appendMutation(dst []byte, m *protocol.Mutation) ([]byte, error) {
	switch m.Kind {
	case protocol.AddHost:
		return envelope(dst, TagAddHost, m, visitAddHost)
	case protocol.RemoveHost:
		return envelope(dst, TagRemoveHost, m, visitHost)
	case protocol.Reconcile:
		return envelope(dst, TagReconcile, m, visitReconcile)
	case protocol.UpdateHostPolicy:
		return envelope(dst, TagUpdateHostPolicy, m, visitHostPolicy)
	}
	return dst, fault.New(fault.Internal, "no mutation %d", m.Kind)
}

// AppendServer appends the envelope of m. Errors as of AppendClient.
func AppendServer(dst []byte, m protocol.BrokerServerMessage) ([]byte, error) {
	switch m := m.(type) {
	case *protocol.Registered:
		return envelope(dst, TagRegistered, m, visitRegistered)
	case *protocol.SnapshotPart:
		return envelope(dst, TagSnapshotPart, m, visitPart)
	case *protocol.OperationResult:
		return envelope(dst, TagOperationResult, m, visitOperationResult)
	case *protocol.StreamOpened:
		return envelope(dst, TagStreamOpened, m, visitStreamOpened)
	case *protocol.StreamData:
		return envelope(dst, TagServerStreamData, m, visitStreamData)
	case *protocol.StreamClosed:
		return envelope(dst, TagStreamClosed, m, visitStreamClosed)
	case *protocol.Progress:
		return envelope(dst, TagProgress, m, visitProgress)
	case *protocol.BrokerError:
		return envelope(dst, TagBrokerError, m, visitBrokerError)
	case *protocol.Shutdown:
		return envelope(dst, TagShutdown, m, visitShutdown)
	case *protocol.PreviewPublication:
		return envelope(dst, TagPreviewPublication, m, visitPreview)
	case *protocol.StreamWindowUpdate:
		return envelope(dst, TagServerWindowUpdate, m, visitWindowUpdate)
	case *protocol.SnapshotDelta:
		return envelope(dst, TagSnapshotDelta, m, visitDelta)
	case *protocol.Prompt:
		return envelope(dst, TagPrompt, m, visitPrompt)
	case *protocol.BrokerStats:
		return envelope(dst, TagBrokerStats, m, visitStats)
	case *protocol.Pong:
		return envelope(dst, TagPong, m, visitPong)
	case *protocol.LinkReport:
		return envelope(dst, TagLinkReport, m, visitLinkReport)
	}
	return dst, fault.New(fault.Internal, "no server message %T", m)
}

func envelope[T any](dst []byte, tag Tag, m *T, visit func(*wirefmt.Fields, *T)) ([]byte, error) {
	b, err := wirefmt.AppendEnvelope(dst, tag, m, visit)
	if err != nil {
		return dst, fault.Wrap(fault.Internal, err, "a message cannot be encoded")
	}
	return b, nil
}
