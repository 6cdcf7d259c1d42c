// Package protocol holds the typed messages of vev's two conversations, the version range
// and every limit that travels.
//
// The broker conversation (broker.go) runs hop by hop and carries logical streams; the
// session conversation (session.go) runs end to end inside one stream. Both begin with the
// preamble (preamble.go). docs/protocol.md is normative; the codecs in adapters turn these
// types into bytes and refuse what breaks a limit before anything changes. No behaviour
// lives here beyond checking and negotiating values.
package protocol
