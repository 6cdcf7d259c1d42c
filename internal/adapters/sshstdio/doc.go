// Package sshstdio reaches other machines with the user's own ssh: their configuration, keys, agent and jump hosts. A
// Dialer starts one ssh for each link, which runs vev's mux helper there, and gives the helper's standard input and
// output as a carriage to whoever makes a conversation of it. It weakens no check of ssh's, asks nothing, and
// does not know what the carriage carries (docs/protocol.md, Over ssh).
//
// A byte's way out: Write -> a pipe -> ssh -> the helper. In: ssh -> a pipe -> Read, which drops what the start-up files
// of a shell say until the line that the helper's starter prints (greeting.go), and then is the pipe's own.
//
// What ssh and the helper say on standard error is kept, its end at least, and becomes one sentence when there is no
// link (explain.go). ssh ends with its link: at once when there was none yet, else within endGrace, in which it delivers
// what was written.
//
// A connection that the user's configuration has ssh share is used, unless it does not answer (shared.go). None is made
// for others to share: what is left behind would outlive the link.
//
// A visit (visit.go) is an ssh of its own, without a carriage: it tells what machine that is and which vev is found there, and
// takes a program to install, if that is wanted: nothing is copied else. program.go finds the one for the machine. Where ssh
// goes, and whether anybody answers there, locate.go tells.
//
// # Goroutines
//
//	reaper  started by DialLink, or a visit; takes ssh's status; ends with ssh, which the link's Close, or the visit, waits for
package sshstdio
