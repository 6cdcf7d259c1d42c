package brokerwire

import (
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// DecodeClient reads one envelope from a client. The error is a fault of kind Violation.
func DecodeClient(body []byte) (protocol.BrokerClientMessage, error) {
	tag, in, err := open(body, isClientTag, isServerTag)
	if err != nil {
		return nil, err
	}
	c := &checker{tag: tag}
	m := c.clientMessage(in)
	if c.err != nil {
		return nil, c.err
	}
	return m, nil
}

func (c *checker) clientMessage(in []byte) protocol.BrokerClientMessage {
	switch c.tag {
	case TagRegister:
		w := new(wire.Register)
		c.read(in, w)
		return &protocol.Register{Client: c.text("client", w.GetClient(), fault.MaxText)}
	case TagSubscribe:
		w := new(wire.Subscribe)
		c.read(in, w)
		return &protocol.Subscribe{KnownRevision: w.GetKnownRevision()}
	case TagResync:
		w := new(wire.Resync)
		c.read(in, w)
		return &protocol.Resync{HaveRevision: w.GetHaveRevision()}
	case TagUnsubscribe:
		c.read(in, new(wire.Unsubscribe))
		return &protocol.Unsubscribe{}
	case TagAddHost, TagRemoveHost, TagReconcile, TagUpdateHostPolicy:
		return c.mutation(in)
	case TagOpenStream, TagClientStreamData, TagCloseStream, TagClientWindowUpdate:
		return c.clientStream(in)
	}
	return c.clientRequest(in)
}

func (c *checker) clientStream(in []byte) protocol.BrokerClientMessage {
	switch c.tag {
	case TagOpenStream:
		w := new(wire.OpenStream)
		c.read(in, w)
		return &protocol.OpenStream{
			Ref: c.ref(w.GetRef()), Host: c.text("host", w.GetHost(), protocol.MaxHostBytes),
			Start: protocol.StartPolicy(c.choice("start policy", w.GetStart(), uint32(protocol.ExistingOnly))),
		}
	case TagClientStreamData:
		w := new(wire.ClientStreamData)
		c.read(in, w)
		return &protocol.StreamData{Ref: c.ref(w.GetRef()), Data: w.GetData()}
	case TagCloseStream:
		w := new(wire.CloseStream)
		c.read(in, w)
		return &protocol.CloseStream{Ref: c.ref(w.GetRef()), Failure: c.failure(w.GetFailure())}
	}
	return c.windowUpdate(in)
}

func (c *checker) windowUpdate(in []byte) *protocol.StreamWindowUpdate {
	w := new(wire.StreamWindowUpdate)
	c.read(in, w)
	return &protocol.StreamWindowUpdate{Ref: c.ref(w.GetRef()), Credit: w.GetCredit()}
}

func (c *checker) clientRequest(in []byte) protocol.BrokerClientMessage {
	switch c.tag {
	case TagStartPreview:
		w := new(wire.StartPreview)
		c.read(in, w)
		return &protocol.StartPreview{
			Operation: c.id("operation id", w.GetOperationId()), Host: c.text("host", w.GetHost(), protocol.MaxHostBytes),
			Session: c.id("session id", w.GetSessionId()), Cols: w.GetCols(), Rows: w.GetRows(),
		}
	case TagCancelPreview:
		w := new(wire.CancelPreview)
		c.read(in, w)
		return &protocol.CancelPreview{Operation: c.id("operation id", w.GetOperationId())}
	case TagPromptReply:
		w := new(wire.PromptReply)
		c.read(in, w)
		return &protocol.PromptReply{
			Prompt: c.id("prompt id", w.GetPromptId()),
			Answer: c.bytes("answer", w.GetAnswer(), protocol.MaxAnswerBytes), Cancel: w.GetCancel(),
		}
	}
	w := new(wire.StatsRequest)
	c.read(in, w)
	return &protocol.StatsRequest{Operation: c.id("operation id", w.GetOperationId())}
}

func (c *checker) mutation(in []byte) protocol.BrokerClientMessage {
	switch c.tag {
	case TagAddHost:
		w := new(wire.AddHost)
		c.read(in, w)
		return &protocol.Mutation{
			Operation: c.id("operation id", w.GetOperationId()), Kind: protocol.AddHost,
			Host: c.text("host", w.GetHost(), protocol.MaxHostBytes), Alias: c.text("alias", w.GetAlias(), protocol.MaxHostBytes),
			Transport: w.GetTransport(), Install: w.GetInstall(),
		}
	case TagRemoveHost:
		w := new(wire.RemoveHost)
		c.read(in, w)
		return c.hostMutation(protocol.RemoveHost, w.GetOperationId(), w.GetHost())
	case TagReconcile:
		w := new(wire.Reconcile)
		c.read(in, w)
		return c.hostMutation(protocol.Reconcile, w.GetOperationId(), w.GetHost())
	}
	w := new(wire.UpdateHostPolicy)
	c.read(in, w)
	m := c.hostMutation(protocol.UpdateHostPolicy, w.GetOperationId(), w.GetHost())
	m.Transport = w.GetTransport()
	return m
}

func (c *checker) hostMutation(kind protocol.MutationKind, id []byte, host string) *protocol.Mutation {
	return &protocol.Mutation{
		Operation: c.id("operation id", id), Kind: kind, Host: c.text("host", host, protocol.MaxHostBytes),
	}
}
