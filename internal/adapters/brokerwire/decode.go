package brokerwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// DecodeClient reads one envelope from a client. The error is a fault of kind Violation.
// Nothing of the message lies in body's memory.
func DecodeClient(body []byte) (protocol.BrokerClientMessage, error) {
	tag, in, err := open(body, isClientTag, isServerTag)
	if err != nil {
		return nil, err
	}
	switch tag {
	case TagRegister:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.Register), visitRegister)
	case TagSubscribe:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.Subscribe), visitSubscribe)
	case TagResync:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.Resync), visitResync)
	case TagUnsubscribe:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.Unsubscribe), wirefmt.Empty)
	case TagAddHost:
		return read[protocol.BrokerClientMessage](tag, in, &protocol.Mutation{Kind: protocol.AddHost}, visitAddHost)
	case TagRemoveHost:
		return read[protocol.BrokerClientMessage](tag, in, &protocol.Mutation{Kind: protocol.RemoveHost}, visitHost)
	case TagReconcile:
		return read[protocol.BrokerClientMessage](tag, in, &protocol.Mutation{Kind: protocol.Reconcile}, visitReconcile)
	case TagUpdateHostPolicy:
		return read[protocol.BrokerClientMessage](tag, in, &protocol.Mutation{Kind: protocol.UpdateHostPolicy}, visitHostPolicy)
	case TagOpenStream:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.OpenStream), visitOpenStream)
	case TagClientStreamData:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.StreamData), visitStreamData)
	case TagCloseStream:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.CloseStream), visitCloseStream)
	case TagStartPreview:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.StartPreview), visitStartPreview)
	case TagCancelPreview:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.CancelPreview), visitCancelPreview)
	case TagClientWindowUpdate:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.StreamWindowUpdate), visitWindowUpdate)
	case TagPromptReply:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.PromptReply), visitPromptReply)
	case TagStatsRequest:
		return read[protocol.BrokerClientMessage](tag, in, new(protocol.StatsRequest), visitStatsRequest)
	}
	return read[protocol.BrokerClientMessage](tag, in, new(protocol.Ping), visitPing)
}

// DecodeServer reads one envelope from a broker. The error is a fault of kind Violation.
// Nothing of the message lies in body's memory.
func DecodeServer(body []byte) (protocol.BrokerServerMessage, error) {
	tag, in, err := open(body, isServerTag, isClientTag)
	if err != nil {
		return nil, err
	}
	switch tag {
	case TagRegistered:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.Registered), visitRegistered)
	case TagSnapshotPart:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.SnapshotPart), visitPart)
	case TagOperationResult:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.OperationResult), visitOperationResult)
	case TagStreamOpened:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.StreamOpened), visitStreamOpened)
	case TagServerStreamData:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.StreamData), visitStreamData)
	case TagStreamClosed:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.StreamClosed), visitStreamClosed)
	case TagProgress:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.Progress), visitProgress)
	case TagBrokerError:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.BrokerError), visitBrokerError)
	case TagShutdown:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.Shutdown), visitShutdown)
	case TagPreviewPublication:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.PreviewPublication), visitPreview)
	case TagServerWindowUpdate:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.StreamWindowUpdate), visitWindowUpdate)
	case TagSnapshotDelta:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.SnapshotDelta), visitDelta)
	case TagPrompt:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.Prompt), visitPrompt)
	case TagBrokerStats:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.BrokerStats), visitStats)
	case TagPong:
		return read[protocol.BrokerServerMessage](tag, in, new(protocol.Pong), visitPong)
	}
	return read[protocol.BrokerServerMessage](tag, in, new(protocol.LinkReport), visitLinkReport)
}

// read turns the body of message tag into m, which becomes an I.
func read[I, T any](tag Tag, in []byte, m *T, visit func(*wirefmt.Fields, *T)) (none I, err error) {
	out := wirefmt.Read(in, m, visit)
	switch {
	case out.Broken != nil:
		return none, fault.Wrap(fault.Violation, out.Broken, "message %d cannot be read", tag)
	case out.Refused != nil:
		return none, violation("message %d: %s", tag, out.Refused)
	}
	return any(m).(I), nil
}
