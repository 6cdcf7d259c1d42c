// Vtdiff compares the project's terminal engine with two others: a real xterm and xterm.js.
//
//	go run ./test/vtdiff [flags]
//	go run ./test/vtdiff -size 20x5 -input 'ab\x1b[31mc'
//
// It makes sessions from seeds, gives each to all three voices, and counts who stands alone. Where the engine does, or
// where all three differ, it cuts the session down to the smallest that still shows it and prints that: one cause to
// resolve, in the specification's favour (ECMA-48, DEC STD 070, xterm's ctlseqs), with a test beside the engine. A
// cause in which the engine is right is listed in known.go, and what cannot be compared at all in scope.go; both say
// why. It never judges by itself who is right.
//
// # Route of a session
//
// generate.go makes it from a seed, by one of several profiles: what only one of the others knows is judged by that one
// alone. ours.go, xterm.go and xtermjs.go are the voices, each of which turns its screen into the form of screen.go;
// judge.go compares, shrink.go makes it small, known.go excuses, main.go counts and prints.
//
// xterm runs in a virtual X server (Xvfb) with a copy of this program inside, which relays between it and a socket; it
// is asked in band for each cell's text (DECRQCRA) and style (XTREPORTSGR). xterm.js runs in Node.js, driven by
// ../shared/vt-oracle. Everything is on one goroutine but for the relay, whose second one ends with its process.
package main
