// Package render turns what a terminal should show into bytes for a terminal that shows something else.
//
// A [Frame] says what one terminal should show: rows of one or several engines of package vt, cursor, modes, title,
// colours. A [Painter] remembers what its terminal shows and appends the smallest difference. Neither does I/O, reads a
// clock or locks anything; both belong to one goroutine.
//
// Two kinds of terminals receive bytes: another engine of package vt, which mirrors all state ([Canonical]), and a
// person's terminal ([UserTerminal]), of which only what every xterm-like one does alike is used. What a poorer one
// cannot do ([Capabilities], from its [Environment]) is left out or replaced: colours become the nearest it has, and a
// basic one gets nothing that it might print as text.
//
// Its laws, tested by property: a fresh engine that is fed a full paint shows the frame; an engine that shows frame a
// and is fed the difference of a and b shows b. In a person's terminal that gives characters other widths, what is beside
// them is where it belongs all the same: its cursor is placed anew behind each, and what it may have printed over is
// painted again.
package render
