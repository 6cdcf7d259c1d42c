// Package brokeripc is the two ends of the broker conversation over a framed carriage: any
// io.ReadWriteCloser, be it a Unix socket, the stdio of ssh or a pipe. A Client opens
// logical streams; a Server, a ports.BrokerConn, grants them, and may ask the client's person
// something meanwhile (prompts.go) and publishes the catalogue (subscription.go), of which the Client keeps a copy
// (catalogue.go), and pictures of sessions (previews.go), of which the Client keeps the newest (pictures.go). Operations on hosts are handed on and answered once (operate.go). It never dials, never knows what a
// stream carries, and never decides what a host is (docs/protocol.md, Broker conversation
// and Credit).
//
// Inbound, in the order a byte meets it: carriage -> pump (read.go; whoever has the reading
// turn) -> machine and credit (inbound.go) -> straight into the buffer of the Read that
// pumps or waits, or the stream's queue (queue.go) -> Stream.Read. Outbound: Stream.Write
// spends credit (flow.go), takes the writing turn or lines up for it (write.go, turns.go), and
// writes from its own goroutine (carriage.go). Small frames, control messages and owed credit are
// collected in one buffer that goes before any bulk.
//
// # Who reads
//
// One goroutine at a time reads the carriage: the reading turn. A Read that finds nothing
// takes the turn if it is free and pumps until its own data has come, so the usual way of a
// byte has no hand-over between goroutines. It leaves the turn to another Read that waits, or
// free: it comes back in a moment, as a rule. If nobody has taken it up after takeOver, the
// keeper does, so control messages are never left unread for long. A carriage whose reads
// cannot be interrupted (no SetReadDeadline) is read by the keeper alone.
//
// Whoever reads never writes and never waits for one who does: answers go to a buffer whose
// bound ends the connection, credit that is owed is a number kept with the stream.
//
// # Goroutines
//
//	keeper   started by Dial or Accept; reads when no Read does; ends with the connection
//	flusher  started by Dial or Accept; writes what no Write takes along, says goodbye and
//	         closes the carriage; ends with the connection
//
// Done is closed when both have ended; Close waits for that.
package brokeripc
