// Package shell is what vev knows of shells: which program is one, what is typed at its prompt so that a command runs as
// one whole, where that command's output begins and ends among the terminal's bytes, and the integration that makes a
// shell mark all of that by itself.
//
// It never reads a process, a terminal or a file: it is given command lines and bytes.
//
// The route of a command: [Of] says what reads the prompt; [Type] makes the line; the bytes that follow go through
// a [Tap], which finds the marks (OSC 133, either the shell's or those that the line prints) and hands on what is between.
package shell
