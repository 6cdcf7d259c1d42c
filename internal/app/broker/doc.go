// Package broker is the service between clients and daemons: it grants logical streams and
// relays each to the daemon of the host it was asked for, and knows the sessions of all hosts.
//
// It owns the clients' conversations and the relays. It never parses what a stream carries,
// never touches a terminal, and keeps nothing that a restart would lose: clients that it
// leaves come back and resume with the daemon. A host other than this machine is reached over
// a link: a broker conversation with the endpoint there, which all streams to that host share (hosts.go, link.go). What the
// dial has to ask goes to the client whose stream began it (search.go).
//
// Hosts that the user has added have names of their own, which are resolved wherever a client names a host (members.go).
// Operations on them are carried out in operate.go; what led to a host that is removed ends (removed.go); check.go goes to a host step by step.
//
// # The way to a host
//
// A way (way.go) has the link, probes it, and does what domain/pulse makes of the answers: another link is sought beside a
// silent one, and clients are told how it is. Which transport carries a link is chosen in transport.go: ssh first, QUIC
// beside it and in its place; where a link over QUIC falls silent, QUIC again, and ssh once that would get through. Streams
// stay on the link they began on: their clients are told to move.
//
// The catalogue is what daemons tell in Watch conversations of the broker's own, one a host and only while somebody
// wants to know (keeper.go); package domain/catalogue merges it. Each subscription is told the difference to what it
// was told before, when it takes something (publish.go): nothing is queued for it.
//
// Pictures of sessions come the same way, one conversation for each session and size that anybody looks at, and go to
// clients over a bus that has the newest alone for each (previews.go).
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
// For a host there are one per attempt to reach it, those that begin them, one per probe that has no answer, and one per
// link that is being closed or doubted; for the catalogue one per host that is watched or confirmed, and one per
// subscription; for pictures one per source and one per client's preview; two per operation. Close joins those.
package broker
