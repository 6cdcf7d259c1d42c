// Package ptytest drives a real binary on a real terminal, for tests only: it types, resizes,
// waits for what a person would see, and compares the terminal's modes before and after.
//
// Output goes kernel -> reader -> the raw tap and a vt screen, whose answers go back to the
// program, as a real terminal's would. A test waits for a state of the screen, woken by each
// arrival of output: there are no sleeps. It opens its terminal itself and shares nothing with
// adapters/pty, so that it can judge it.
//
// Goroutines: a reader, a writer of the engine's answers and one that waits for the program.
// They end with the terminal, at the test's end at the latest, and are joined there.
package ptytest
