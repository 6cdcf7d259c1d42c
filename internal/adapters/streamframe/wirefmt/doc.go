// Package wirefmt reads and writes the bytes of protobuf messages as docs/protocol.md has them:
// tags, varints, lengths (bytes.go), and whole messages, each described once for both
// directions (fields.go, kinds.go, messages.go).
//
// It is what the codecs use in place of protobuf's own runtime: that costs each process about a
// millisecond before its first message, as much as all the rest of a short command. The schema
// and its generated code stay the reference: the codecs' tests compare every message with it.
//
// It starts no goroutine, keeps nothing between two messages and knows no message of ours.
// What it reads may come from anybody; nothing is allocated but for values that are there.
package wirefmt
