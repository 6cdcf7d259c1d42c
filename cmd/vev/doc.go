// Command vev keeps terminal sessions running and attaches terminals and programs to them.
//
// It is the composition root: one file per command (cmd_*.go, and host_*.go for those of vev host), the two roles that commands
// start in the background and the helper that another machine starts (role_*.go), and what they
// share:
//
//	main.go     the process: arguments in, exit code out
//	root.go     the tree of commands and what all of them have in common
//	exit.go     how a failure becomes a line on stderr and an exit code
//	talk.go     conversations of requests, by way of internal/talk
//	attach.go   this terminal, a dialer and the client service put together
//	service.go  the life of a role: claim, accept, idle or told to end, leave
//
// A command never speaks to daemon.sock: it asks the broker for a stream. Answers go to
// stdout, talk goes to stderr. What only looks starts nothing. Only attach.go, talk.go,
// service.go, role_*.go, cmd_host.go and the doctor know which adapter stands behind a port.
//
// # Goroutines
//
// A command has its own, and while it attaches one that dials ahead, which ends with the first
// conversation. A role has: its own, which waits for idleness; accept, joined each time the
// socket is taken away; one a connection, joined before the process ends or left to its end
// after endGrace; one that waits for signals, joined.
package main
