// Package tty is the user's own terminal, a [ports.Terminal].
//
// It opens the terminal of standard input anew, so that reads can be ended without changing the
// blocking mode that standard input shares with other programs. It owns the terminal's modes
// and the process's signals from [Open] to [Terminal.Close]; it never draws.
//
// Bytes go kernel -> Read and Write -> kernel, nothing is kept in between. Signals go to one
// goroutine, started by Open and joined by Close, which turns them into events.
package tty
