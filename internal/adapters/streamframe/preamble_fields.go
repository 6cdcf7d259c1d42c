package streamframe

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

// The messages of preamble.proto.

func visitHello(f *wirefmt.Fields, h *protocol.Hello) {
	wirefmt.Fix32(f, 1, &h.Magic)
	wirefmt.Uint32(f, 2, &h.Epoch)
	wirefmt.Uint32(f, 3, &h.MinVersion)
	wirefmt.Uint32(f, 4, &h.MaxVersion)
	wirefmt.Uint32(f, 5, &h.Role)
	wirefmt.Uint32(f, 6, &h.MaxEnvelope)
	wirefmt.Uint32(f, 7, &h.MaxChunk)
	wirefmt.Uint64(f, 8, &h.Features)
	wirefmt.Text(f, 9, &h.Software)
}

// answer is a PreambleResponse; outcome is *accepted, *protocol.Rejection or nil.
type answer struct {
	magic   uint32
	outcome any
}

// accepted is what was agreed, as the server says it: with its own epoch, role and software.
type accepted struct {
	epoch uint32
	role  protocol.Role
	protocol.Agreed
}

func visitAnswer(f *wirefmt.Fields, a *answer) {
	wirefmt.Fix32(f, 1, &a.magic)
	wirefmt.Variant(f, 2, &a.outcome, visitAccepted)
	wirefmt.Variant(f, 3, &a.outcome, visitRejection)
}

func visitAccepted(f *wirefmt.Fields, a *accepted) {
	wirefmt.Uint32(f, 1, &a.epoch)
	wirefmt.Uint32(f, 2, &a.Version)
	wirefmt.Uint32(f, 3, &a.role)
	wirefmt.Uint32(f, 4, &a.MaxEnvelope)
	wirefmt.Uint32(f, 5, &a.MaxChunk)
	wirefmt.Uint64(f, 6, &a.Features)
	wirefmt.Text(f, 7, &a.Software)
}

func visitRejection(f *wirefmt.Fields, r *protocol.Rejection) {
	wirefmt.Uint32(f, 1, &r.Code)
	wirefmt.Uint32(f, 2, &r.MinVersion)
	wirefmt.Uint32(f, 3, &r.MaxVersion)
	wirefmt.Text(f, 4, &r.Text)
	wirefmt.Text(f, 5, &r.Software)
}
