// Package carriage joins two machines by TCP, for tests and benchmarks: Near is the broker of
// one, Far is what ssh's daemon is on the other. Everything in between is what vev does over
// ssh: the broker service with a link, and a `vev _broker-mux-stdio` for each connection, with
// the connection as its standard input and output. There is no admission: it is for networks
// that only a test can reach.
//
// The near broker leads every stream to the far machine, so that the commands of an unchanged
// vev, with VEV_HOME set to the near broker's, work on the far machine's sessions.
//
// # Goroutines
//
// One for each connection, joined by Near and Far.
package carriage
