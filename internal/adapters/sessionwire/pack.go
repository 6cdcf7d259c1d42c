package sessionwire

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// packBelow is the size of an envelope from which it is packed: smaller ones gain nothing.
	packBelow = 128

	// packWindow is how far back the stream of packed envelopes refers; it bounds the memory of
	// both ends. The encoder holds about half a megabyte, the decoder a fifth of one.
	packWindow = 64 << 10

	// unpackStep is by how much the memory of an unpacked envelope grows while it comes: not by
	// what its sender claims.
	unpackStep = 64 << 10
)

// packer turns envelopes of a server into Packed ones, pieces of one compressed stream. Owned by
// the holder of the connection's slot.
type packer struct {
	enc *zstd.Encoder
	out bytes.Buffer
}

// pack replaces the envelope at the end of b, from at on. What it returns must be sent: the
// stream has gone on.
func (p *packer) pack(b []byte, at int) ([]byte, error) {
	if p.enc == nil {
		enc, err := zstd.NewWriter(&p.out,
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow),
			zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
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
	piece := p.out.Bytes()
	b = appendHead(b[:at], tagPacked, sizeUint(1, uint64(size))+sizeData(2, piece))
	b = appendData(appendUint(b, 1, uint64(size)), 2, piece)
	if p.out.Cap() > 2*packWindow {
		p.out = bytes.Buffer{} // a large one is rare
	}
	return b, nil
}

// unpacker is the other end of a packer. Owned by the receiver.
type unpacker struct {
	dec   *zstd.Decoder
	piece bytes.Reader
	out   []byte
}

// Read gives the decoder the bytes of the piece at hand; what it asks for beyond them is missing.
func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.piece.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
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
	u.piece.Reset(piece)
	if u.dec == nil {
		u.dec, err = zstd.NewReader(u, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(packWindow), zstd.IgnoreChecksum(true))
		if err != nil {
			return nil, broken("a packed envelope cannot be read")
		}
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
	if rest := u.piece.Len(); rest > 0 {
		return nil, broken("%d bytes follow a packed envelope of %d", rest, size)
	}
	envelope := u.out
	if cap(u.out) > 2*unpackStep {
		u.out = nil
	}
	return envelope, nil
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
