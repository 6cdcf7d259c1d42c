// Package hostfile keeps the hosts that the user has added, in a file of its own under the state directory. It knows nothing
// of reaching them.
//
// The file is a line with the format's version and the SHA-256 of the rest, and the rest: JSON, written in one form only.
// A change is made under a lock that all processes take, and in this order: what is kept becomes the last good version
// (hosts.last), what is new takes its place. Either is written beside its place, synced, renamed, and the directory synced: a
// reader, who takes no lock, sees one version or the other, whenever the power fails.
//
// A file that does not fit its checksum, or breaks a rule of domain.Hosts, is damaged: it is put aside as hosts.damaged, the
// last good version, or else the empty set, takes its place, and whoever met it gets a notice. One of a newer format
// is left alone, and refused.
//
// It starts no goroutine.
package hostfile
