package broker

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/pulse"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// way is what is known of the way to one host. It has one link that new streams go over; one that it took the place of lives
// as long as its last stream. Its methods are called with hosts.mu held, which guards it.
type way struct {
	hosts   *hosts
	name    string
	life    context.Context // until the host is removed; the cause says so
	end     context.CancelCauseFunc
	pulse   pulse.Machine
	choice  choice
	link    *link              // nil: none
	left    map[*link]struct{} // others that carry streams
	streams int                // of all links
	search  *search            // nil: nobody seeks a link
	beside  context.CancelFunc // ends the seeking of a link beside a silent one; nil: that is not done
	timer   *time.Timer        // the next look
	heard   time.Time          // the last contact, and the round trip, of links that are gone
	rtt     time.Duration
	failure *fault.Error // of the last search; nil: it found a link
	told    domain.LinkState
	toldBy  domain.Transport
}

// way is that of a host, which it begins to remember; nil where that are too many.
func (h *hosts) way(name string) *way {
	w := h.ways[name]
	if w != nil {
		return w
	}
	if len(h.ways) == maxWays {
		for name, w := range h.ways {
			if w.link == nil && w.search == nil && w.streams == 0 {
				delete(h.ways, name) // it is reached for the first time again
				break
			}
		}
	}
	w = &way{hosts: h, name: name}
	w.life, w.end = context.WithCancelCause(context.Background())
	h.ways[name] = w
	return w
}

// life is that of the way to a host.
func (h *hosts) life(name string) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.way(name).life
}

// up has new streams go over a link from now on, in place of the one there was.
func (w *way) up(conversation ports.Link) *link {
	now := time.Now()
	l := &link{Link: conversation, way: w, transport: conversation.Vitals().Transport}
	if old := w.link; old != nil {
		w.drop(old)
	}
	if w.removed() { // found as that happened: nobody waits for it
		w.shut(l)
		return l
	}
	w.link, w.failure = l, nil
	w.pulse.Up(now)
	w.choice.up(l.transport, now)
	w.keepWarm(l)
	w.look(now)
	return l
}

// ended is told that the link has ended by itself.
func (w *way) ended(l *link) {
	w.pulse.Ended(w.streams > 0)
	w.drop(l)
	w.tell(time.Now())
}

// drop makes l, the way's link, one that no new stream goes over.
func (w *way) drop(l *link) {
	v := l.Vitals()
	w.link, w.heard, w.rtt = nil, v.Heard, v.RTT
	if l.idle != nil {
		l.idle.Stop()
	}
	if len(l.streams) == 0 {
		w.shut(l)
		return
	}
	if w.left == nil {
		w.left = map[*link]struct{}{}
	}
	w.left[l] = struct{}{}
}

// shut closes l in the background: a carriage that takes nothing is waited for.
func (w *way) shut(l *link) {
	delete(w.left, l)
	if h := w.hosts; !h.closed {
		h.all.Go(func() { _ = l.Close() })
	}
}

// look looks at the link, does what is due, and comes back when something will be.
func (w *way) look(now time.Time) {
	h, l := w.hosts, w.link
	if h.closed {
		return
	}
	if l == nil {
		w.tell(now)
		return
	}
	if l.Err() != nil {
		w.ended(l)
		return
	}
	if h.dozed(now) {
		return // it looks at each way
	}
	a := w.pulse.Look(now, l.Vitals(), w.streams > 0)
	if w.streams > 0 && !allows(h.policy(w.name), l.transport) { // it is another one by now
		a.Beside = w.pulse.MayRetry(now)
	}
	if a.Ask {
		l.urged.Store(false)
		h.all.Go(func() { h.probe(l) })
	}
	switch {
	case a.GiveUp:
		w.pulse.Dropped()
		w.drop(l)
	case a.Beside && w.beside == nil:
		w.seekBeside(l)
	case !a.Beside && w.beside != nil:
		w.beside() // it is heard again
	}
	if next := earlier(a.Next, w.better(now)); w.link == l && !next.IsZero() {
		w.lookAt(next.Sub(now))
	}
	w.tell(now)
}

func (w *way) lookAt(in time.Duration) {
	if w.timer == nil {
		w.timer = time.AfterFunc(in, func() {
			w.hosts.mu.Lock()
			defer w.hosts.mu.Unlock()
			w.look(time.Now())
		})
		return
	}
	w.timer.Reset(in)
}

// earlier is the first of two times, of which the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// probe asks a link for a sign of life and waits for it as long as the link lives.
func (h *hosts) probe(l *link) {
	asked := time.Now()
	err := l.Probe(h.end)
	h.mu.Lock()
	defer h.mu.Unlock()
	now, w := time.Now(), l.way
	if w.link != l {
		return
	}
	if err == nil {
		w.pulse.Answered(now, now.Sub(asked))
	}
	w.look(now)
}

// seekBeside seeks a link that takes the place of a silent one.
func (w *way) seekBeside(l *link) {
	h := w.hosts
	ctx, cancel := context.WithCancel(h.end)
	w.beside = cancel
	h.all.Go(func() {
		_, _, _ = h.seek(ctx, wish{host: w.name}, l) // the way has the link, or the failure
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		w.beside = nil
		w.look(time.Now())
	})
}

// tell tells who wants to know, if the state of the way has changed.
func (w *way) tell(now time.Time) {
	for l := range w.left {
		w.tellOf(l, now)
	}
	if w.link != nil {
		w.tellOf(w.link, now)
	}
	state, transport := w.pulse.State(), w.transport()
	if changed := w.hosts.o.Changed; changed != nil && (state != w.told || transport != w.toldBy) {
		w.told, w.toldBy = state, transport
		changed(w.name)
	}
}

// tellOf tells the clients of l's streams.
func (w *way) tellOf(l *link, now time.Time) {
	report := protocol.LinkReport{State: w.pulse.State(), Transport: w.transport(), Move: w.link != nil && w.link != l}
	for s := range l.streams {
		if s.report == nil || s.told.State == report.State && s.told.Move == report.Move {
			continue
		}
		s.told = report
		facts := w.facts()
		report.RTT = facts.RTT
		if !facts.Heard.IsZero() {
			report.Silent = now.Sub(facts.Heard)
		}
		s.report(report)
	}
}

// transport is what carries the link.
func (w *way) transport() domain.Transport {
	if w.link == nil {
		return domain.TransportAuto
	}
	return w.link.transport
}

func (w *way) facts() domain.HostLink {
	f := domain.HostLink{
		State: w.pulse.State(), Transport: w.transport(), Heard: w.heard, Failure: w.failure,
	}
	if w.hosts.policy(w.name) == domain.TransportAuto {
		f.Why = w.choice.why // else it is what was chosen
	}
	if w.link != nil {
		v := w.link.Vitals()
		f.RTT, f.Heard = v.RTT, v.Heard
	}
	return f
}

// woke is told that this machine may have slept.
func (h *hosts) woke() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.dozed(time.Now())
	}
}

// dozed looks at every way if this machine was asleep, which it reports.
func (h *hosts) dozed(now time.Time) bool {
	if h.o.Sleep == nil {
		return false
	}
	slept := h.o.Sleep.Slept()
	if slept-h.slept < leastSleep {
		return false
	}
	h.slept = slept
	for _, w := range h.ways {
		w.pulse.Woke(now)
		w.choice.woke(now)
		w.look(now)
	}
	return true
}

// leastSleep is how long a machine must have slept for its links to be doubted; clocks differ by less.
const leastSleep = time.Second
