package tty

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// stopJob stops the whole process group, a script that runs us included, as the suspend key
// does, and returns when it runs again. SIGSTOP, since the Go runtime never lets SIGTSTP have
// its default effect again once somebody asked for it.
func stopJob() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, unix.SIGCONT)
	defer signal.Stop(resumed)
	if err := unix.Kill(0, unix.SIGSTOP); err != nil {
		return err
	}
	<-resumed // the one thing that ends a stop
	return nil
}

// continuable reports whether somebody watches our job who can continue it: the leader of our
// process group has a parent in another group of our session (POSIX.1, orphaned process group).
// A program that a terminal window or sshd started itself has nobody: stopped, it would be lost.
func continuable() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	watcher, err := parentOf(group)
	if err != nil {
		watcher = unix.Getppid() // the leader is gone already; a job's processes mostly have one parent
	}
	theirs, err := unix.Getsid(watcher)
	if err != nil || theirs != session {
		return false
	}
	watchers, err := unix.Getpgid(watcher)
	return err == nil && watchers != group
}
