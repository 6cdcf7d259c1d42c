package client

import (
	"sync"
	"time"
)

const (
	// rttSamples is how many round trips are remembered; the shortest counts, as an answer can wait for more than the
	// link.
	rttSamples = 8
	// stallAfter: keys that get no answer for so long have one that is overdue, whatever the link.
	stallAfter = 250 * time.Millisecond
	// askAfter is how long nothing comes while keys wait before the daemon is asked whether it is there: a program that
	// does not read looks the same. Once it has answered it is asked again askAgain later.
	askAfter = time.Second
	askAgain = 5 * time.Second
	// silentAfter without a word from the daemon, asked at least silentAfter-askAfter ago, is worth a notice.
	silentAfter = 2 * time.Second

	// A flow is flowAfter messages, none of them flowGap behind the one before. When it stops the daemon is asked once: what
	// would have come next does not come through a link that is dead.
	flowAfter = 16
	flowGap   = 200 * time.Millisecond

	// A silent conversation over a link is given up and taken up again on another connection: the old one tries again
	// rarely, a new one at once. This machine's daemon is not silent because of a link; nor, where that is not known, is
	// one nearer than farRTT. After each time it is twice as long until the next, from silentAfter to maxPatience, until
	// a round trip is short.
	farRTT      = time.Millisecond
	maxPatience = 30 * time.Second
)

// contact is what is known of the link to the daemon, from facts: what was sent, what came, and when. While no key
// waits for the daemon, nothing is measured, asked or due. The sender and the link tell, the tender judges; a leaf.
type contact struct {
	far bool // the daemon is known to be on another machine; never changed

	mu      sync.Mutex
	up      bool
	heard   time.Time // when something came last, or a conversation began
	owed    time.Time // since when keys wait for the next acknowledgement; zero: none does
	watched bool      // the tender looks
	stalled bool      // it knows that answers are overdue
	silent  bool      // it says that the daemon is not heard

	run      int // messages of what may be a flow
	flowing  bool
	patience time.Duration // silence until the conversation is given up; 0: silentAfter
	givenUp  bool          // the last one was
	tended   bool          // the broker sees that the link is bad, and makes another

	samples [rttSamples]time.Duration
	sampled int
	timed   uint64 // the input whose acknowledgement is measured, 0: none
	timedAt time.Time

	asking  bool // a question is on its way; it outlives its conversation
	askedAt time.Time
}

// longestDial is how long dialing and attaching together may take to count as one round trip: what takes longer was no answer
// over a link that was there.
const longestDial = time.Second

// begin is told of a conversation; what waited is sent again. rtt is how long its attach took; below 0: that is not known.
func (c *contact) begin(now time.Time, rtt time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.heard, c.timed, c.run, c.flowing = true, now, 0, 0, false
	c.givenUp, c.tended = false, false
	if !c.owed.IsZero() {
		c.owed = now
	}
	if rtt >= 0 {
		c.sample(rtt)
	}
}

// tend is told whether the broker sees that the link under the conversation is bad. It makes another, and tells when the
// conversation is to move there: to give it up meanwhile would have the broker begin anew.
func (c *contact) tend(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tended = yes
}

// end is told that the conversation is over.
func (c *contact) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up = false
}

// sent is told of input on its way. It reports whether the tender has to be woken, because keys wait from now on.
func (c *contact) sent(seq uint64, now time.Time) (wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == 0 {
		c.timed, c.timedAt = seq, now
	}
	if c.owed.IsZero() {
		c.owed = now
	}
	wake = !c.watched
	c.watched = true
	return wake
}

// hear is told that something came. It reports whether the tender has to be woken, because it says otherwise or does not
// look at the flow that this is part of.
func (c *contact) hear(now time.Time) (wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run++; now.Sub(c.heard) > flowGap {
		c.run = 0
	}
	c.flowing = c.flowing || c.run >= flowAfter
	c.heard = now
	wake = c.silent || c.flowing && !c.watched
	c.silent = false
	c.watched = c.watched || c.flowing
	return wake
}

// answer is told that the daemon's answer to a question came.
func (c *contact) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking, c.flowing = false, false
}

// acknowledged is told of input up to seq, all: of all that was sent; prompt: a state carried it, which is sent at once,
// where an acknowledgement alone waits for one. It reports whether there is another round trip.
func (c *contact) acknowledged(seq uint64, all, prompt bool, now time.Time) (measured bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed = now
	if all {
		c.owed = time.Time{}
		if !c.asking {
			c.askedAt = time.Time{} // whatever waits next is asked for soon
		}
	}
	if c.timed == 0 || seq < c.timed {
		return false
	}
	c.timed = 0
	if prompt {
		c.sample(now.Sub(c.timedAt))
	}
	return prompt
}

func (c *contact) sample(d time.Duration) {
	c.samples[c.sampled%rttSamples] = d
	c.sampled++
	if d < askAfter {
		c.patience = silentAfter
	}
}

// rtt is the link's round trip, and whether it is known.
func (c *contact) rtt() (rtt time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shortest()
}

// shortest is rtt with mu held.
func (c *contact) shortest() (rtt time.Duration, known bool) {
	for _, d := range c.samples[:min(c.sampled, rttSamples)] {
		if !known || d < rtt {
			rtt, known = d, true
		}
	}
	return rtt, known
}

// verdict is what the tender makes of the facts.
type verdict struct {
	stalled bool          // answers are overdue since the last look
	silent  time.Duration // for how long the daemon has not been heard, 0: not worth a word
	ask     bool          // ask the daemon
	giveUp  bool          // end the conversation: another connection may get through
	next    time.Time     // when to look again, zero: when keys are sent
}

// judge looks at the facts.
func (c *contact) judge(now time.Time) (v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.up && c.givenUp {
		since := later(c.heard, c.owed)
		v.silent = now.Sub(since).Truncate(time.Second)
		v.next = since.Add(v.silent + time.Second)
		return v
	}
	if !c.up || c.owed.IsZero() && !c.asking && !c.flowing {
		c.stalled, c.silent = false, false
		c.watched = c.watched && !c.up // the next conversation wakes the tender
		return v
	}
	since := later(c.heard, c.owed)
	quiet := now.Sub(since)
	overdue := quiet >= stallAfter && !c.owed.IsZero()
	v.stalled = overdue && !c.stalled
	c.stalled = overdue
	askAt := later(since.Add(askAfter), c.askedAt.Add(askAgain))
	if !c.asking && !now.Before(askAt) {
		v.ask, c.asking, c.askedAt = true, true, now
	}
	if c.silent = c.asking && quiet >= silentAfter && now.Sub(c.askedAt) >= silentAfter-askAfter; c.silent {
		v.silent = quiet.Truncate(time.Second)
		v.giveUp = c.forsaken(quiet)
	}
	switch at := since.Add(stallAfter); {
	case at.After(now):
		v.next = at
	case !c.asking:
		v.next = askAt
	case !c.silent:
		v.next = later(since.Add(silentAfter), c.askedAt.Add(silentAfter-askAfter))
	default:
		v.next = since.Add(v.silent + time.Second)
	}
	return v
}

// forsaken reports whether a silent conversation is given up, with mu held.
func (c *contact) forsaken(quiet time.Duration) bool {
	patience := max(c.patience, silentAfter)
	if rtt, _ := c.shortest(); c.tended || !c.far && rtt < farRTT || quiet < patience {
		return false
	}
	c.patience = min(2*patience, maxPatience)
	c.givenUp = true
	return true
}

// later is the last of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
