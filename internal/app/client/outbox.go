package client

import (
	"context"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// So much input may be on its way for whoever has something to send to send it from their own goroutine: so little is
// taken by any carriage at once. With more (a paste, a link that is stuck) the sender goroutine sends, so that the
// terminal is read and states are received whatever the carriage does.
const (
	directBytes    = 4 << 10
	directMessages = 64
)

// outbox holds what is owed to the daemon: the newest acknowledgement, the newest size, the input, requests, the goodbye. Owing
// never waits. At most one goroutine is in Send at a time; the others leave what they owe to it.
type outbox struct {
	wake  chan struct{} // cap 1: the sender has something to do
	space chan struct{} // cap 1: the log has room again

	mu                    sync.Mutex // a leaf: nothing waits while it is held
	conn                  ports.SessionClientConn
	sending               bool
	starved               bool // the pump waits for space
	in                    inputLog
	ack                   protocol.Ack
	ackOwed               bool
	acksHeld              int         // acknowledgements that wait, of which ack is the newest
	ackHeld               time.Time   // since when that one does
	ackDue                time.Time   // when it goes all the same
	ackTimer              *time.Timer // owes it
	size                  protocol.Resize
	resized               bool
	focus                 protocol.Focus
	focusKnown, focusOwed bool
	bye                   bool // a Detach is owed
	shut                  bool // no conversation any more
	asked                 questions

	contact *contact // told of what is sent; a leaf below mu
	watch   chan<- struct{}

	// Of the goroutine that is sending: messages and the bytes of input are made here, not allocated.
	outAck   protocol.Ack
	outSize  protocol.Resize
	outFocus protocol.Focus
	outInput protocol.Input
	outAsk   protocol.Request
	outStop  protocol.Cancel
	detach   protocol.Detach
	scratch  []byte
}

// newOutbox returns an outbox that tells contact what is sent, and watch when keys wait from then on.
func newOutbox(c *contact, watch chan<- struct{}) *outbox {
	return &outbox{wake: make(chan struct{}, 1), space: make(chan struct{}, 1), contact: c, watch: watch}
}

// signal wakes the reader of a channel with room for one wake-up.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin sends on conn from now on, whose daemon has the input up to received: the rest is sent again.
func (o *outbox) begin(conn ports.SessionClientConn, received uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return fault.New(fault.Canceled, "the attachment is over")
	}
	if received < o.in.acked || !o.in.ack(received) {
		return fault.New(fault.Violation, "the daemon has input %d, sent were %d to %d",
			received, o.in.acked, o.in.acked+uint64(o.in.count))
	}
	o.in.rewind()
	o.asked.rewind()
	o.conn, o.ackOwed, o.acksHeld, o.focusOwed = conn, false, 0, o.focusKnown
	o.freed()
	signal(o.wake)
	return nil
}

// end forgets conn when it is the current one.
func (o *outbox) end(conn ports.SessionClientConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == conn {
		o.conn = nil
	}
}

// current is the conversation that is sent on, nil when there is none.
func (o *outbox) current() ports.SessionClientConn {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conn
}

