// Package brokerwire turns the typed messages of the broker conversation into envelopes and
// back, and holds the conversation's rules as pure state machines (docs/protocol.md, Broker
// conversation).
//
// Outbound: AppendClient and AppendServer; stream data and window updates, which make up
// nearly all of the traffic, through a Refs into kept memory. Inbound: DecodeClient and
// DecodeServer, after Refs has had its look at what it knows. fields.go and
// fields_catalogue.go describe each message once for both directions; the bytes are those of
// the schema in protocol/wire, whose generated code the tests compare with.
//
// Everything a peer sends is checked before anything changes; a breach is a fault of kind
// Violation that names the limit and by how much it was passed. Unknown fields within a known
// message are ignored: that is how a newer peer talks to us.
//
// Machine decides what is legal next on a connection. It has no I/O, clock, goroutine or
// lock; whoever keeps one guards it.
package brokerwire
