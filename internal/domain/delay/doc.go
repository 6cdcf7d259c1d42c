// Package delay decides how much may be on its way over a link, so that what arrives is never
// old: the delay control of the output chain.
//
// A sender that has something newer to say all the time would fill every queue of a slow link,
// and the other end would see the past. [Control] learns the link from what comes back: the
// least round trip, which is the way without queues, and the rate, which is what the link
// carried while it was busy. It allows rate x (least round trip + [Queue]) bytes in flight.
//
// Nothing here reads a clock. The times given do not go back, but for an acknowledgement that was
// held: its time is less what it waited, as its receiver says, who only misleads itself by another.
// A Control is its owner's, who guards it.
package delay
