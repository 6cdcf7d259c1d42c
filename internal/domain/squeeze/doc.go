// Package squeeze makes short messages shorter that resemble those before them, as the differences of a screen do. Both ends
// keep a Model: it guesses each bit from what came before it, and only what the guess lacks is said (arithmetic coding).
//
// Its bytes are part of the protocol (docs/protocol.md, Squeezed envelopes): every number in it counts. It takes about a
// microsecond a byte, so it is for little at a time; it keeps no reference to what it is given.
package squeeze
