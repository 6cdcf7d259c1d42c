// Package rundir owns where vev lives on a machine and how its processes meet there: paths,
// safe directories, locks, local sockets with admission by user, and the start of a process
// that is needed.
//
// It never reads a byte of a conversation and knows no service but by name.
//
// Everything lies under the state directory ($VEV_HOME/state, $XDG_STATE_HOME/vev or
// ~/.local/state/vev), which depends on no login's variables: NAME-MACHINE.lock and .log in
// it, the sockets in run-MACHINE/. Both directories are opened anew for each use and judged by
// the open descriptor, so what was checked is what is used. The locks are outside run-MACHINE:
// when a cleaner takes that directory away, the life lock still says that the owner of the
// socket lives, nobody starts a second one, and the owner puts the socket back.
//
// A process that is needed is started under NAME.start, looked for again first, and holds its
// life lock NAME from before its socket exists until after it is gone. So a socket that
// refuses while the life lock is free is stale, and one that is absent while the lock is held
// will come or its owner is about to end. A lock's age means nothing.
//
// Goroutines: one per Claim, which watches its socket and ends with Close; one per started
// process, which reaps it and ends with it, or with us.
package rundir
