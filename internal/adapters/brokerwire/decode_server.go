package brokerwire

import (
	"math"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// DecodeServer reads one envelope from a broker. The error is a fault of kind Violation.
func DecodeServer(body []byte) (protocol.BrokerServerMessage, error) {
	tag, in, err := open(body, isServerTag, isClientTag)
	if err != nil {
		return nil, err
	}
	c := &checker{tag: tag}
	m := c.serverMessage(in)
	if c.err != nil {
		return nil, c.err
	}
	return m, nil
}

func (c *checker) serverMessage(in []byte) protocol.BrokerServerMessage {
	switch c.tag {
	case TagRegistered:
		w := new(wire.Registered)
		c.read(in, w)
		return &protocol.Registered{Scope: c.scope(w.GetScope())}
	case TagStreamOpened, TagServerStreamData, TagStreamClosed, TagServerWindowUpdate:
		return c.serverStream(in)
	case TagSnapshotPart:
		w := new(wire.SnapshotPart)
		c.read(in, w)
		return c.part(w)
	case TagSnapshotDelta:
		w := new(wire.SnapshotDelta)
		c.read(in, w)
		return c.delta(w)
	case TagBrokerError:
		w := new(wire.BrokerErrorMessage)
		c.read(in, w)
		return &protocol.BrokerError{Failure: c.needFailure(w.GetFailure()), Operation: c.optionalID("operation id", w.GetOperationId())}
	case TagShutdown:
		w := new(wire.Shutdown)
		c.read(in, w)
		return &protocol.Shutdown{Reason: c.needFailure(w.GetReason())}
	case TagPrompt:
		w := new(wire.Prompt)
		c.read(in, w)
		return &protocol.Prompt{
			Prompt: c.id("prompt id", w.GetPromptId()), Host: c.text("host", w.GetHost(), protocol.MaxHostBytes),
			Text: c.text("question", w.GetText(), fault.MaxText), Echo: w.GetEcho(),
		}
	}
	return c.serverAnswer(in)
}

func (c *checker) serverStream(in []byte) protocol.BrokerServerMessage {
	switch c.tag {
	case TagStreamOpened:
		w := new(wire.StreamOpened)
		c.read(in, w)
		return &protocol.StreamOpened{Ref: c.ref(w.GetRef()), Direct: w.GetDirect()}
	case TagServerStreamData:
		w := new(wire.ServerStreamData)
		c.read(in, w)
		return &protocol.StreamData{Ref: c.ref(w.GetRef()), Data: w.GetData()}
	case TagStreamClosed:
		w := new(wire.StreamClosed)
		c.read(in, w)
		return &protocol.StreamClosed{Ref: c.ref(w.GetRef()), Failure: c.failure(w.GetFailure())}
	}
	return c.windowUpdate(in)
}

func (c *checker) serverAnswer(in []byte) protocol.BrokerServerMessage {
	switch c.tag {
	case TagOperationResult:
		w := new(wire.OperationResult)
		c.read(in, w)
		return &protocol.OperationResult{
			Operation: c.id("operation id", w.GetOperationId()),
			Outcome:   protocol.Outcome(c.choice("outcome", w.GetOutcome(), uint32(protocol.OutcomeUnknown))),
			Failure:   c.failure(w.GetFailure()),
		}
	case TagProgress:
		w := new(wire.Progress)
		c.read(in, w)
		return &protocol.Progress{
			Operation: c.id("operation id", w.GetOperationId()), Text: c.text("progress text", w.GetText(), fault.MaxText),
		}
	case TagPreviewPublication:
		w := new(wire.PreviewPublication)
		c.read(in, w)
		return &protocol.PreviewPublication{
			Operation: c.id("operation id", w.GetOperationId()), Sequence: w.GetSequence(),
			Content: c.bytes("preview", w.GetContent(), protocol.MaxPreviewBytes),
		}
	}
	w := new(wire.BrokerStats)
	c.read(in, w)
	return &protocol.BrokerStats{Operation: c.id("operation id", w.GetOperationId()), Stats: c.stats(w)}
}

func (c *checker) stats(w *wire.BrokerStats) protocol.BrokerNumbers {
	ms := int64(min(w.GetUptimeMs(), math.MaxInt64/uint64(time.Millisecond)))
	return protocol.BrokerNumbers{
		Pid: int(w.GetPid()), Version: c.text("version", w.GetVersion(), fault.MaxText),
		Uptime: time.Duration(ms) * time.Millisecond, UptimeMS: ms,
		Clients: int(w.GetClients()), Streams: int(w.GetStreams()), StreamsTotal: w.GetStreamsTotal(),
		ParkedBytes: w.GetParkedBytes(), CreditOwedBytes: w.GetCreditOwedBytes(),
		BytesIn: w.GetBytesIn(), BytesOut: w.GetBytesOut(), FramesIn: w.GetFramesIn(), FramesOut: w.GetFramesOut(),
		CreditWaits: w.GetCreditWaits(), FlowErrors: w.GetFlowErrors(), ForeignRefused: w.GetForeignRefused(),
		HeapBytes: w.GetHeapBytes(), Goroutines: int(w.GetGoroutines()),
	}
}
