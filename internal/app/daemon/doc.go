// Package daemon is the service that owns sessions: programs on their terminals, the state
// of those terminals, and what each attached client has seen of it.
//
// It owns the registry of sessions, their history, events and attachments. It never dials
// out, never knows how a client reaches it, and never parses what a program means beyond
// its terminal's state. One conversation (docs/protocol.md, Session conversation) is one
// call of [Daemon.Serve].
//
// # Route of the data
//
// Input: Serve receives Input -> attachment.input checks its number and window -> the
// session's inputQueue -> writeInput gives it to the terminal.
// Output: readProgram feeds the engine under the session's lock and wakes the attachments
// -> each sender asks its view for the difference from the last sent state -> Output.
// The list of sessions: whatever changes a row notes its id for each watch (rows.go) -> tellRows looks at those
// rows when the client takes something -> CatalogueUpdate.
// Pictures: a watch of a session's pictures is woken by its changes, as senders are, and draws the newest when the client
// takes it and its interval is over (previews.go) -> Preview.
//
// # Ownership
//
// A session's state (engine, attachments, views, events) is guarded by its mutex. The lock
// is held while bytes are applied or a difference is made, which is bounded work, and never
// across I/O, a channel that may block, or another lock but the registry's, which is a
// leaf. Goroutines: four a session (readProgram, writeInput, tend, reap), and for each
// conversation its receiver (the caller of Serve), one sender while attached, one for each part that is
// watched, and one for each running request; one a session while a change of its size waits. All are joined by Serve or by [Daemon.Close].
package daemon
