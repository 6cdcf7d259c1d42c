// Package e2e drives the real binary in real ptys: what a person would see, and what is left behind.
//
// Each test has a home of its own (VEV_HOME) and so a broker and a daemon of its own. The test process adopts what vev
// leaves running, looks for it in /proc and ends it by pid. Nothing sleeps: a test waits for what a screen shows, for a
// process to end, for a file to change, or asks vev itself to wait; tickers are part of a test's load only.
//
// The programs that run in the sessions (vim, less, git, fzf, tmux) are the system's. One that is missing skips its
// test, or fails it when VEV_TEST_STRICT=1.
package e2e
