package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
)

// hand is the floor for framing: an 8-byte head in a kept buffer, head and payload sent with
// one writev, the payload read straight into the reader's memory. It carries one stream and
// has no credit.
type hand struct {
	io.ReadWriteCloser
	small [8 + 1024]byte
	head  [8]byte
	vec   [2][]byte
	bufs  net.Buffers
	rd    *bufio.Reader
	left  int
}

func newHand(c io.ReadWriteCloser) *hand {
	return &hand{ReadWriteCloser: c, rd: bufio.NewReaderSize(c, 4<<10)}
}

func (h *hand) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		k := min(len(p), 64<<10)
		binary.BigEndian.PutUint32(h.small[:], uint32(k))
		binary.BigEndian.PutUint32(h.small[4:], 1)
		if k <= 1024 {
			_, err = h.ReadWriteCloser.Write(h.small[:8+copy(h.small[8:], p[:k])])
		} else {
			h.vec = [2][]byte{h.small[:8], p[:k]}
			h.bufs = h.vec[:]
			_, err = h.bufs.WriteTo(h.ReadWriteCloser)
		}
		n, p = n+k, p[k:]
	}
	return n, err
}

func (h *hand) Read(p []byte) (int, error) {
	if h.left == 0 {
		if _, err := io.ReadFull(h.rd, h.head[:]); err != nil {
			return 0, err
		}
		h.left = int(binary.BigEndian.Uint32(h.head[:]))
	}
	n, err := h.rd.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}
