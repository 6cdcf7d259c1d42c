package sessionwire

import "github.com/vev-term/vev/internal/protocol"

// state is where a conversation is (docs/protocol.md, States of a conversation). The same
// machine runs at both ends: each steps it by what it sends and by what it receives.
type state uint8

const (
	stateNew        state = iota // nothing was said; the first message decides
	stateAttaching               // Attach was said and has no answer yet
	stateAttached                // the long life of an attachment
	stateRequesting              // requests and results, nothing else
	stateWatching                // Watch was said and has no answer yet
	stateWatched                 // the long life of a watch: the daemon tells
	stateEnded                   // Ended was said: a Detach confirms that it was heard
	stateClosed                  // Refused or that Detach was said: nothing follows
)

var stateNames = [...]string{"new", "attaching", "attached", "requesting", "watching", "watched", "ended", "closed"}

func (s state) String() string { return stateNames[s] }

// verdict is what becomes of a message.
type verdict uint8

const (
	refuse  verdict = iota // it breaks the order: a violation, or our own mistake
	accept                 // it may be sent or handed up
	discard                // it crossed the end of the conversation: not sent, not handed up
)

// kind is a message by its tag. Tags of the two directions overlap, kinds do not.
type kind uint8

const (
	kindAttach kind = iota
	kindWatch
	kindRequest
	kindInput
	kindAck
	kindResize
	kindDetach
	kindCancel
	kindFocus

	kindAttached
	kindOutput
	kindResult
	kindEnded
	kindRefused
	kindWatching
	kindUpdate
	kindPreview
	kindEvents
	kindEnd
)

var kindNames = [kindEnd]string{
	"attach", "watch", "request", "input", "ack", "resize", "detach", "cancel", "focus",
	"attached", "output", "result", "ended", "refused", "watching", "catalogue update", "preview", "events",
}

func (k kind) String() string { return kindNames[k] }

// step returns where s goes on message k, and what becomes of k. A refused message changes nothing.
func (s state) step(k kind) (state, verdict) {
	switch s {
	case stateNew:
		return stepNew(k)
	case stateAttaching, stateAttached:
		return s.stepAttachment(k)
	case stateRequesting:
		switch k {
		case kindRequest, kindCancel, kindResult:
			return s, accept
		case kindRefused:
			return stateClosed, accept
		}
	case stateWatching:
		switch k {
		case kindRefused:
			return stateClosed, accept
		case kindWatching:
			return stateWatched, accept
		}
	case stateWatched:
		if k == kindUpdate || k == kindPreview || k == kindEvents {
			return s, accept
		}
	case stateEnded, stateClosed:
		return s.stepOver(k)
	}
	return s, refuse
}

func stepNew(k kind) (state, verdict) {
	switch k {
	case kindAttach:
		return stateAttaching, accept
	case kindWatch:
		return stateWatching, accept
	case kindRequest:
		return stateRequesting, accept
	}
	return stateNew, refuse
}

// stepAttachment: a client need not wait for Attached before it speaks, as the answer may be
// Refused; the daemon then drops what came.
func (s state) stepAttachment(k kind) (state, verdict) {
	switch k {
	case kindRequest, kindInput, kindAck, kindResize, kindDetach, kindCancel, kindFocus, kindResult:
		return s, accept
	case kindAttached:
		if s == stateAttaching {
			return stateAttached, accept
		}
	case kindRefused:
		if s == stateAttaching {
			return stateClosed, accept
		}
	case kindOutput:
		if s == stateAttached {
			return s, accept
		}
	case kindEnded:
		if s == stateAttached {
			return stateEnded, accept
		}
	}
	return s, refuse
}

// stepOver: what a client said before it knew is nobody's fault; the server knew.
func (s state) stepOver(k kind) (state, verdict) {
	switch {
	case s == stateEnded && k == kindDetach:
		return stateClosed, accept
	case k < kindAttached:
		return s, discard
	}
	return s, refuse
}

func clientKind(m protocol.SessionClientMessage) kind {
	switch m.(type) {
	case *protocol.Attach:
		return kindAttach
	case *protocol.Watch:
		return kindWatch
	case *protocol.Request:
		return kindRequest
	case *protocol.Input:
		return kindInput
	case *protocol.Ack:
		return kindAck
	case *protocol.Resize:
		return kindResize
	case *protocol.Detach:
		return kindDetach
	case *protocol.Cancel:
		return kindCancel
	case *protocol.Focus:
		return kindFocus
	}
	return kindEnd
}

func serverKind(m protocol.SessionServerMessage) kind {
	switch m.(type) {
	case *protocol.Attached:
		return kindAttached
	case *protocol.Output:
		return kindOutput
	case *protocol.Result:
		return kindResult
	case *protocol.Ended:
		return kindEnded
	case *protocol.Refused:
		return kindRefused
	case *protocol.Watching:
		return kindWatching
	case *protocol.CatalogueUpdate:
		return kindUpdate
	case *protocol.Preview:
		return kindPreview
	case *protocol.WatchedEvents:
		return kindEvents
	}
	return kindEnd
}
