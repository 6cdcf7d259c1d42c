// Package predict guesses what a key will do to the screen, so that it can be shown before the answer comes.
//
// It owns the guesses and when they may be seen. It never shows a guess that the program has not earned: keys belong to
// epochs, an epoch begins with Enter, a control key, an escape sequence, a cursor that jumps, another screen or a wrong
// guess, and nothing of an epoch is shown before the program has echoed a character of it. (After a wrong guess without
// such a key the program is only slow, most likely: its keys are guessed on, unseen, until it shows what becomes of them,
// and it is enough that it erases or passes a character.) A password
// is therefore never shown: what is not echoed confirms nothing, and a program that begins to read one prints a prompt
// for it or was sent an Enter. It cannot foresee one that stops echoing in the middle of a line, in place: what is typed
// until that is known, a round trip, was guessed from what it did before.
//
// It is no engine: it knows printable characters, backspace, left, right and the wrap at the right edge, and stops
// guessing at everything else.
//
// # Route of a guess
//
// Typed parses bytes into keys (key.go) and appends them to the flight: all keys that are not settled. replay applies
// them to a copy of the rows around the cursor (page.go), and draw makes the rows to show. Each state comes to Shown with
// two positions in the input: acked, behind which nothing can have had an effect yet, and echo, up to which every effect
// is in (docs/protocol.md, Output). Shown looks which prefix of the flight the state agrees with (settle.go). Its keys
// leave the guess, because the state shows them, and the rest is guessed anew on top of the state; keys up to echo are
// settled. A state that agrees with no prefix, although it must, ends the epoch at once.
//
// Positions count bytes of input from the begin of the attachment. The package is for one goroutine at a time and starts
// none; it allocates only while its buffers grow.
package predict
