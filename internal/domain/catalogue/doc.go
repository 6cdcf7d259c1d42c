// Package catalogue is the list of all sessions on all hosts: how the lists of many daemons become one, and how a
// copy of it is kept current by snapshots and deltas.
//
// A Feed takes what one daemon tells, update by update. The Catalogue merges those of all hosts and numbers its
// revisions; what it has lost it remembers as tombstones for a while, so that Since can tell anybody who has an older
// revision what has changed, however long that was ago: nothing is queued for anybody. A View is the other end: it
// applies snapshots as a whole and deltas in order, and knows when it has missed something.
//
// Everything here is pure: time comes as a value, and who asks a host, or when, is decided elsewhere. Whoever asked a
// host gives the answer with the Ticket that was current when it asked: the answer of a host that was removed
// meanwhile, or replaced by another of the same name, changes nothing.
package catalogue
