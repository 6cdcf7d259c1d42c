// Package netlab is a real network of two hosts for tests and benchmarks: two network
// namespaces of this process, a TUN device in each, and a shaper between them that works on
// whole IP packets. So TCP, QUIC and whatever else runs over it behave as over a real link with
// delay, jitter, loss, a rate with a finite queue, and blackholes; the kernel's own emulation
// (netem) is not needed. What becomes of a packet is decided by a simnet.Shaper.
//
// It needs Linux and root. The namespaces have no names and vanish with the process, whatever
// its end; nothing of the system outside them is changed.
//
// # Goroutines
//
// New starts one for each direction of the link, on a thread of its own; Close joins them.
package netlab