// close ends sending for ever and closes the conversation that is sent on, if there is one.
func (o *outbox) close() {
	o.mu.Lock()
	conn := o.conn
	o.conn, o.shut = nil, true
	if o.ackTimer != nil {
		o.ackTimer.Stop()
	}
	o.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// typed takes input; it must fit into the room that was told.
func (o *outbox) typed(p []byte) {
	o.mu.Lock()
	o.in.append(p)
	o.mu.Unlock()
	o.flush(false)
}

// The acknowledgement of a small state waits for the next one, or for holdAck: over a link it would take more bytes than
// the state. On this machine it waits for nearStates: it would take the processor from the terminal's own program, which
// is about to show the state.
const (
	holdAck    = 60 * time.Millisecond
	nearStates = protocol.MaxOutputWindow / 2
	farStates  = 2
	smallState = 512
)

// applied owes an acknowledgement of a state, with bytes of data, and of events, newer than all
// before.
func (o *outbox) applied(a protocol.Ack, bytes int) {
	most := 1 // an acknowledgement is how the daemon learns what is not known yet
	switch rtt, known := o.contact.rtt(); {
	case rtt >= farRTT:
		most = farStates
	case known:
		most = nearStates
	}
	o.mu.Lock()
	o.ack = a
	if bytes < smallState && !o.ackOwed && o.acksHeld+1 < most {
		o.holdAck()
		o.mu.Unlock()
		return
	}
	o.ackOwed, o.acksHeld = true, 0
	o.mu.Unlock()
	o.flush(false)
}

// holdAck owes the acknowledgement later, holdAck after the first one that it stands for. The caller holds mu.
func (o *outbox) holdAck() {
	o.ackHeld = time.Now()
	if o.acksHeld++; o.acksHeld > 1 {
		return
	}
	o.ackDue = o.ackHeld.Add(holdAck)
	if o.ackTimer == nil {
		o.ackTimer = time.AfterFunc(holdAck, o.owe)
		return
	}
	o.ackTimer.Reset(holdAck)
}

// owe is the end of that while.
func (o *outbox) owe() {
	o.mu.Lock()
	if o.acksHeld > 0 && !time.Now().Before(o.ackDue) {
		o.ack.Held, o.acksHeld, o.ackOwed = time.Since(o.ackHeld), 0, true
	}
	o.mu.Unlock()
	o.flush(false)
}

// resize owes the terminal's size.
func (o *outbox) resize(size domain.Size) {
	o.mu.Lock()
	o.size.Size, o.resized = size, true
	o.mu.Unlock()
	signal(o.wake)
}

// focused owes what the terminal told last of its focus.
func (o *outbox) focused(in bool) {
	o.mu.Lock()
	o.focus.In, o.focusKnown, o.focusOwed = in, true, true
	o.mu.Unlock()
	o.flush(false)
}

// goodbye owes a Detach, behind the input that may go.
func (o *outbox) goodbye() {
	o.mu.Lock()
	o.bye = true
	o.mu.Unlock()
	signal(o.wake)
}

// received drops input that the daemon has written to the program, up to message acked, and returns where in the input
// that and echo end; prompt: a state carries the acknowledgement. measured: the link's round trip is known better now.
func (o *outbox) received(echo, acked uint64, prompt bool, now time.Time) (at positions, measured bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if acked > o.in.acked {
		if !o.in.ack(acked) {
			return at, false, fault.New(fault.Violation, "input %d is acknowledged, the last was %d",
				acked, o.in.acked+uint64(o.in.count))
		}
		measured = o.contact.acknowledged(acked, o.in.kept == 0, prompt, now)
		o.freed()
		if o.in.unsent() {
			signal(o.wake)
		}
	}
	return positions{echo: o.in.position(min(echo, o.in.acked)), acked: o.in.dropped}, measured, nil
}

// waiting is how many keys the daemon does not have, as far as is known.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.in.keysKept()
}

func (o *outbox) freed() {
	if o.starved {
		o.starved = false
		signal(o.space)
	}
}

// free is how many bytes of input can be taken now.
func (o *outbox) free() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.in.room()
}

// room waits until input can be taken and returns how many bytes; 0 when ctx has ended.
func (o *outbox) room(ctx context.Context) int {
	for {
		o.mu.Lock()
		n := o.in.room()
		o.starved = n == 0
		o.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-o.space:
		case <-ctx.Done():
			return 0
		}
	}
}

// send sends what is owed until done is closed. One goroutine runs it.
func (o *outbox) send(done <-chan struct{}) {
	for {
		select {
		case <-o.wake:
			o.flush(true)
		case <-done:
			return
		}
	}
}

// flush sends what is owed unless somebody is at it, who then sends this too. Only the sender goroutine may wait.
func (o *outbox) flush(mayWait bool) {
	var lost ports.SessionClientConn
	o.mu.Lock()
	for !o.sending && o.conn != nil {
		if !mayWait && (o.in.kept > directBytes || o.in.count > directMessages) {
			signal(o.wake)
			break
		}
		conn, m := o.conn, o.pick()
		if m == nil {
			break
		}
		o.sending = true
		o.mu.Unlock()
		err := conn.Send(m)
		o.mu.Lock()
		o.sending = false
		if err != nil && o.conn == conn {
			o.conn, lost = nil, conn
		}
	}
	o.mu.Unlock()
	if lost != nil {
		lost.Close() // ends its Receive, which tells the link
	}
}

// pick makes the next message, in the order of how little may wait; nil when nothing is owed. Its memory is free again
// when sending is false.
func (o *outbox) pick() protocol.SessionClientMessage {
	switch {
	case o.ackOwed:
		o.outAck, o.ackOwed = o.ack, false
		return &o.outAck
	case o.resized:
		o.outSize, o.resized = o.size, false
		return &o.outSize
	case o.focusOwed:
		o.outFocus, o.focusOwed = o.focus, false
		return &o.outFocus
	case o.in.unsent():
		if o.scratch == nil {
			o.scratch = make([]byte, protocol.MaxInputBytes)
		}
		if seq, n := o.in.take(o.scratch); n > 0 {
			o.outInput = protocol.Input{Seq: seq, Data: o.scratch[:n]}
			if o.contact.sent(seq, time.Now()) {
				signal(o.watch)
			}
			return &o.outInput
		}
	}
	if m := o.question(); m != nil {
		return m
	}
	if o.bye {
		o.bye = false
		return &o.detach
	}
	return nil
}
