// Package pulse decides what is made of the way to another machine, from facts: whether a link was made or has ended, what
// it heard and when, how long its answers take, whether somebody needs it, whether this machine slept. It says what state a
// person is told, when the other end is to be asked for a sign of life, and when another link is to be made beside one that
// is silent.
//
// It has no clock, no link and no goroutine: a Machine is told what happens and when, and says when it wants to be asked
// again. Whoever keeps one guards it.
package pulse
