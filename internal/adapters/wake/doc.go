// Package wake tells whether this machine was asleep: a ports.Sleep. It knows nothing of what is to be done about it.
//
// On Linux the clock that counts sleep is compared with the one that does not, and the kernel tells of a wake-up by ending a
// wait for a time on the wall's clock, which it also does when that is set. Elsewhere the wall's clock is compared, and
// nobody is told: a clock that was set forward looks like sleep, which costs a probe.
//
// # Goroutines
//
//	watcher  started by New on Linux; waits for the kernel's word; ends with Close
package wake
