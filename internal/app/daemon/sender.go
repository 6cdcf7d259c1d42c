package daemon

import (
	"time"

	"github.com/vev-term/vev/internal/protocol"
)

// step is what a sender does next: send something, or wait. Exactly one of out and end is
// set, or neither, and then wait says for how long, 0 for as long as nothing happens.
type step struct {
	out  *protocol.Output
	end  *protocol.Ended
	wait time.Duration
}

// send gives the client of l every state, event and acknowledgement, until the attachment
// ends or l does. It reports whether the end was sent.
func (a *attachment) send(l *link) bool {
	var out protocol.Output // reused: Send has written it when it returns
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var next step
		again := false
		a.s.mu.Lock()
		if l.sending {
			l.missed = true
		} else {
			now := time.Now()
			next = a.next(l, &out, now)
			again = a.look(now, next)
			l.sending = next.out != nil
		}
		a.s.mu.Unlock()
		switch {
		case next.out != nil:
			if l.conn.Send(next.out) != nil {
				return false
			}
			a.sent(l, next.out)
			continue
		case next.end != nil:
			return l.conn.Send(next.end) == nil
		case again:
			timer.Reset(next.wait)
		}
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.stop:
			_ = l.conn.Close() // the attachment goes on elsewhere: release the receiver
			return false
		}
	}
}

// sendNow sends the state that output has just made from the goroutine that read it: a hand-over to the sender costs an
// echo as much as all the rest that is done for it here. What cannot go at once, or is no state, is the sender's.
func (a *attachment) sendNow(l *link) {
	var out *protocol.Output
	_, err := l.conn.SendNow(func() protocol.SessionServerMessage {
		a.s.mu.Lock()
		defer a.s.mu.Unlock()
		if l.sending {
			return nil
		}
		if out = a.next(l, &l.out, time.Now()).out; out == nil {
			return nil
		}
		l.sending = true
		return out
	})
	if out != nil && err == nil {
		a.sent(l, out)
		return
	}
	a.s.mu.Lock()
	if out != nil {
		l.sending = false // the sender hears of a lost connection when it sends
	}
	a.poke()
	a.s.mu.Unlock()
}

