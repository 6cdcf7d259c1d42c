package pty

import (
	"os"
	"os/signal"
	"syscall"
)

// swallow receives the signals that this process ignores but its programs must not. It is
// never read: os/signal drops what does not fit, which is what ignoring means.
var swallow = make(chan os.Signal, 1)

// lastSignal is the last of the classic signals; real-time signals are nobody's to ignore.
const lastSignal = 31

// catchIgnored makes every ignored signal a caught one. Only an ignored signal survives exec,
// so a process started by nohup or in the background of a script would else hand on its
// deafness to every shell it starts, where Ctrl-C would then do nothing. The mask has bit n-1
// for a signal n that the system says is ignored: the Go runtime does not know of all that
// were so from the start.
func catchIgnored(mask uint64) {
	for n := 1; n <= lastSignal; n++ {
		if sig := syscall.Signal(n); mask&(1<<(n-1)) != 0 || signal.Ignored(sig) {
			signal.Notify(swallow, sig)
		}
	}
}
