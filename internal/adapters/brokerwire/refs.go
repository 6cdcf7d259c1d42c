package brokerwire

import (
	"bytes"
	"encoding/binary"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// MaxDataHead is the most bytes of a data envelope in front of its payload: the message's
	// tag and length, the ref with its scope and id, the payload's tag and length.
	MaxDataHead = 2 + 5 + 2 + scopeBytes + 11 + 1 + 5
	// MaxWindowUpdate is the most bytes of a window update's envelope.
	MaxWindowUpdate = 2 + 1 + 2 + scopeBytes + 11 + 1 + 5

	scopeBytes = 2 + 9 + 18 // field 1 of a ref: tag, length, epoch, connection id
)

// Refs writes and reads the frames of one scope that make up nearly all traffic. What it
// writes is byte for byte what the other codec would; what it does not recognise, be it
// odd or wrong, it leaves to Decode.
type Refs struct {
	scope     []byte // field 1 of a ref, empty where refs are short
	out, in   Tag    // stream data
	outU, inU Tag    // window updates
}

// ClientRefs is for a client: it sends client data and reads server data. short refs have no
// scope (protocol.FeatureShortRefs).
func ClientRefs(s protocol.Scope, short bool) *Refs {
	return newRefs(s, short, TagClientStreamData, TagServerStreamData, TagClientWindowUpdate, TagServerWindowUpdate)
}

// ServerRefs is for a broker.
func ServerRefs(s protocol.Scope, short bool) *Refs {
	return newRefs(s, short, TagServerStreamData, TagClientStreamData, TagServerWindowUpdate, TagClientWindowUpdate)
}

func newRefs(s protocol.Scope, short bool, out, in, outU, inU Tag) *Refs {
	r := &Refs{out: out, in: in, outU: outU, inU: inU}
	if short {
		return r
	}
	b := append(make([]byte, 0, scopeBytes), 1<<3|2, scopeBytes-2, 1<<3|1)
	b = binary.LittleEndian.AppendUint64(b, s.BrokerEpoch)
	b = append(b, 2<<3|2, byte(len(s.Connection)))
	r.scope = append(b, s.Connection[:]...)
	return r
}

// AppendDataHead appends a data envelope up to its payload of n bytes, n > 0.
func (r *Refs) AppendDataHead(dst []byte, id protocol.StreamID, n int) []byte {
	ref := r.refSize(id)
	dst = wirefmt.AppendTag(dst, r.out, wirefmt.Bytes)
	dst = wirefmt.AppendVarint(dst, uint64(2+ref+1+wirefmt.SizeVarint(uint64(n))+n))
	dst = r.appendRef(dst, id, ref)
	dst = append(dst, 2<<3|2)
	return wirefmt.AppendVarint(dst, uint64(n))
}

// AppendWindowUpdate appends the envelope of a grant, credit > 0.
func (r *Refs) AppendWindowUpdate(dst []byte, id protocol.StreamID, credit uint32) []byte {
	ref := r.refSize(id)
	dst = wirefmt.AppendTag(dst, r.outU, wirefmt.Bytes)
	dst = wirefmt.AppendVarint(dst, uint64(2+ref+1+wirefmt.SizeVarint(uint64(credit))))
	dst = r.appendRef(dst, id, ref)
	dst = append(dst, 2<<3)
	return wirefmt.AppendVarint(dst, uint64(credit))
}

// refSize is the size of a ref's content; it always fits one byte of length.
func (r *Refs) refSize(id protocol.StreamID) int {
	return len(r.scope) + 1 + wirefmt.SizeVarint(uint64(id))
}

func (r *Refs) appendRef(dst []byte, id protocol.StreamID, size int) []byte {
	dst = append(dst, 1<<3|2, byte(size))
	dst = append(dst, r.scope...)
	dst = append(dst, 2<<3)
	return wirefmt.AppendVarint(dst, uint64(id))
}

// ParseData looks at the first bytes of an inbound envelope of size bytes, at least
// MaxDataHead of them if it has as many. If it is stream data of this scope in the usual
// form, it returns the stream, the head's length and the payload's, which is the rest.
func (r *Refs) ParseData(head []byte, size int) (id protocol.StreamID, skip, payload int, ok bool) {
	id, rest, ok := r.parseRef(head, r.in, size)
	if !ok || len(rest) == 0 || rest[0] != 2<<3|2 {
		return 0, 0, 0, false
	}
	n, m := wirefmt.ConsumeVarint(rest[1:])
	skip = len(head) - len(rest) + 1 + m
	if m < 0 || n == 0 || n != uint64(size-skip) {
		return 0, 0, 0, false
	}
	return id, skip, int(n), true
}

// ParseWindowUpdate reads an inbound envelope if it is a grant of this scope in the usual form.
func (r *Refs) ParseWindowUpdate(body []byte) (id protocol.StreamID, credit uint32, ok bool) {
	id, rest, ok := r.parseRef(body, r.inU, len(body))
	if !ok || len(rest) == 0 || rest[0] != 2<<3 {
		return 0, 0, false
	}
	n, m := wirefmt.ConsumeVarint(rest[1:])
	if m < 0 || m+1 != len(rest) || n == 0 || n > 1<<32-1 {
		return 0, 0, false
	}
	return id, uint32(n), true
}

// parseRef checks tag and length of an envelope of size bytes and the ref in front of its
// message, and returns what follows the ref within head.
func (r *Refs) parseRef(head []byte, want Tag, size int) (protocol.StreamID, []byte, bool) {
	tag, n := wirefmt.ConsumeVarint(head)
	if n < 0 || tag != uint64(want)<<3|2 {
		return 0, nil, false
	}
	length, m := wirefmt.ConsumeVarint(head[n:])
	if m < 0 || length != uint64(size-n-m) {
		return 0, nil, false
	}
	rest := head[n+m:]
	at := 2 + len(r.scope) // of the id's field
	if len(rest) < at+2 || rest[0] != 1<<3|2 {
		return 0, nil, false
	}
	end := 2 + int(rest[1])
	if end > len(rest) || end < at+2 || !bytes.Equal(rest[2:at], r.scope) || rest[at] != 2<<3 {
		return 0, nil, false
	}
	id, k := wirefmt.ConsumeVarint(rest[at+1 : end])
	if k < 0 || at+1+k != end || id == 0 {
		return 0, nil, false
	}
	return protocol.StreamID(id), rest[end:], true
}
