package quic

import (
	"context"
	"slices"
	"sync"
	"time"

	quicgo "github.com/quic-go/quic-go"
)

// repeats are those of a connection, both ways: streams say what they wrote, and hear what came again. All methods of a nil
// one do nothing: the other side does not read repeats.
type repeats struct {
	conn *quicgo.Conn
	wake chan struct{} // cap 1: something waits that send has not looked at
	all  sync.WaitGroup

	mu      sync.Mutex // a leaf
	streams map[int64]*stream
	waiting []*outgoing // that have something to say, in the order of their first
	sending bool        // send runs: only while something waits, since an idle link is to cost little
	ended   bool        // hear has ended: send is not to begin
	losses  losses
	spent   bucket
	bulk    bucket
}

// outgoing is what a stream has to repeat, guarded by repeats.mu.
type outgoing struct {
	stream int64
	offset int64 // of data
	data   []byte
	said   int // how much of data was repeated once
	due    time.Time
	latest time.Time // for what was not
	waits  bool      // it is one of those that wait
	spent  bucket
}

// newRepeats begins to hear repeats, until the connection ends; nil: the other side does not know of them.
func newRepeats(conn *quicgo.Conn) *repeats {
	if conn.ConnectionState().TLS.NegotiatedProtocol != alpnRepeats {
		return nil
	}
	r := &repeats{conn: conn, wake: make(chan struct{}, 1), streams: map[int64]*stream{}}
	r.all.Go(r.hear)
	return r
}

// wait returns when nothing of it runs any more, which the end of the connection brings about.
func (r *repeats) wait() {
	if r != nil {
		r.all.Wait()
	}
}

// enter is told of a stream.
func (r *repeats) enter(s *stream) {
	if r == nil {
		return
	}
	s.repeats, s.outgoing = r, &outgoing{stream: s.number()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams[s.number()] = s
}

// leave is told of a stream's end from this side.
func (r *repeats) leave(s *stream) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.streams, s.number())
}

