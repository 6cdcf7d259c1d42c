// Package streamframe puts one envelope after another on any byte stream: a 4-byte
// big-endian length, then exactly that many bytes (docs/protocol.md, Framing). It also
// speaks the preamble, the first frame each way on every framed connection, whose typed
// form and negotiation are in package protocol.
//
// It never looks into an envelope other than the preamble, starts no goroutine and sets no
// deadline of its own. A Reader belongs to one goroutine, a Writer to one at a time.
//
// Inbound: source -> Reader.Next (length checked, nothing allocated yet) -> Peek, Read or
// Body. Outbound: Writer.Write or WriteWith -> one write or one writev.
package streamframe
