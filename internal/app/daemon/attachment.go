package daemon

import (
	"slices"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// maxEventBytes bounds the unacknowledged events of an attachment beside MaxEventsKept: one
// clipboard of the largest size fits.
const maxEventBytes = 9 << 20

// attachment is one client's view of a session. It outlives its connection: the client may
// resume it with the token for as long as the session lives.
type attachment struct {
	s          *session
	id         uint64 // among all of the daemon's; never given twice
	token      protocol.Token
	readOnly   bool
	agent      string // path of the client's ssh agent, or empty
	origin     domain.Origin
	attachedAt time.Time

	// Guarded by s.mu.
	link   *link // the connection it has now, or nil
	size   domain.Size
	use    uint64    // number of its last use, among all of the session's clients
	active time.Time // of that use: attach, input or focus
	focus  focusReport
	view   view
	end    *protocol.Ended // the attachment is over: to be sent
	here   bool            // it was told that the client is there

	received    uint64      // last input number taken
	written     uint64      // last input number written to the terminal
	ackSent     uint64      // last written that a frame carried
	unacked     int         // bytes written and not acknowledged
	queued      int         // bytes taken and not written
	writtenAt   time.Time   // of written
	firstUnsent time.Time   // when the first input after ackSent was written
	echo        uint64      // last input the program had time to answer
	echoSent    uint64      // last echo that a frame carried
	answering   []answering // written, not yet echo; oldest first
	looks       time.Time   // when the sender looks again by itself, or zero

	events     []protocol.Event // unacknowledged, oldest first
	eventBytes int
	eventSeq   uint64 // of the newest event
	eventSent  uint64 // last event sent on this link
}

// answerGrain joins input written close together, so that at most ackDelay/answerGrain
// entries wait.
const answerGrain = 5 * time.Millisecond

// answering is input that the program may still be answering.
type answering struct {
	seq uint64
	at  time.Time
}

// link is one connection of an attachment.
type link struct {
	conn ports.SessionServerConn
	wake chan struct{} // cap 1: the sender looks again
	stop chan struct{} // closed when the link was replaced or its receiver ended
	data []byte        // of the state being sent; touched under session.mu and by whoever sends it

	// Guarded by s.mu.
	sending bool            // somebody has a state in hand, or the answer to Attach: nobody makes another
	missed  bool            // its sender looked meanwhile
	out     protocol.Output // of sendNow
}

// newLink is the way to a client that has not been answered yet.
func newLink(conn ports.SessionServerConn) *link {
	return &link{conn: conn, wake: make(chan struct{}, 1), stop: make(chan struct{}), sending: true}
}

// live reports whether a client is connected. The caller holds s.mu.
func (a *attachment) live() bool { return a.link != nil }

// present reports whether the client counts as attached: not if it is being sent away, even if
// it cannot hear that. The caller holds s.mu.
func (a *attachment) present() bool { return a.live() && !a.over() }

// over reports whether nothing but the end is left to send. The caller holds s.mu.
func (a *attachment) over() bool { return a.end != nil && a.end.Reason != protocol.EndExited }

// poke wakes the sender. The caller holds s.mu.
func (a *attachment) poke() {
	if a.link != nil {
		signal(a.link.wake)
	}
}

// attach adds a client to s and connects it.
func (s *session) attach(m *protocol.Attach, l *link) (*attachment, error) {
	a := &attachment{s: s, readOnly: m.ReadOnly, size: m.Size, attachedAt: time.Now(), link: l, agent: agentOf(m), origin: m.Origin}
	random(a.token[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return nil, fault.New(fault.NotFound, "the session has just ended").WithHint("vev ls shows what there is")
	}
	if err := s.makeRoom(); err != nil {
		return nil, err
	}
	if m.Take {
		for _, other := range s.attachments {
			other.finish(protocol.EndTaken)
		}
	}
	s.attachments = append(s.attachments, a)
	s.attended = true
	s.d.rows.note(s.id)
	a.view.restart()
	s.d.register(a)
	s.came(a)
	a.used(a.attachedAt)
	s.settle(a.attachedAt, 0)
	s.attend()
	return a, nil
}

// makeRoom drops an attachment without a client at MaxAttachments: the oldest that is over, or else the oldest. The caller holds mu.
func (s *session) makeRoom() error {
	if len(s.attachments) < protocol.MaxAttachments {
		return nil
	}
	var drop *attachment
	for _, a := range s.attachments {
		if !a.live() && (drop == nil || a.over() && !drop.over()) {
			drop = a
		}
	}
	if drop != nil {
		s.drop(drop)
		return nil
	}
	return fault.New(fault.Limit, "session has %d clients, the most there can be", len(s.attachments)).
		WithHint("attach with --take, or detach some with vev detach")
}

// drop forgets an attachment. The caller holds mu.
func (s *session) drop(a *attachment) {
	if i := slices.Index(s.attachments, a); i >= 0 {
		s.attachments = slices.Delete(s.attachments, i, i+1)
	}
	s.d.unregister(a.token)
}

// resume connects an attachment again and returns the last input written to the terminal: the
// client sends again what is above.
func (a *attachment) resume(m *protocol.Attach, l *link) (received uint64, err error) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || !slices.Contains(s.attachments, a) {
		return 0, unknownToken()
	}
	if old := a.link; old != nil {
		close(old.stop)
	}
	a.link = l
	a.view.restart()
	a.ackEvents(m.Resume.EventSeq)
	a.eventSent = m.Resume.EventSeq
	a.ackSent, a.echoSent, a.unacked, a.looks = 0, 0, 0, time.Time{}
	a.size = m.Size
	if !a.over() {
		s.d.rows.note(s.id)
		s.came(a)
		s.settle(time.Now(), 0)
		s.attend()
	}
	// What is queued and not written stays in the client's window, so it is sent again; input
	// drops the repeats.
	return a.written, nil
}

func unknownToken() error {
	return fault.New(fault.NotFound, "the attachment is not known here").
		WithHint("its session has ended, or the daemon was restarted; vev ls shows what there is")
}

// disconnect is what the receiver of l does last: the client may come back, if only to hear that it is over.
func (a *attachment) disconnect(l *link) {
	s := a.s
	s.mu.Lock()
	if a.link == l {
		close(l.stop)
		a.link = nil
		a.view.release()
		s.departed()
		s.went(a)
	}
	finished := s.finished && s.killed && !slices.ContainsFunc(s.attachments, (*attachment).live)
	s.mu.Unlock()
	if finished {
		s.remove()
	}
}

// departed is what follows when a client is no longer there. The caller holds mu.
func (s *session) departed() {
	s.lastUsed = time.Now()
	s.d.rows.note(s.id)
	s.settle(s.lastUsed, 0)
	s.attend()
}

// leave ends an attachment in order: the client has gone for good, and has been told all it
// is to be told. A session that has ended was looked at with that. It counts at whichever link the client says so: an attempt
// to come back, begun before, may have arrived since.
func (a *attachment) leave() {
	s := a.s
	s.mu.Lock()
	there := slices.Contains(s.attachments, a)
	if there {
		if a.link != nil {
			close(a.link.stop)
			a.link = nil
		}
		s.drop(a)
		s.departed()
		s.went(a)
	}
	finished := there && s.finished && a.end != nil && (s.killed || !a.over())
	s.mu.Unlock()
	if finished {
		s.remove()
	}
}

// finish ends the attachment with a reason, once. A client that is away, be it only on its way to another link, hears of it when
// it comes back. The caller holds s.mu.
func (a *attachment) finish(reason protocol.EndReason) {
	if a.end == nil {
		a.end = &protocol.Ended{Reason: reason}
		a.poke()
	}
}

// input takes one input message from the client at l. A repeat is dropped, a gap or an
// overrun is the peer's violation.
func (a *attachment) input(l *link, m *protocol.Input) error {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case a.link != l || m.Seq <= a.received:
		return nil
	case a.readOnly:
		return fault.New(fault.Denied, "input from a read-only client")
	case m.Seq != a.received+1:
		return fault.New(fault.Violation, "input %d follows %d", m.Seq, a.received)
	case a.queued+a.unacked+len(m.Data) > protocol.InputWindowBytes:
		return fault.New(fault.Violation, "%d bytes of input unacknowledged, %d are allowed",
			a.queued+a.unacked+len(m.Data), protocol.InputWindowBytes)
	}
	a.received = m.Seq
	a.used(time.Now())
	s.typed(m.Data)
	s.fact(domain.FactSeen, "", a.active)
	s.fact(domain.FactTyped, "", a.active)
	a.give(m)
	return nil
}

