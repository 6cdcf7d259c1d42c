package streamframe

import (
	"encoding/binary"
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// copyBelow is the size up to which copying a payload behind its head is cheaper than
// handing the kernel two pieces.
const copyBelow = 4 << 10

// Writer puts envelopes on a byte stream, each with a single write or writev. One goroutine
// uses it at a time; what it is given is the caller's again on return.
type Writer struct {
	dst  io.Writer
	buf  []byte // kept: head, or head and body
	vec  [2][]byte
	bufs net.Buffers

	// Of WriteNow.
	step   func(fd uintptr) bool // once, made a single time
	rest   []byte
	failed error
}

// NewWriter returns a writer of envelopes to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Write sends one envelope that consists of head and, behind it, payload, which may be empty.
// An envelope that is empty or above the absolute ceiling is a fault of ours and not sent.
func (f *Writer) Write(head, payload []byte) error {
	n := len(head) + len(payload)
	if err := ourLength(n); err != nil {
		return err
	}
	f.buf = append(binary.BigEndian.AppendUint32(f.buf[:0], uint32(n)), head...)
	if n <= copyBelow || len(payload) == 0 {
		f.buf = append(f.buf, payload...)
		return f.flush(f.buf)
	}
	f.vec = [2][]byte{f.buf, payload}
	f.bufs = f.vec[:]
	_, err := f.bufs.WriteTo(f.dst)
	f.vec = [2][]byte{}
	f.trim()
	return err
}

// Encode appends one envelope to dst.
type Encode = func(dst []byte) ([]byte, error)

// WriteWith sends what each of encode appends as an envelope, all with one write.
func (f *Writer) WriteWith(encode ...Encode) error {
	b, err := f.encode(encode...)
	if err != nil {
		return err
	}
	return f.flush(b)
}

// WriteNow is WriteWith for one envelope and a caller that must not wait: what dst does not take at once is returned for
// Finish, which must follow before any other call. dst is a net.Conn's RawConn.
func (f *Writer) WriteNow(dst syscall.RawConn, encode Encode) (rest []byte, err error) {
	if f.rest, err = f.encode(encode); err != nil {
		return nil, err
	}
	if f.step == nil {
		f.step = f.once
	}
	if err = dst.Write(f.step); err == nil {
		err = f.failed
	}
	rest, f.rest, f.failed = f.rest, nil, nil
	if err != nil || len(rest) == 0 {
		f.trim()
		return nil, err
	}
	return rest, nil
}

// once writes what it can of rest.
func (f *Writer) once(fd uintptr) bool {
	n, err := descriptor.Write(int(fd), f.rest)
	switch {
	case err == nil:
		f.rest = f.rest[n:]
	case err != unix.EAGAIN:
		f.failed = err
	}
	return true
}

// Finish writes what WriteNow left, and waits for that.
func (f *Writer) Finish(rest []byte) error { return f.flush(rest) }

func (f *Writer) encode(encode ...Encode) ([]byte, error) {
	b := f.buf[:0]
	for _, appendTo := range encode {
		at := len(b)
		b = append(b, make([]byte, HeaderBytes)...)
		var err error
		if b, err = appendTo(b); err != nil {
			return nil, err
		}
		f.buf = b
		n := len(b) - at - HeaderBytes
		if err := ourLength(n); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint32(b[at:], uint32(n))
	}
	return b, nil
}

func (f *Writer) flush(b []byte) error {
	_, err := f.dst.Write(b)
	f.trim()
	return err
}

// trim gives back a buffer that one large envelope made.
func (f *Writer) trim() {
	if cap(f.buf) > keptBytes+readAhead {
		f.buf = nil
	}
}

func ourLength(n int) error {
	if n == 0 || n > protocol.MaxEnvelopeBytes {
		return fault.New(fault.Internal, "an envelope of %d bytes was to be sent; 1 to %d may be", n, protocol.MaxEnvelopeBytes)
	}
	return nil
}
