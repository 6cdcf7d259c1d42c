package daemon

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/delay"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/protocol"
)

// Pacing of states (docs/protocol.md, Output).
const (
	frameInterval = time.Second / 120 // between states, at the least, once a burst has used its start
	// burstStates go out startInterval apart after a quiet spell: a program that begins to draw
	// is seen at once, not when its first line is a frame old.
	burstStates   = 4
	startInterval = time.Millisecond
	// echoInterval replaces frameInterval for echoWindow after input was written, so that an
	// echo is not held behind the frame of a flood.
	echoInterval = time.Millisecond
	echoWindow   = 100 * time.Millisecond
	// quietSpell without a state lets the next one begin a burst.
	quietSpell = 50 * time.Millisecond
	// answerInterval takes its place for the first answerWindow: an answer that comes with a
	// flood, as the prompt does after Ctrl-C, is soon shown.
	answerInterval = 250 * time.Microsecond
	answerWindow   = 10 * time.Millisecond
	// ackDelay is how long an acknowledgement of input waits for a state to ride on; a program
	// that answers has answered by then, so it is echo's delay too.
	ackDelay = 50 * time.Millisecond
	// ackBytes of input are acknowledged at once: a client that pastes waits for its window.
	ackBytes = protocol.InputWindowBytes / 8
	// syncTimeout bounds how long a program may hold drawing (mode 2026).
	syncTimeout = 150 * time.Millisecond
	// farAway is the round trip from which a link is no longer this machine's. Beyond it a burst is
	// gathered for half a round trip, at most gatherMost.
	farAway    = 4 * time.Millisecond
	gatherMost = 40 * time.Millisecond
	// History goes in answers that take about bulkTime, so that an echo waits no longer than
	// that for one.
	bulkTime  = 50 * time.Millisecond
	leastBulk = 4 << 10
	// outputMargin is what an Output has beside its pane's data, at the most.
	outputMargin = 64 << 10
)

// flying is a state that was sent and not acknowledged.
type flying struct {
	state uint64
	bytes int
	mark  delay.Mark
}

// view is what one attachment's client shows: the output chain. Guarded by session.mu.
type view struct {
	painter  *render.Painter
	frame    render.Frame
	epoch    uint64
	state    uint64 // last drawn
	version  uint64 // of the engine in that state
	lastSize domain.Size
	policy   domain.SizePolicy
	full     bool // the next state begins an epoch
	held     int  // bytes of a drawn state that waits for the byte window, or 0
	heldOut  protocol.Output

	flight      []flying // at most MaxOutputWindow, oldest first
	flightBytes int
	way         delay.Control // of the link that the view goes over
	sent        time.Time     // when the last state went out
	burst       int           // states since the last quiet spell
	eventBytes  int           // of event-only frames, charged to the next state
}

// restart begins a new epoch: the client knows nothing.
func (v *view) restart() {
	if v.painter == nil {
		v.painter = render.NewPainter(render.Canonical, render.Capabilities{})
	}
	v.painter.Reset()
	v.epoch++
	v.full, v.version, v.held = true, 0, 0
	v.flight, v.flightBytes, v.eventBytes = v.flight[:0], 0, 0
	v.way = delay.Control{}
}

// release gives back what only a live attachment needs.
func (v *view) release() { *v = view{epoch: v.epoch, state: v.state} }

// ack drops the states up to state; false: it was never sent.
func (v *view) ack(epoch, state uint64, now time.Time) bool {
	if epoch != v.epoch {
		return epoch < v.epoch // of an older epoch: late, harmless
	}
	if state > v.state || v.held > 0 && state == v.state {
		return false
	}
	n := 0
	for n < len(v.flight) && v.flight[n].state <= state {
		v.flightBytes -= v.flight[n].bytes
		if n+1 < len(v.flight) && v.flight[n+1].state <= state {
			v.way.Passed(v.flight[n].mark) // it may have waited for the next
		} else {
			v.way.Acked(now, v.flight[n].mark)
		}
		n++
	}
	v.flight = append(v.flight[:0], v.flight[n:]...)
	return true
}

// mayDraw reports whether a further state, which may be an echo, fits the window of states and what may be in flight
// on the way; if not, wait says after what time it may, or 0: after an acknowledgement.
func (v *view) mayDraw(now time.Time, echo bool) (wait time.Duration, ok bool) {
	switch n := len(v.flight); {
	case v.held > 0 || n == protocol.MaxOutputWindow:
		return 0, false
	case n == 0:
		return 0, true
	}
	return v.way.Room(now, &v.flight[0].mark, echo)
}

// interval is how long after a state the next one goes, at the least.
func (v *view) interval() time.Duration {
	switch rtt := v.way.RTT(); {
	case rtt >= farAway:
		return min(max(rtt/2, frameInterval), gatherMost)
	case v.burst < burstStates:
		return startInterval
	}
	return frameInterval
}

// bulk is how many bytes of what may wait go over the way at a time, 0: any.
func (v *view) bulk() int {
	if v.way.RTT() < farAway {
		return 0
	}
	return max(int(v.way.Rate()*bulkTime.Seconds()), leastBulk)
}

// weigh corrects what a state costs on the way, which is known when it was sent.
func (v *view) weigh(state uint64, bytes int) {
	for i := range v.flight {
		if v.flight[i].state == state {
			v.way.Weigh(&v.flight[i].mark, bytes)
		}
	}
}

// fits reports whether n more bytes fit the byte window; alone in flight, anything does.
func (v *view) fits(n int) bool {
	return len(v.flight) == 0 || v.flightBytes+n <= protocol.MaxOutputWindowBytes
}

// shows reports whether the last state drawn is what the session is now.
func (v *view) shows(s *session) bool {
	return !v.full && v.version == s.term.Version() && v.policy == s.policy
}

// draw makes the state after the last one, with its data in the buffer of l. The caller
// holds the session's mu.
func (v *view) draw(s *session, l *link, out *protocol.Output) error {
	size := s.size
	v.frame.SetTerminal(s.term)
	l.data = v.painter.Paint(l.data[:0], &v.frame)
	if len(l.data) > protocol.MaxEnvelopeBytes-outputMargin {
		return fault.New(fault.Limit, "the screen needs %d bytes, more than one state may have (%d)",
			len(l.data), protocol.MaxEnvelopeBytes-outputMargin)
	}
	out.Epoch, out.Base, out.New, out.Full = v.epoch, v.state, v.state+1, v.full
	if v.full {
		out.Base = 0
	}
	v.state++
	out.Layout = nil
	if v.full || v.lastSize != size || v.policy != s.policy {
		out.Layout = &protocol.Layout{Size: size, Policy: s.policy, Panes: []protocol.PanePlace{{Pane: mainPane, Size: size}}}
	}
	v.full, v.lastSize, v.policy, v.version = false, size, s.policy, s.term.Version()
	out.Panes = append(out.Panes[:0], protocol.PaneUpdate{
		Pane: mainPane, Data: l.data, ScreenTop: s.term.ScreenTop(), FirstLine: s.term.FirstLine(), Size: size,
	})
	return nil
}

// depart charges a state that is about to be sent.
func (v *view) depart(now time.Time, bytes int) {
	v.flight = append(v.flight, flying{state: v.state, bytes: bytes, mark: v.way.Sent(now, bytes)})
	v.flightBytes += bytes
	if now.Sub(v.sent) >= quietSpell {
		v.burst = 0
	}
	v.burst++
	v.sent, v.eventBytes = now, 0
}
