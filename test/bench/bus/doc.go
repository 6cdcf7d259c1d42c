// Bus compares ways to hand one publisher's frames to many subscribers in one process: streambus
// beside a Go channel for each subscriber, which bounds what can be reached, and beside an embedded
// NATS server.
//
//	cd test/bench/bus && go run . [-runs N] [-deliveries N] [-only RE]
//
// prints one table of medians; everything in it was measured in one run, the kinds taking turns
// within each round. Read it as ratios. Each subscriber has a goroutine that counts what it gets; the
// time, and the CPU time of the process, are from the first publish until every subscriber has every frame. Frames are 128 bytes.
// NATS's publisher has a connection of its own; its subscribers share another, or have one each, all
// of them within the process.
//
// It is a module of its own, so that vev does not depend on what it is compared with.
package main