// give hands input on: to the terminal where that takes it at once, as it does for a key,
// else to the queue. The caller holds s.mu.
func (a *attachment) give(m *protocol.Input) {
	s := a.s
	if s.input.claim() {
		s.d.floor.take(s.id, a.active)
		n := s.program.TryWrite(m.Data)
		a.queued += len(m.Data)
		if n == len(m.Data) {
			s.input.release(chunk{})
			s.d.numbers.inputBytes.Add(uint64(n))
			a.inputWritten(m.Seq, n, a.active)
			return
		}
		a.queued -= n
		a.unacked += n
		s.d.numbers.inputBytes.Add(uint64(n))
		s.input.release(chunk{data: append([]byte(nil), m.Data[n:]...), from: a, seq: m.Seq})
		return
	}
	if !s.input.push(a, m.Seq, m.Data) {
		a.written = m.Seq // the program has ended: there is nobody to read it
		return
	}
	a.queued += len(m.Data)
}

// inputWritten is told by the session's writer. The caller holds s.mu.
func (a *attachment) inputWritten(seq uint64, n int, now time.Time) {
	a.written, a.writtenAt = seq, now
	a.queued -= n
	a.unacked += n
	if a.firstUnsent.IsZero() {
		a.firstUnsent = now
	}
	if n := len(a.answering); n > 0 && now.Sub(a.answering[n-1].at) < answerGrain {
		a.answering[n-1].seq = seq
	} else {
		a.answering = append(a.answering, answering{seq, now})
	}
	// The sender need not look before the answer comes, or the time for one has passed: a
	// wake-up here would run beside the program that is to answer.
	if a.unacked >= ackBytes || a.looks.IsZero() || now.Add(ackDelay).Before(a.looks) {
		a.poke()
	}
}

