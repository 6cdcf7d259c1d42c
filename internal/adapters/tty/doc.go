// Package tty is the user's own terminal, a [ports.Terminal].
//
// It opens the terminal of standard input anew, by path, so that reads can be ended without
// changing the blocking mode that standard input shares with other programs. It owns the
// terminal's modes and the process's signals from [Open] to [Terminal.Close]; it never draws.
//
// One goroutine, started by Open and joined by Close, turns signals into events.
package tty
