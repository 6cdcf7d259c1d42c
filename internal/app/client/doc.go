// Package client is the service that owns the user's terminal while it is attached to a session.
//
// It reads keys and sends them, receives states of the session and draws them, keeps both going over a lost connection,
// and gives the terminal back as it was found. It never knows how a host is reached (ports.SessionDialer does), never
// reads or writes a file descriptor (ports.Terminal does), and never asks the user's terminal anything, so that nothing
// but keys, mouse and focus comes from it.
//
// # Route of a key
//
// pump reads the terminal, typing takes out the leader key and the mouse, the outbox numbers the bytes, keeps them until the daemon has
// them, and sends them: all on the pump's goroutine. With more than directBytes on their way, or another send under way,
// the sender goroutine sends. At most protocol.InputWindowBytes are unacknowledged; lookaheadBytes more are read and
// searched for the leader; then the terminal is not read. After a lost connection the same messages are sent again with
// the same numbers, and the daemon drops what it has: input arrives once and in order.
//
// # Guesses
//
// On a slow link keys are shown before their answer (package predict). The pump leaves what it sends with the guesser and
// wakes tend, which lets the predictor guess and paints; each state, and each acknowledgement, says where in the input
// its effects end, and what was guessed up to there leaves the screen. The round trip is measured from acknowledgements
// that come with a state; the shortest of the last ones counts.
//
// # The link
//
// contact has the facts: what is owed to the user since when, and when the daemon was heard last. Only while keys wait,
// or right behind a flow that stopped, does anybody look: tend, which tells of silence and asks the daemon whether it is
// there, because a program that does not read looks the same from here. Without an answer over a link it ends the
// conversation, so that link resumes it over another connection: what carries the old one tries again more and more
// rarely. An idle client sends nothing.
//
// # Route of a state
//
// link receives an Output, applies it to the pane's engine (view), composes window and notices into a frame (composer),
// paints the difference and writes it once, then owes the acknowledgement: all on the link's goroutine. A terminal that
// takes nothing holds this up, no acknowledgement goes, and the daemon waits and draws the newest state later: nothing
// queues here.
//
// # Scroll mode
//
// The pump takes its keys (scroll_keys.go, select.go) and moves a view over the session's lines (scroll.go), which stands
// still while output goes on. What is shown comes from a cache of lines (scroll_cache.go): the screen's own as they were
// on entering, and those of the history that were asked for (scroll_fetch.go, question.go), next to the view before they
// are needed. A search looks at the lines that are here and then asks the daemon (scroll_search.go); a copy fetches what
// it lacks (copy.go). The composer draws it in place of the session (scroll_draw.go).
//
// # Live view
//
// With Options.Watch nothing but the leader's keys, those that move or search in scroll mode, and q has a meaning; pastes
// have none (watch.go). The attachment is read-only, so the daemon would take nothing else either.
//
// # Inline
//
// With Options.Inline the session is drawn on the terminal's main screen (inline_screen.go), and lines that have left the
// session's screen are added to the terminal's own history (inline.go), by their numbers: asked for behind each state,
// written when they come, each once and in order over any number of conversations.
//
// # Goroutines
//
// Run's own goroutine watches the terminal's events and decides the end. It starts link, which after the daemon has
// agreed starts pump, sender and tend (notices, guesses, sizes, stops), and for each conversation heed, which hears what is said
// of the link under it (move.go). Only link and tend draw, by turns. The pump waits for
// neither, so Ctrl-\ d works with a stuck terminal, a stuck link, a full window, and while reconnecting. All are joined
// before Run returns; a panic in any of them ends the attachment in order and becomes Run's error.
//
// # Modes
//
// The modes of the user's terminal follow the program's, modifyOtherKeys and kitty keys included: what arrives is what the
// program asked for, and passes unchanged.
//
// Bracketed paste is always on, so that a pasted leader byte is none and nothing is guessed from a paste. A program that has
// it on too gets the paste as it came. Any other gets the text that a terminal without brackets would send, a carriage
// return for each end of line, without control characters but tab (keys.Paste): they could press keys that nobody pressed
// (paste.go). A terminal that does not know the mode sends pastes as keys, which they then are.
//
// A terminal without the kitty keyboard protocol goes on sending legacy forms to a program that has set it and was told by
// the daemon that it is there: until the terminal has sent one key of the protocol, forms that it does not have are
// encoded for the program (typing.translates).
//
// The mouse is always translated: the terminal reports it in SGR whatever the program asked for, as the terminal may show only
// a window of the session, or more than the session. Each report is moved to the session's cells and encoded anew for the
// program's modes; what happens beside the session is not sent (mouse.go).
//
// The focus is always asked for, unless the client is read-only, and told to the daemon, not typed: getting it is a use of
// this client, and the program hears of all clients' together.
//
// # Questions
//
// Connecting again may take an answer of the person at the terminal. The Dialer gets it from the Asker, which shows the
// question over the session and takes what is typed from the pump until it is answered (ask.go).
//
// # Sizes
//
// A terminal smaller than the session shows the window with the cursor: it moves down and up as little as it takes,
// sideways by a part of its width more, and not for a full-screen program that hides the cursor, as such a program has
// it anywhere while it draws. A larger one has a dim border and, if that stays, is told once why (window.go).
//
// docs/protocol.md, Session conversation, is what is spoken.
package client
