// Package sessionwire speaks the session conversation (docs/protocol.md, Session conversation)
// over any byte stream: typed messages of package protocol to bytes and back, and the order in
// which they may come.
//
// It owns the codec, the limits on what a peer sends, the preamble of roles 1 and 2, and the
// legality of each message in the conversation's state. It never looks at what messages mean:
// numbering of input, acknowledgements and windows belong to the services. It starts no
// goroutine; whoever receives and whoever sends brings their own.
//
// Inbound: streamframe.Reader -> open (envelope) -> hot_parse.go or, after shape.walk has
// checked every count and length, fields*.go -> check.go (values) -> conversation.client or
// server (order) -> the caller. Outbound: the same stations backwards, in the caller's
// goroutine, under the connection's one writer slot.
//
// Output, Input and Ack are parsed into kept memory; what Receive returns is therefore valid
// until the next Receive only. fields*.go describe every other message once for both
// directions. All bytes are those of the schema in protocol/wire, whose generated code the
// tests compare with; it is not linked into the program, where it would cost each start.
package sessionwire
