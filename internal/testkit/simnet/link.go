package simnet

import (
	"io"
	"sync"
	"time"
)

const (
	segment      = 1400                   // payload of one packet
	packetHead   = 52                     // of a packet beside its payload: IP, TCP
	leastTimeout = 200 * time.Millisecond // of a retransmission; doubled after each that is lost
	mostTimeout  = time.Minute
	// socketBytes is what one direction of a connection may hold at its sender, and as much again
	// on its way and unread.
	socketBytes = 256 << 10
)

// Link is a path between two places, a near and a far one, that any number of connections
// share. Any goroutine may call its methods.
type Link struct{ up, down *path }

// path is one direction of a link.
type path struct {
	mu     sync.Mutex // taken under a direction's mu
	c      Conditions
	shaper *Shaper
	bytes  int64
	lose   bool // the next packet
}

// NewLink returns a link; up are the conditions from near to far. The seed decides all chances.
func NewLink(seed uint64, up, down Conditions) *Link {
	return &Link{up: &path{c: up, shaper: NewShaper(seed)}, down: &path{c: down, shaper: NewShaper(seed + 1)}}
}

// Set changes the conditions. What is on its way arrives as it would have.
func (l *Link) Set(up, down Conditions) {
	l.up.set(up)
	l.down.set(down)
}

// LoseOne has the next packet from far to near lost. Others come behind it, which tell.
func (l *Link) LoseOne() {
	l.down.mu.Lock()
	defer l.down.mu.Unlock()
	l.down.lose = true
}

// Bytes is how much has entered the link in each direction, retransmissions and the heads of
// packets counted.
func (l *Link) Bytes() (up, down int64) { return l.up.sent(), l.down.sent() }

// Connect returns the two ends of a connection. It is there at once.
func (l *Link) Connect() (near, far *End) {
	up, down := newDirection(socketBytes), newDirection(socketBytes)
	up.wire, down.wire = &wire{path: l.up}, &wire{path: l.down}
	return &End{in: down, out: up}, &End{in: up, out: down}
}

func (p *path) set(c Conditions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.c = c
}

func (p *path) sent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// roundTrip is that of an empty link, with mu held. The way back is taken to be as long.
func (p *path) roundTrip() time.Duration { return 2 * p.c.Delay }

// send puts a segment of n bytes on the path. Arrives: at due. Full: again is when to try again.
// Lost: the path is down. What is lost by chance comes later: a round trip, when packets behind
// it tell, a time-out when it was the last.
func (p *path) send(now time.Time, n int, last bool) (due, again time.Time, fate Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := n + packetHead
	due, fate = p.shaper.Admit(p.c, now, size)
	if fate == Full {
		return due, p.shaper.room(p.c, size), fate
	}
	p.bytes += int64(size)
	if p.lose && fate == Arrives {
		p.lose, last, fate = false, false, Lost
	}
	for fate == Lost && !p.c.Down {
		wait := p.roundTrip()
		if last {
			wait += leastTimeout
		}
		now, last = now.Add(wait), true
		due, fate = p.shaper.leave(p.c, now)
		p.bytes += int64(size)
	}
	return due, now, fate
}

// wire is what one direction of a connection has sent and not delivered. Guarded by the
// direction's mu.
type wire struct {
	path    *path
	unsent  []byte
	flying  []flight // in the order they arrive
	bytes   int      // in flying
	fin     bool     // the sender has closed, and said so behind unsent
	arrived bool     // that was heard
	timeout time.Duration
	again   time.Time // nothing is sent before
	last    time.Time // when the newest in flying arrives
	timer   *time.Timer
}

type flight struct {
	due  time.Time
	data []byte // nil: the end
}

// advance delivers what is due and sends what may be sent, with d.mu held.
func (d *direction) advance() {
	w, now := d.wire, time.Now()
	for len(w.flying) > 0 && !w.flying[0].due.After(now) {
		f := w.flying[0]
		w.flying = w.flying[1:]
		w.bytes -= len(f.data)
		w.arrived = w.arrived || f.data == nil
		d.buf = append(d.buf, f.data...)
		d.changed.Broadcast()
	}
	for d.depart(now) {
		d.changed.Broadcast()
	}
	d.schedule(now)
}

// depart sends one segment, or the end behind the last; false: nothing may be sent now.
func (d *direction) depart(now time.Time) bool {
	w := d.wire
	n := min(len(w.unsent), segment)
	over := n == 0 && (d.err != io.EOF || w.fin)
	if over || w.again.After(now) || w.bytes+len(d.buf)+n > d.limit {
		return false
	}
	due, again, fate := w.path.send(now, n, n == len(w.unsent))
	switch fate {
	case Full:
		w.again = later(again, now.Add(time.Microsecond)) // or nothing would be due
		return false
	case Lost:
		if w.timeout == 0 {
			w.timeout = leastTimeout
		}
		w.again = now.Add(w.timeout)
		w.timeout = min(2*w.timeout, mostTimeout)
		return false
	case Arrives:
	}
	w.timeout = 0
	due = later(due, w.last)
	w.last = due
	f := flight{due: due}
	if n > 0 {
		f.data = append([]byte(nil), w.unsent[:n]...)
	}
	w.fin = n == 0
	w.flying = append(w.flying, f)
	w.bytes += n
	w.unsent = w.unsent[n:]
	return true
}

// schedule has advance called when something is due.
func (d *direction) schedule(now time.Time) {
	w := d.wire
	var next time.Time
	if len(w.flying) > 0 {
		next = w.flying[0].due
	}
	if w.again.After(now) && (next.IsZero() || w.again.Before(next)) {
		next = w.again
	}
	switch {
	case next.IsZero():
	case w.timer == nil:
		w.timer = time.AfterFunc(next.Sub(now), func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.advance()
		})
	default:
		w.timer.Reset(next.Sub(now))
	}
}

// delivered reports whether nothing is on its way any more, and the end was heard.
func (d *direction) delivered() bool { return d.wire == nil || d.wire.arrived }

// drop forgets what nobody will read.
func (w *wire) drop() {
	w.unsent, w.flying, w.bytes, w.fin, w.arrived = nil, nil, 0, true, true
	if w.timer != nil {
		w.timer.Stop()
	}
}
