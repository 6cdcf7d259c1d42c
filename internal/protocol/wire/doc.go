// Package wire holds the protobuf schema of both conversations and the code generated
// from it. Only the codecs import it; everybody else speaks package protocol.
package wire

//go:generate go run ../../../tools/protogen .
