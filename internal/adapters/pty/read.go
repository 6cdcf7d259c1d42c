package pty

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/descriptor"
)

// reader reads the master. One read of it returns at most 4,095 bytes on Linux however much
// is there, so while they come that full and the caller's buffer has room, more is taken in the
// same call. The caller chooses by the size of its buffer: one that parses in place is fastest
// with 4 KiB, which stays in the cache; one that hands over to another goroutine gains from 16 to
// 32 KiB, an eighth of the hand-overs (BenchmarkOutput).
type reader struct {
	raw   syscall.RawConn
	reads descriptor.Reads
	step  func(fd uintptr) bool // one closure for all calls; it works on the fields below

	// Owned by the goroutine in read.
	buf []byte
	n   int
	err error
}

const (
	// fullRead is the size from which one read hints at more waiting behind it. A smaller one
	// is an echo or the end of a burst: looking again would only cost a system call.
	fullRead = 2048
	// maxRead bounds one call, so that a flood leaves the caller's loop its turns.
	maxRead = 32 << 10
)

func (r *reader) init(raw syscall.RawConn) {
	r.raw = raw
	r.step = func(fd uintptr) bool { return r.take(int(fd)) }
}

func (r *reader) read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.buf, r.n, r.err = b[:min(len(b), maxRead)], 0, nil
	err := r.raw.Read(r.step)
	r.buf = nil
	if err != nil {
		return 0, os.ErrClosed // the one error that is not the step's own; it comes unnamed
	}
	return r.n, r.err
}

// take reads until nothing is ready. It reports false when the poller must wait for more.
func (r *reader) take(fd int) bool {
	for {
		n, err := r.reads.Read(fd, r.buf[r.n:])
		switch {
		case r.n > 0 && (err != nil || n == 0):
			return true // what was read first is given first; the rest shows again next time
		case err == unix.EAGAIN:
			return false
		case err != nil:
			r.err = err
			return true
		case n == 0:
			r.err = io.EOF
			return true
		}
		r.n += n
		if n < fullRead || r.n == len(r.buf) {
			return true
		}
	}
}
