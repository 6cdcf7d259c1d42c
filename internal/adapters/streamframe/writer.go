package streamframe

import (
	"encoding/binary"
	"io"
	"net"

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
	b := f.buf[:0]
	for _, appendTo := range encode {
		at := len(b)
		b = append(b, make([]byte, HeaderBytes)...)
		var err error
		if b, err = appendTo(b); err != nil {
			return err
		}
		f.buf = b
		n := len(b) - at - HeaderBytes
		if err := ourLength(n); err != nil {
			return err
		}
		binary.BigEndian.PutUint32(b[at:], uint32(n))
	}
	return f.flush(b)
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
