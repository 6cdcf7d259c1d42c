// Package programs runs real programs on real terminals and checks what the engine makes of their output.
//
// Each program runs in a pty of its own, at a fixed size and locale, with the engine as its terminal. A step is keys typed
// and something seen on the screen for it. All bytes are recorded; afterwards they are fed to fresh engines in other
// portions, painted step by step and in full for each kind of terminal, and given to other terminals to compare: tmux,
// and a real xterm where ../shared is beside the checkout.
//
// The programs are the system's. One that is missing skips its test, or fails it when VEV_TEST_STRICT=1.
package programs
