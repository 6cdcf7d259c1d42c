package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

// appendClient appends the envelope of m. The error is a breach and says that m must not be sent.
func appendClient(b []byte, m protocol.SessionClientMessage) ([]byte, error) {
	switch m := m.(type) {
	case *protocol.Input:
		if err := checkInput(m); err != nil {
			return b, err
		}
		return appendInput(b, m), nil
	case *protocol.Ack:
		return appendAck(b, m), nil
	case *protocol.Resize:
		if err := checkResize(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagResize, &resizeShape, m, visitResize)
	case *protocol.Focus:
		return appendMessage(b, tagFocus, &emptyShape, m, visitFocus)
	case *protocol.Detach:
		return appendHead(b, tagDetach, 0), nil
	case *protocol.Watch:
		if err := checkWatch(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagWatch, &watchShape, m, visitWatch)
	case *protocol.Cancel:
		b = appendHead(b, tagCancel, sizeUint(1, m.ID))
		return appendUint(b, 1, m.ID), nil
	case *protocol.Attach:
		if err := checkAttach(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagAttach, &attachShape, m, visitAttach)
	case *protocol.Request:
		if err := checkRequest(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagRequest, &requestShape, m, visitRequest)
	}
	return b, broken("%T is no message of a session client", m)
}

// appendServer appends the envelope of m. The error is a breach and says that m must not be sent.
func appendServer(b []byte, m protocol.SessionServerMessage) ([]byte, error) {
	switch m := m.(type) {
	case *protocol.Output:
		if err := checkOutput(m); err != nil {
			return b, err
		}
		return appendOutput(b, m), nil
	case *protocol.Attached:
		if err := checkAttached(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagAttached, &attachedShape, m, visitAttached)
	case *protocol.Result:
		if err := checkResult(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagResult, &resultShape, m, visitResult)
	case *protocol.Ended:
		if err := checkEnded(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagEnded, &endedShape, m, visitEnded)
	case *protocol.Refused:
		return appendMessage(b, tagRefused, &refusedShape, m, visitRefused)
	case *protocol.Watching:
		return appendMessage(b, tagWatching, &watchingShape, m, visitWatching)
	case *protocol.CatalogueUpdate:
		if err := checkUpdate(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagUpdate, &updateShape, m, visitUpdate)
	case *protocol.WatchedEvents:
		if err := checkEvents(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagEvents, &eventsShape, m, visitWatchedEvents)
	case *protocol.Preview:
		if err := checkPreview(m); err != nil {
			return b, err
		}
		return appendMessage(b, tagPreview, &previewShape, m, visitPreview)
	}
	return b, broken("%T is no message of a session server", m)
}

// appendMessage appends one envelope and holds our own bytes to what we ask of a peer's.
func appendMessage[T any](b []byte, tag wirefmt.Number, s *shape, m *T, visit func(*wirefmt.Fields, *T)) ([]byte, error) {
	start := len(b)
	b, err := wirefmt.AppendEnvelope(b, tag, m, visit)
	if err != nil {
		return b, broken("%s holds text that is not UTF-8", s.name)
	}
	_, body, err := open(b[start:])
	if err != nil {
		return b, err
	}
	return b, s.walk(body)
}
