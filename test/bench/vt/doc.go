// Vt measures the terminal engine beside the parser of charmbracelet/x/ansi, on the same bytes, in turns within one run:
//
//	cd test/bench/vt && go run -mod=mod . [-runs N] [-only RE]
//
// The targets in MB/s were set on one machine, on which that parser was measured, too. Its speed here says how fast this machine
// is, so the ratio of the two is held to the ratio of the target and the parser's speed there; the program fails where it
// is less. MB/s are by time of the processor, medians of all rounds.
//
// The engine is a terminal of 80x24 with 10,000 lines of history and gets 16 KiB at once. The parser is that and nothing
// more: its Advance is called for each byte, as its documentation says, with handlers for everything that do nothing.
//
// It is a module of its own, so that vev does not depend on what it is compared with.
package main
