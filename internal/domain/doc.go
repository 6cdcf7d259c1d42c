// Package domain holds the values and rules of vev: sessions, names, ids, sizes.
//
// It is pure: no I/O, no clock, no goroutine, no lock, no protobuf, here or below.
package domain
