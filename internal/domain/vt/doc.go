// Package vt is the terminal engine: bytes of a program in; screen, numbered history, events and replies out.
//
// It owns one terminal's whole state: two screens (main and alternate), cursor, modes, colours, title, the history of
// lines that left the main screen, and the parser's place inside a sequence. It never reads a clock, starts a
// goroutine, takes a lock or does I/O: a [Terminal] belongs to one goroutine at a time.
//
// # Route of a byte
//
// [Terminal.Write] walks the slice once with a switch over the parser's state (parser.go). Printable ASCII is found in
// runs and copied straight into the cells of the cursor's row (print.go); everything else is dispatched to the file of
// its family: control.go (C0 and ESC), csi.go, sgr.go, mode.go, osc.go, dcs.go. A row that leaves the top of the main
// screen is packed into the history (history.go). Questions are answered into a buffer that the owner takes
// (reply.go), notable things become events (event.go). Write never fails, never waits, and gives the same state
// however its input was cut. A [Search] (search.go) reads history and main screen as they are packed, a budget at a
// time.
//
// # Shape of the state
//
// A [Cell] has 16 bytes and no pointer, so the collector never looks into a screen. What does not fit (grapheme
// clusters, hyperlinks, underline colours) lives in side tables of the Terminal (tables.go) that only grow until their
// cap and are then swept; a sweep renumbers cells and raises [Terminal.Generation], which tells whoever kept copies of
// cells to forget them. A screen is a slice of row pointers: scrolling moves pointers. A [Row] carries a version (the
// [Terminal.Version] of its last change) and an id that stays with it while it moves, so a painter sees a scroll as
// rows it knows in other places.
//
// # What is supported
//
// The xterm-class set that full-screen programs and shells use: see the dispatch tables in control.go, csi.go, mode.go
// and osc.go, which are the list. UTF-8 only: a raw byte 0x80 to 0x9F is never a control, U+0080 to U+009F is one, as
// in xterm. Width is the package's own decision, pinned to Unicode 17 (width.go), by grapheme cluster while mode 2027
// is set, which it is after a reset. Sixel and kitty images, VT52 mode, double-size lines and 8-bit replies are not
// supported: their sequences are consumed and change nothing.
package vt
