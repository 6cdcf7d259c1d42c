package brokeripc

import "github.com/vev-term/vev/internal/protocol"

// cost is what a data frame of n bytes takes from the window: its bytes and a share for its
// head, so that tiny frames are bounded in number too.
func cost(n int) int64 { return int64(n) + protocol.StreamChunkCredit }

// sendWindow is what we may still send on a stream.
type sendWindow struct {
	credit, window int64
}

func newSendWindow(window int64) sendWindow { return sendWindow{credit: window, window: window} }

// spend takes c if there is as much.
func (w *sendWindow) spend(c int64) bool {
	if w.credit < c {
		return false
	}
	w.credit -= c
	return true
}

// grant adds credit. False: the grant is 0 or more than was ever spent; nothing has changed.
func (w *sendWindow) grant(c int64) bool {
	if c <= 0 || c > w.window-w.credit {
		return false
	}
	w.credit += c
	return true
}

// recvWindow is what the peer may still send on a stream. At any time left + what is held
// unread + earned is the window, so never more than a window is held.
type recvWindow struct {
	left   int64 // the peer may still spend
	earned int64 // read by the consumer and not granted again
	batch  int64 // earned credit is worth a message from here on
}

// newRecvWindow: batching as docs/protocol.md has it. At half a window a grant is rare; not
// beyond window - maxFrame + 1, so a sender that waits for one frame of the largest cost is
// always released once everything it sent has been read.
func newRecvWindow(window, maxFrame int64) recvWindow {
	return recvWindow{left: window, batch: max(min(window/2, window-maxFrame+1), 1)}
}

// receive takes the cost of a frame that came; false: the peer ignored its window.
func (w *recvWindow) receive(c int64) bool {
	if c > w.left {
		return false
	}
	w.left -= c
	return true
}

// consume notes that a frame has been read completely and returns the credit to grant now,
// or 0 while it is too little for a message.
func (w *recvWindow) consume(c int64) int64 {
	w.earned += c
	if w.earned < w.batch {
		return 0
	}
	g := w.earned
	w.earned = 0
	w.left += g
	return g
}
