package streamframe

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// HeaderBytes is the length in front of every envelope.
	HeaderBytes = 4

	// readAhead bounds what is read beyond what was asked for: enough for the heads of the
	// frames that follow and for small frames whole, little enough that a bulk payload is hardly
	// copied.
	readAhead = 4 << 10

	// firstRead is as much until more came at once: a connection that never carries much costs little.
	firstRead = 512

	// keptBytes is the largest body buffer kept between frames; a larger one lives for its frame.
	keptBytes = 64 << 10
)

// Reader takes a byte stream apart into envelopes. One goroutine uses it.
type Reader struct {
	src  io.Reader
	buf  []byte // read ahead: buf[r:w] is unread; made with the first read, of firstRead, then readAhead
	r, w int
	left int    // bytes of the current frame not yet taken
	body []byte // kept for frames larger than buf
	got  int    // bytes of the current frame in body
}

// NewReader returns a reader of the envelopes in src. Nothing is read or allocated yet.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Next goes to the next frame and returns its length, dropping what is left of the current
// one. A length of 0 or above ceiling is a fault of kind Violation and ends the stream:
// nothing was allocated for it. io.EOF: the stream ended between two frames;
// io.ErrUnexpectedEOF: within one.
func (f *Reader) Next(ceiling int) (int, error) {
	if err := f.drop(); err != nil {
		return 0, err
	}
	if err := f.fill(HeaderBytes); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(f.buf[f.r:])
	f.r += HeaderBytes
	if err := checkLength(n, ceiling); err != nil {
		return 0, err
	}
	f.left = int(n)
	return f.left, nil
}

func checkLength(n uint32, ceiling int) error {
	ceiling = min(ceiling, protocol.MaxEnvelopeBytes)
	switch {
	case n == 0:
		return fault.New(fault.Violation, "a frame of length 0")
	case uint64(n) > uint64(ceiling):
		return fault.New(fault.Violation, "a frame of %d bytes is %d over the limit of %d", n, uint64(n)-uint64(ceiling), ceiling)
	}
	return nil
}

// ReadFrame returns the next envelope, valid until the next call. Errors as of Next.
func (f *Reader) ReadFrame(ceiling int) ([]byte, error) {
	if _, err := f.Next(ceiling); err != nil {
		return nil, err
	}
	return f.Body()
}

// Left is the number of bytes of the current frame not yet taken.
func (f *Reader) Left() int { return f.left }

// Peek returns the next n bytes of the current frame without taking them, fewer if it has no
// more; n is at most 4 KiB. They are valid until the next call.
func (f *Reader) Peek(n int) ([]byte, error) {
	n = min(n, f.left, readAhead)
	if err := f.fill(n); err != nil {
		return nil, noEOF(err)
	}
	return f.buf[f.r : f.r+n], nil
}

// Skip takes n bytes that Peek has returned.
func (f *Reader) Skip(n int) {
	f.r += n
	f.left -= n
}

// Read takes bytes of the current frame straight into p; io.EOF at the frame's end. It waits
// only while nothing is there.
func (f *Reader) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), f.left)]
	if f.r < f.w {
		n := copy(p, f.buf[f.r:f.w])
		f.Skip(n)
		return n, nil
	}
	n, err := f.src.Read(p)
	f.left -= n
	if n > 0 {
		return n, nil
	}
	return 0, noEOF(err)
}

// Fill takes exactly len(p) bytes of the current frame, which has as many.
func (f *Reader) Fill(p []byte) error {
	for len(p) > 0 {
		n, err := f.Read(p)
		if err != nil {
			return noEOF(err)
		}
		p = p[n:]
	}
	return nil
}

// Body takes the rest of the current frame. It is valid until the next call. Memory grows
// with the bytes that have come, not with the length that was claimed. After an error of the
// source that was only a passed deadline, Body goes on where it was, as Next, Peek and Read do.
func (f *Reader) Body() ([]byte, error) {
	if n := f.left; f.got == 0 && n <= readAhead {
		if err := f.fill(n); err != nil {
			return nil, noEOF(err)
		}
		b := f.buf[f.r : f.r+n]
		f.Skip(n)
		return b, nil
	}
	for f.left > 0 {
		if f.got == len(f.body) {
			f.body = grow(f.body, f.got, f.got+min(f.left, max(keptBytes, f.got)))
		}
		m, err := f.Read(f.body[f.got:])
		if err != nil {
			return nil, noEOF(err)
		}
		f.got += m
	}
	b := f.body
	f.body, f.got = b[:0], 0
	if cap(b) > keptBytes {
		f.body = nil
	}
	return b, nil
}

// grow returns b with length n and its first got bytes kept.
func grow(b []byte, got, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	g := make([]byte, n)
	copy(g, b[:got])
	return g
}

func (f *Reader) drop() error {
	f.body, f.got = f.body[:0], 0
	for f.left > 0 {
		if f.r == f.w {
			if err := f.fill(1); err != nil {
				return noEOF(err)
			}
		}
		f.Skip(min(f.left, f.w-f.r))
	}
	return nil
}

// fill makes at least n unread bytes available in buf, n <= readAhead.
func (f *Reader) fill(n int) error {
	if f.w-f.r >= n {
		return nil
	}
	switch {
	case f.buf == nil && n <= firstRead:
		f.buf = make([]byte, firstRead)
	case len(f.buf) < readAhead && (n > len(f.buf) || f.w == len(f.buf)):
		ahead := f.buf[f.r:f.w]
		f.buf = make([]byte, readAhead)
		f.r, f.w = 0, copy(f.buf, ahead)
	}
	if f.r > 0 {
		f.w = copy(f.buf, f.buf[f.r:f.w])
		f.r = 0
	}
	for f.w < n {
		m, err := f.src.Read(f.buf[f.w:])
		f.w += m
		if f.w >= n {
			return nil
		}
		if err != nil {
			if f.w > 0 {
				return noEOF(err)
			}
			return err
		}
	}
	return nil
}

// noEOF names an end that came too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
