// Package stack gives goroutines room for their calls ahead. It knows nothing of what they do.
//
// A stack begins with two KiB and doubles when it is full: all calls on it are looked up in tables of the executable, which
// in a process that has just started are not in memory yet, and each size has a pool of its own. To begin with the size that
// will be needed takes a seventh off the time of a short command.
package stack
