// Package vtload makes the output of programs that the terminal engine's speed is measured with, and says how fast it must be taken:
// for the engine's own benchmark and for the one beside another parser, so that both mean the same bytes.
package vtload