// acked handles the client's Ack.
func (a *attachment) acked(l *link, m *protocol.Ack) error {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.link != l {
		return nil
	}
	if !a.view.ack(m.Epoch, m.State, time.Now().Add(-m.Held)) || m.EventSeq > a.eventSeq {
		return fault.New(fault.Violation, "acknowledged state %d.%d and event %d, sent were %d.%d and %d",
			m.Epoch, m.State, m.EventSeq, a.view.epoch, a.view.state, a.eventSeq)
	}
	a.ackEvents(m.EventSeq)
	if a.view.held > 0 || !a.view.shows(s) { // nothing else waits for an acknowledgement
		a.poke()
	}
	return nil
}

// ackEvents drops events up to seq.
func (a *attachment) ackEvents(seq uint64) {
	n := 0
	for n < len(a.events) && a.events[n].Seq <= seq {
		a.eventBytes -= eventSize(a.events[n])
		n++
	}
	a.events = slices.Delete(a.events, 0, n)
}

// event queues what happened for the client, connected or not. The caller holds s.mu.
func (a *attachment) event(body protocol.EventBody) {
	a.eventSeq++
	e := protocol.Event{Seq: a.eventSeq, Pane: mainPane, Body: body}
	a.events = append(a.events, e)
	a.eventBytes += eventSize(e)
	drop := 0
	for bytes := a.eventBytes; len(a.events)-drop > protocol.MaxEventsKept || bytes > maxEventBytes && len(a.events)-drop > 1; drop++ {
		bytes -= eventSize(a.events[drop])
		a.eventBytes = bytes
	}
	a.events = slices.Delete(a.events, 0, drop)
	a.poke()
}

// register makes a's token known and gives it an id.
func (d *Daemon) register(a *attachment) {
	d.mu.Lock()
	d.attachments[a.token] = a
	d.attached++
	a.id = d.attached
	d.mu.Unlock()
}

func (d *Daemon) unregister(t protocol.Token) {
	d.mu.Lock()
	delete(d.attachments, t)
	d.mu.Unlock()
}

func (d *Daemon) byToken(t protocol.Token) *attachment {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attachments[t]
}
