package main

import (
	"cmp"
	"os"
)

// What a program inside a session finds there about it: its id, and the name it had when the
// program was started.
const (
	envID      = "VEV"
	envSession = "VEV_SESSION"
)

// surroundingSession is the session that this process runs in, or "". The id is better: it
// stays when the session is renamed.
func surroundingSession() string { return cmp.Or(os.Getenv(envID), os.Getenv(envSession)) }
