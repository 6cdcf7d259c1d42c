// Package fault holds the kinds of failure and the one error type that carries them.
//
// A kind says who can act; the message says what was wrong, the hint what to do next. An
// error gets its kind once, where its meaning is known, and is wrapped elsewhere. Kinds
// travel as the codes of docs/protocol.md; causes never do.
package fault
