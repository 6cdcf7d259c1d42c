//go:build linux

// Bench measures vev beside a bare pty, tmux and dtach in one run, and holds the ratios to the project's targets.
//
//	go run ./test/bench [flags] [table...]
//
// It owns the far end of each client: a pty and a terminal engine that says when a thing can be seen there, which is
// later than when its bytes came. It never trusts a peer's word for anything: processes, memory and CPU are read from
// /proc.
//
// # Method
//
// Peers take turns within each round, so that what the machine does meanwhile meets all of them. Keys are typed at a
// pace of their own, whether or not earlier ones were echoed: waiting for the echo would hide every stall. Before each
// measurement the machine has to be still. Each peer has a home and a socket of its own in a scratch directory. What a
// peer leaves running becomes a child of this process, the subreaper of all it starts, and is ended by its pid.
// Questions that a client asks its terminal are answered by the engine.
//
// With -net the peers are remote: ssh, ssh with tmux or dtach, mosh, and vev over ssh (vev-ssh), over QUIC behind ssh's first
// contact (vev-quic), and over the test carriage (vev: one TCP connection between a near broker and a far daemon). Each works across a link of its own (internal/testkit/netlab): two network namespaces
// and a shaper of real packets, with the delay, loss, rate and queue that the table says, the same both ways, so that loss
// counts twice for a round trip. That takes root. Programs in the sessions tell the time on the screen, and how old that
// is there is the age of a frame: both ends have one clock. What crosses the link is counted in bytes of IP.
//
// Only ratios of medians within one table of one run say anything.
//
// # Files
//
// main.go picks tables and prints; peer.go says how each peer is driven; run.go is a peer at work and its processes
// (proc.go); term.go is a client in its pty; program.go are the programs that run in the sessions; table_*.go are the
// tables, net*.go those across a link; report.go holds and prints the values and targets.go judges them. Everything runs
// on one goroutine, but for the links, and the peers of nethole, which wait side by side.
package main