// sent ends the turn of who has sent out, and tells the view what a state took on the wire, where that is less than its
// data.
func (a *attachment) sent(l *link, out *protocol.Output) {
	if out.New != 0 {
		a.s.d.floor.give(a.s.id)
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	l.sending = false
	if l.missed {
		l.missed = false
		signal(l.wake)
	}
	if out.New != 0 && out.Wire != 0 && len(out.Panes) > 0 && out.Wire < len(out.Panes[0].Data) {
		a.view.weigh(out.New, out.Wire)
	}
}

// bulk is view.bulk.
func (a *attachment) bulk() int {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.view.bulk()
}

// look notes when the sender looks again by itself, and reports whether its timer must be set
// for that: one that fires earlier is left alone, as setting it costs more than looking. The
// caller holds s.mu.
func (a *attachment) look(now time.Time, s step) bool {
	if s.out != nil || s.end != nil || s.wait == 0 {
		if !a.looks.After(now) {
			a.looks = time.Time{}
		}
		return false
	}
	at := now.Add(s.wait)
	if a.looks.After(now) && !at.Before(a.looks) {
		return false
	}
	a.looks = at
	return true
}

// next decides. Everything a client gets is decided here. The caller holds s.mu.
func (a *attachment) next(l *link, out *protocol.Output, now time.Time) step {
	if a.link != l {
		return step{}
	}
	a.ripen(now)
	if a.over() {
		return step{end: a.end}
	}
	wait, drew, err := a.state(l, out, now)
	switch {
	case err != nil:
		a.end = &protocol.Ended{Reason: protocol.EndFailed, Failure: protocol.FailureOf(err)}
		return step{end: a.end}
	case drew:
		return step{out: a.carry(out, now)}
	}
	if due := a.ackDue(now); due == 0 || a.eventsDue() {
		*out = protocol.Output{Epoch: a.view.epoch, Panes: out.Panes[:0], Events: out.Events[:0]}
		a.carry(out, now)
		for _, e := range out.Events {
			a.view.eventBytes += eventSize(e)
		}
		return step{out: out}
	} else if due > 0 && (wait == 0 || due < wait) {
		wait = due
	}
	if a.s.finished && a.view.held == 0 && a.view.shows(a.s) {
		a.end = &protocol.Ended{Reason: protocol.EndExited, Exit: a.s.exit}
		if a.s.killed {
			a.end.Reason = protocol.EndKilled
		}
		return step{end: a.end}
	}
	return step{wait: wait}
}

// state draws the newest state if there is one, it is time, and the window has room.
func (a *attachment) state(l *link, out *protocol.Output, now time.Time) (wait time.Duration, drew bool, err error) {
	v := &a.view
	if v.held > 0 {
		if !v.fits(v.held) {
			return 0, false, nil
		}
		*out = v.heldOut
		v.depart(now, v.held)
		v.held = 0
		return 0, true, nil
	}
	if v.shows(a.s) {
		return 0, false, nil
	}
	if wait, ok := v.mayDraw(now, now.Sub(a.writtenAt) < echoWindow); !ok {
		a.s.d.numbers.windowWaits.Add(1)
		return wait, false, nil
	}
	if wait := a.pace(now); wait > 0 {
		return wait, false, nil
	}
	events := out.Events[:0]
	panes := out.Panes[:0]
	*out = protocol.Output{Panes: panes, Events: events}
	if err := v.draw(a.s, l, out); err != nil {
		return 0, false, err
	}
	bytes := len(l.data) + v.eventBytes
	a.s.d.numbers.statesSent.Add(1)
	a.s.d.numbers.stateBytes.Add(uint64(len(l.data)))
	if !v.fits(bytes) {
		v.held, v.heldOut = bytes, *out
		v.heldOut.Panes = append([]protocol.PaneUpdate(nil), out.Panes...)
		v.heldOut.Events = nil
		return 0, false, nil
	}
	v.depart(now, bytes)
	return 0, true, nil
}

// pace says how long the newest state waits: not at all after a quiet spell, else until the
// next frame is due; a program that holds drawing is believed for syncTimeout.
func (a *attachment) pace(now time.Time) time.Duration {
	s := a.s
	if s.term.Modes().Sync && !s.finished {
		if s.syncSince.IsZero() {
			s.syncSince = now
		}
		if wait := s.syncSince.Add(syncTimeout).Sub(now); wait > 0 {
			return wait
		}
		s.term.EndSync()
	}
	s.syncSince = time.Time{}
	interval := a.view.interval()
	switch {
	case now.Sub(a.writtenAt) < answerWindow:
		interval = answerInterval
	case s.finished || now.Sub(a.writtenAt) < echoWindow:
		interval = echoInterval
	}
	return a.view.sent.Add(interval).Sub(now)
}

// carry adds to an Output what rides on every frame.
func (a *attachment) carry(out *protocol.Output, now time.Time) *protocol.Output {
	out.Echo, out.InputAcked = a.echo, a.written
	a.echoSent, a.ackSent, a.unacked, a.firstUnsent = a.echo, a.written, 0, time.Time{}
	for _, e := range a.events {
		if e.Seq > a.eventSent {
			out.Events = append(out.Events, e)
			a.eventSent = e.Seq
		}
	}
	return out
}

func (a *attachment) eventsDue() bool {
	return len(a.events) > 0 && a.events[len(a.events)-1].Seq > a.eventSent
}

// ackDue says when input must be acknowledged without a state: 0 now, negative never.
func (a *attachment) ackDue(now time.Time) time.Duration {
	if a.written == a.ackSent && a.echo == a.echoSent && len(a.answering) == 0 {
		return -1
	}
	if a.unacked >= ackBytes {
		return 0
	}
	due := a.firstUnsent
	if a.written == a.ackSent {
		if len(a.answering) == 0 {
			return 0 // echo has moved
		}
		due = a.answering[0].at
	}
	return max(0, due.Add(ackDelay).Sub(now))
}

// ripen moves echo to the last input that the program had ackDelay to answer.
func (a *attachment) ripen(now time.Time) {
	n := 0
	for n < len(a.answering) && now.Sub(a.answering[n].at) >= ackDelay {
		a.echo = a.answering[n].seq
		n++
	}
	a.answering = append(a.answering[:0], a.answering[n:]...)
}
