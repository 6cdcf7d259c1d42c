package sessionwire

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// packBelow is the size of an envelope from which it is packed: smaller ones gain nothing.
	packBelow = 128

	// packWindow is how far back a DEFLATE stream may refer (RFC 1951, section 2); it bounds the memory of both ends.
	packWindow = 32 << 10

	// packLevel is how hard the packer looks for what was there before: of the levels the one that makes the recorded
	// programs smallest for its time. It holds about a megabyte, the decoder a tenth of one.
	packLevel = 6

	// unpackStep is by how much the memory of an unpacked envelope grows while it comes: not by
	// what its sender claims.
	unpackStep = 64 << 10
)

// flushEnd is what each flush of a DEFLATE stream ends with; it is left out on the wire, as in RFC 7692, section 7.2.1.
var flushEnd = []byte{0, 0, 0xff, 0xff}

// packer turns envelopes of a server into Packed ones, pieces of one compressed stream. Owned by
// the holder of the connection's slot.
type packer struct {
	enc *flate.Writer // nil before the first
	out bytes.Buffer
}

// pack replaces the envelope at the end of b, from at on. What it returns must be sent: the
// stream has gone on.
func (p *packer) pack(b []byte, at int) ([]byte, error) {
	if p.enc == nil {
		enc, err := flate.NewWriter(&p.out, packLevel)
		if err != nil {
			return b, err
		}
		p.enc = enc
	}
	p.out.Reset()
	size := len(b) - at
	if _, err := p.enc.Write(b[at:]); err != nil {
		return b, err
	}
	if err := p.enc.Flush(); err != nil {
		return b, err
	}
	piece := bytes.TrimSuffix(p.out.Bytes(), flushEnd)
	b = appendHead(b[:at], tagPacked, sizeUint(1, uint64(size))+sizeData(2, piece))
	b = appendData(appendUint(b, 1, uint64(size)), 2, piece)
	if p.out.Cap() > 2*packWindow {
		p.out = bytes.Buffer{} // a large one is rare
	}
	return b, nil
}

// unpacker is the other end of a packer. Owned by the receiver.
type unpacker struct {
	dec  io.Reader    // nil before the first
	in   []byte       // the piece at hand, with flushEnd
	left bytes.Reader // of in
	past []byte       // the end of what was unpacked so far, which the next piece may refer to; at most packWindow
	out  []byte
}

// unpack returns the envelope that body, a Packed message, holds; it is valid until the next
// call. ceiling bounds it before anything is allocated.
func (u *unpacker) unpack(body []byte, ceiling int) ([]byte, error) {
	size, piece, err := parsePacked(body)
	if err != nil {
		return nil, err
	}
	if size > uint64(ceiling) {
		return nil, tooLong("an unpacked envelope", int(min(size, 1<<40)), ceiling)
	}
	u.in = append(append(u.in[:0], piece...), flushEnd...)
	u.left.Reset(u.in)
	if u.dec == nil {
		u.dec = flate.NewReader(&u.left)
	} else if err := u.dec.(flate.Resetter).Reset(&u.left, u.past); err != nil {
		return nil, err
	}
	u.out = u.out[:0]
	for left := int(size); left > 0; {
		at, step := len(u.out), min(left, unpackStep)
		u.out = append(u.out, make([]byte, step)...)
		if _, err := io.ReadFull(u.dec, u.out[at:]); err != nil {
			return nil, broken("a packed envelope of %d bytes cannot be read", size)
		}
		left -= step
	}
	// Behind the flush the decoder misses the next block, which is in the next piece.
	var more [1]byte
	if n, err := u.dec.Read(more[:]); n > 0 || err != io.ErrUnexpectedEOF {
		return nil, broken("a packed envelope of %d bytes does not end with its piece", size)
	}
	envelope := u.out
	u.remember(envelope)
	if cap(u.in) > 2*unpackStep || cap(u.out) > 2*unpackStep {
		u.in, u.out = nil, nil // a large one is rare
	}
	return envelope, nil
}

// remember appends an envelope to the past.
func (u *unpacker) remember(envelope []byte) {
	envelope = envelope[max(0, len(envelope)-packWindow):]
	if over := len(u.past) + len(envelope) - packWindow; over > 0 {
		u.past = u.past[:copy(u.past, u.past[over:])]
	}
	u.past = append(u.past, envelope...)
}

// parsePacked takes a Packed message apart.
func parsePacked(body []byte) (size uint64, piece []byte, err error) {
	c := cursor{what: "packed", b: body}
	for {
		more, err := c.next()
		switch {
		case err != nil:
			return 0, nil, err
		case !more && (size == 0 || len(piece) == 0):
			return 0, nil, broken("packed holds nothing")
		case !more:
			return size, piece, nil
		case c.isUint(1):
			size = c.uint
		case c.isData(2):
			piece = c.data
		}
	}
}

// mayPack reports whether the client unpacks.
func mayPack(a protocol.Agreed) bool { return a.Features&protocol.FeaturePacked != 0 }

// isOf reports whether a frame is the message of a small tag, and returns that.
func isOf(tag byte, frame []byte) (body []byte, ok bool, err error) {
	if len(frame) == 0 || frame[0] != tag<<3|byte(wirefmt.Bytes) {
		return nil, false, nil
	}
	_, body, err = open(frame)
	return body, true, err
}
