// Package broker is the service between clients and daemons: it grants logical streams and
// relays each to the daemon of the host it was asked for.
//
// It owns the clients' conversations and the relays. It never parses what a stream carries,
// never touches a terminal, and keeps nothing that a restart would lose: clients that it
// leaves come back and resume with the daemon. A host other than this machine is reached over
// a link: a broker conversation with the endpoint there (hosts.go). What the dial has to ask goes to
// the client whose stream began it (search.go).
//
// # Route of the data
//
// Stream.Read -> daemon connection Write, and back, each direction on one goroutine that
// waits for nothing but the next bytes or the other side's room (relay.go).
//
// # Goroutines
//
// Serve runs on its caller's. For each stream it starts one that dials and then relays
// towards the client, and with the relay one for the other direction; Serve joins them all.
// For a host there are one per attempt to reach it, one that begins them, and one per link
// that is being closed or doubted; Close joins those.
package broker
