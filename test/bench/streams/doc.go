// Streams compares ways to carry many byte streams over one Unix socket between two
// processes: vev's broker conversation beside yamux and smux, and beside the bare socket
// and framing by hand, which bound what can be reached, and sockets, which has one for each stream: what
// streams beside each other cost where nothing is shared but the machine.
//
//	go run ./test/bench/streams [-runs N] [-mb N] [-only KIND,...]
//
// prints one table of medians; everything in it was measured in one run, the kinds taking
// turns within each round. Read it as ratios. Client and server are two processes; allocations
// are both together. The columns: one stream, server to client, 64 KiB writes; 64-byte ping-pong
// on an idle connection; the same bytes over 100 streams; a ping beside a stream that floods.
//
// Beside these, over loopback UDP, are the streams of the QUIC library and of vev over it; and where -ssh says how a host is reached
// that has this program at the same place, what goes through ssh, bare and with vev on it.
package main
