// Package simnet is carriages for tests: a Pipe that buffers as much as a socket would, or as
// little as a test wants, and that can stall or be cut at a chosen byte; and connections over a
// Link with delay, jitter, loss, a rate with a bounded queue, and blackholes, each direction on
// its own and changing while it is used. They use no real file, so testing/synctest's clock sees
// everything that waits on them, and minutes pass in a moment.
//
// A Shaper is what decides each packet's fate, here and on the real links of netlab: there is
// one simulator. What a Link adds is TCP as a stream sees it: nothing is lost or out of order,
// a lost packet comes later and everything behind it waits, a blackhole makes the attempts rarer
// and rarer. It is an idealisation: the sender fills the link's queue and no more, and its
// packets are lost by chance alone.
//
// It starts no goroutine; timers do what is due.
package simnet