// wrote is told of a write at an offset of a stream, and copies what it needs of p. It never waits.
func (r *repeats) wrote(o *outgoing, offset int64, p []byte) {
	if r == nil || len(p) == 0 {
		return
	}
	now, stats := time.Now(), r.conn.ConnectionStats()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bulk.fill(len(p), bulkRate, 2*bulkBurst, now)
	r.losses.see(stats.PacketsSent, stats.PacketsLost)
	if !r.losses.recent() || r.bulk.level > bulkBurst || len(p) > maxRepeatBytes {
		o.drop(len(o.data))
		return
	}
	o.add(offset, p, now)
	if !o.waits {
		o.waits = true
		r.waiting = append(r.waiting, o)
	}
	switch {
	case r.ended:
	case !r.sending:
		r.sending = true
		r.all.Go(r.send)
	default:
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// add puts a write to what is to be repeated. Where both are too much, the older part is left to QUIC: what follows it tells
// of its loss.
func (o *outgoing) add(offset int64, p []byte, now time.Time) {
	if len(o.data)+len(p) > maxRepeatBytes || o.offset+int64(len(o.data)) != offset {
		o.drop(len(o.data))
		o.offset = offset
	}
	if o.said == len(o.data) {
		o.latest = now.Add(2 * repeatDelay)
	}
	o.data = append(o.data, p...)
	o.due = now.Add(repeatDelay)
	if o.due.After(o.latest) {
		o.due = o.latest
	}
}

// drop forgets the first n bytes of data.
func (o *outgoing) drop(n int) {
	o.data = append(o.data[:0], o.data[n:]...)
	o.offset += int64(n)
	o.said = max(o.said-n, 0)
}

// repeated notes that data was. What was repeated the first time is to be again, if that is worth it.
func (o *outgoing) repeated(twice bool, now time.Time) {
	if !twice {
		o.said = len(o.data)
	}
	o.drop(o.said)
	o.said, o.due = len(o.data), now.Add(secondDelay)
}

// send sends each repeat when its time has come, until none waits.
func (r *repeats) send() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var buf []byte
	for {
		r.mu.Lock()
		var next time.Duration
		buf, next = r.due(buf[:0])
		r.sending = len(buf) > 0 || len(r.waiting) > 0
		more := r.sending
		r.mu.Unlock()
		if len(buf) > 0 {
			_ = r.conn.SendDatagram(buf) // the end of the connection is heard of below
			if r.conn.Context().Err() != nil {
				return
			}
			continue
		}
		if !more {
			return
		}
		timer.Reset(next)
		select {
		case <-r.wake:
		case <-timer.C:
		case <-r.conn.Context().Done():
			return
		}
	}
}

// due appends the datagram of what is due now, or nothing: then it returns when the next is. With mu held.
func (r *repeats) due(buf []byte) ([]byte, time.Duration) {
	for now := time.Now(); len(r.waiting) > 0; {
		o, i := r.earliest()
		if len(o.data) == 0 {
			o.waits = false
			r.waiting = slices.Delete(r.waiting, i, i+1)
			continue
		}
		if next := o.due.Sub(now); next > 0 {
			return buf, next
		}
		if buf = r.say(o, buf, now); len(buf) > 0 {
			break
		}
	}
	return buf, 0
}

// earliest is what is due first, with mu held.
func (r *repeats) earliest() (first *outgoing, at int) {
	for i, o := range r.waiting {
		if first == nil || o.due.Before(first.due) {
			first, at = o, i
		}
	}
	return first, at
}

// say appends the datagram of what a stream repeats, or nothing if that would be too much, with mu held.
func (r *repeats) say(o *outgoing, buf []byte, now time.Time) []byte {
	cost := len(o.data) + repeatCost
	if !o.spent.has(cost, streamRepeatRate, streamRepeatBurst, now) || !r.spent.has(cost, repeatRate, repeatBurst, now) {
		o.drop(len(o.data))
		return buf
	}
	o.spent.fill(cost, streamRepeatRate, streamRepeatBurst, now)
	r.spent.fill(cost, repeatRate, repeatBurst, now)
	buf = (&repeat{o.stream, o.offset, o.data}).append(buf)
	o.repeated(r.losses.many(), now)
	return buf
}

// hear gives what came again to its streams. A stream that is not there, still or any more, needs none.
func (r *repeats) hear() {
	defer r.end()
	for {
		b, err := r.conn.ReceiveDatagram(context.Background())
		if err != nil {
			return
		}
		again, err := parseRepeat(b)
		switch {
		case err != nil:
			_ = r.conn.CloseWithError(codeBroken, "")
			return
		case again == nil:
			continue
		}
		r.mu.Lock()
		s := r.streams[again.stream]
		r.mu.Unlock()
		if s != nil {
			s.again(*again)
		}
	}
}

// missed is told how much later than a repeat QUIC has brought the same: what was lost comes a round trip later, what is sooner was
// only overtaken. The other side's losses count here as well: of the few packets of a side that types and acknowledges, those
// that are lost tell too seldom, and mere acknowledgements never.
func (r *repeats) missed(late time.Duration) {
	stats := r.conn.ConnectionStats()
	if late < stats.MinRTT/2 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losses.missed = stats.PacketsSent
}

// end keeps send from beginning once wait may have returned.
func (r *repeats) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// losses tells whether a connection loses packets.
type losses struct {
	sent, lost   uint64 // so far
	last, before uint64 // how many were sent when the latest was lost, and the one before it; 0: none was
	missed       uint64 // the same for the latest of the other side's
}

// see is told what a connection has sent and lost so far. The losses may become less: what came late was not lost.
func (l *losses) see(sent, lost uint64) {
	if lost > l.lost {
		l.before, l.last = l.last, sent
	}
	if lost > l.lost+1 {
		l.before = sent
	}
	l.sent, l.lost = sent, lost
}

// recent reports whether one of the last lossMemory packets was lost, or meanwhile one of the other side's, or the connection is
// new.
func (l *losses) recent() bool {
	latest := max(l.last, l.missed)
	return latest > 0 && l.sent <= latest+lossMemory || l.sent <= newMemory
}

// many reports whether two of the last manyMemory were.
func (l *losses) many() bool { return l.before > 0 && l.sent-l.before <= manyMemory }

// bucket runs out at a rate, in bytes a second.
type bucket struct {
	level int
	at    time.Time
}

// run lets it run out until now.
func (b *bucket) run(rate int, now time.Time) {
	out := int(min(now.Sub(b.at), time.Minute) * time.Duration(rate) / time.Second)
	if out >= b.level {
		b.level, b.at = 0, now
		return
	}
	if out > 0 { // else the time is counted later
		b.level, b.at = b.level-out, now
	}
}

// has reports whether n more stay within size.
func (b *bucket) has(n, rate, size int, now time.Time) bool {
	b.run(rate, now)
	return b.level+n <= size
}

// fill adds n, up to size.
func (b *bucket) fill(n, rate, size int, now time.Time) {
	b.run(rate, now)
	b.level = min(b.level+n, size)
}
