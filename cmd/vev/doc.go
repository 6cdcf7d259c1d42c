// Command vev keeps terminal sessions running and attaches terminals and programs to them.
//
// It is the composition root: one file per command (cmd_*.go), the two roles that commands
// start in the background (role_*.go), and what they share:
//
//	main.go     the process: arguments in, exit code out
//	root.go     the tree of commands and what all of them have in common
//	exit.go     how a failure becomes a line on stderr and an exit code
//	dial.go     command -> broker.sock -> logical stream -> session conversation
//	talk.go     one conversation of requests
//
// A command never speaks to daemon.sock: it asks the broker for a stream. Answers go to
// stdout, talk goes to stderr. Only role_*.go and dial.go know which adapter stands behind a
// port.
package main
