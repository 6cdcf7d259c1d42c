// Package netsim drives the real binary across real and simulated links.
//
// Over a real link (two network namespaces and a shaper, internal/testkit/netlab) a broker runs
// on the near host and a daemon on the far one, joined by the test carriage
// (internal/testkit/carriage); clients speak to the near broker as they always do. These tests
// take Linux and root, skip themselves elsewhere, and fail instead when VEV_TEST_STRICT=1.
//
// Over simulated links the client and daemon services run in this process, in virtual time,
// through the same codecs, with links that break, stall and overtake each other at any point:
// property tests of what must hold whatever the network does.
package netsim
