package delay

import "time"

const (
	// Queue is the delay that the sender itself may add to the least round trip: enough to keep
	// the link busy between two acknowledgements.
	Queue = 30 * time.Millisecond

	// startBudget is allowed until the link shows that it is too much: a whole screen and what
	// follows it, as much as a TCP connection begins with.
	startBudget = 16 << 10
	// leastBudget is one packet: less would only add round trips.
	leastBudget = 1200

	// forget is how long a least round trip counts. Then what is in flight drains, and the next
	// that goes, alone, measures anew: a way that has become longer would be taken for a queue
	// otherwise, and a queue that never drains for the way.
	forget = 5 * time.Second

	// longest is the longest way there is: an acknowledgement that took longer came from a client
	// that was stopped, or through a link that was gone.
	longest = 2 * time.Second
)

// Control estimates one link in one direction. The zero value knows nothing yet; a new
// connection begins with one.
type Control struct {
	rate      float64 // bytes a second that the link carries; 0: not known
	congested bool    // the link has shown its limit: startBudget counts no more
	delivered int64   // bytes acknowledged, all together
	flight    int     // bytes not acknowledged
	least     time.Duration
	leastAt   time.Time
	queued    float64 // bytes that the link had not carried at queuedAt, at its rate
	queuedAt  time.Time
	began     time.Time // when something was last sent alone
	limited   bool      // the sender was held back since the last send
}

// Mark is what a sender keeps of something that is in flight.
type Mark struct {
	at        time.Time
	bytes     int
	delivered int64
	limited   bool
	alone     bool
	idle      bool // the link was idle for a part of its round trip
	flight    int  // bytes that were in flight with it
}

// Sent notes that bytes left at now and returns the mark to hand to Acked.
func (c *Control) Sent(now time.Time, bytes int) Mark {
	m := Mark{at: now, bytes: bytes, delivered: c.delivered, limited: c.limited, alone: c.flight == 0}
	if m.alone {
		c.began = now
	}
	m.idle = c.least == 0 || now.Sub(c.began) < c.least
	c.limited = false
	c.flight += bytes
	m.flight = c.flight
	c.queued, c.queuedAt = c.backlog(now)+float64(bytes), now
	return m
}

// Weigh corrects the size of what m stands for, which turned out to be another.
func (c *Control) Weigh(m *Mark, bytes int) {
	c.flight += bytes - m.bytes
	c.queued += float64(bytes - m.bytes)
	m.flight += bytes - m.bytes
	m.bytes = bytes
}

// Passed notes that what m stands for has arrived some time ago: it tells nothing about the way.
func (c *Control) Passed(m Mark) {
	c.delivered += int64(m.bytes)
	c.flight -= m.bytes
}

// Acked notes that what m stands for has arrived, as known at now.
func (c *Control) Acked(now time.Time, m Mark) {
	c.delivered += int64(m.bytes)
	c.flight -= m.bytes
	rtt := max(now.Sub(m.at), time.Microsecond)
	if c.least == 0 || rtt < c.least || m.alone && c.stale(now) && rtt < longest {
		c.least, c.leastAt = rtt, now
	}
	rate := float64(c.delivered-m.delivered) / rtt.Seconds()
	switch queue := rtt - c.least; {
	case m.flight < leastBudget:
		// That was no queue of ours. It may have been late for a lost packet, and keys and their echoes
		// keep no link busy.
		c.rate = max(c.rate, rate)
	case queue > Queue && !m.idle:
		// The link was busy all the time: that is its rate.
		c.rate, c.congested = rate, true
	case rate > c.rate:
		c.rate = rate
	case queue > Queue:
		c.congested = true
	case m.limited:
		// There is room for more: up to half as much again with each round trip, the less the nearer
		// the queue is to what it may be.
		room := 1 - float64(queue)/float64(Queue)
		c.rate += c.rate * room * float64(m.bytes) / float64(2*c.budget())
	}
}

func (c *Control) stale(now time.Time) bool { return now.Sub(c.leastAt) >= forget }

// Rate is the bytes a second that the link is known to carry, 0 while nothing is known.
func (c *Control) Rate() float64 { return c.rate }

// RTT is the least round trip of the last seconds, 0 while nothing is known.
func (c *Control) RTT() time.Duration { return c.least }

// Room reports whether more may be sent at now, oldest being the mark of what has been in flight
// longest. With nothing in flight anything may, and with less than a packet what is urgent. Else the
// sender waits for an acknowledgement, and where wait is not 0 at most that long.
func (c *Control) Room(now time.Time, oldest *Mark, urgent bool) (wait time.Duration, ok bool) {
	if c.flight <= 0 || oldest == nil || urgent && c.flight < leastBudget {
		return 0, true
	}
	if c.congested {
		// A burst of all that may be in flight would stand in one queue.
		wait = max(c.takes(c.backlog(now))-Queue, 0)
	}
	if wait == 0 && c.flight < c.budget() && !c.late(now, oldest) && !(c.least > 0 && c.stale(now)) {
		return 0, true
	}
	c.limited = true
	return wait, false
}

// backlog is how many of the bytes that were sent the link has not carried at now.
func (c *Control) backlog(now time.Time) float64 {
	return max(c.queued-c.rate*now.Sub(c.queuedAt).Seconds(), 0)
}

// takes is how long the link is busy with bytes, 0 while its rate is not known.
func (c *Control) takes(bytes float64) time.Duration {
	if c.rate == 0 {
		return 0
	}
	return time.Duration(bytes / c.rate * float64(time.Second))
}

// budget is how many bytes may be in flight.
func (c *Control) budget() int {
	b := int(c.rate * (c.least + Queue).Seconds())
	if !c.congested {
		b = max(b, startBudget)
	}
	return max(b, leastBudget)
}

// late reports whether what m stands for should have arrived by now: the link has become slower
// than it was, and more would only queue.
func (c *Control) late(now time.Time, m *Mark) bool {
	if c.rate == 0 {
		return false
	}
	return now.Sub(m.at) > 2*(c.least+Queue)+c.takes(float64(m.bytes))
}
