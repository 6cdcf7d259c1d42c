package descriptor

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// maxBrief is what one brief call moves at most: a few microseconds' work for the kernel.
	maxBrief = 4 << 10
	// maxRow is how many brief reads in a row may find something: whoever never waits is seen by the monitor from then on.
	maxRow = 16
	// maxBulk is what one call moves at most where bulk is brief, too: a frame with its head, some ten microseconds' work.
	maxBulk = 68 << 10
	// maxBulkRow is maxRow there: the monitor takes a turn from nobody who has had it for less than ten milliseconds.
	maxBulkRow = 128
)

// Reads are the reads of one descriptor, which is non-blocking, by one goroutine.
type Reads struct {
	row  int  // that found something since one did not
	bulk bool // is brief, too, but for the read that ends a row
}

// Read is read(2), of fewer bytes than asked for where it is brief. EAGAIN is for the caller to wait.
func (r *Reads) Read(fd int, p []byte) (n int, err error) {
	most, row := maxBrief, maxRow
	if r.bulk {
		most, row = maxBulk, maxBulkRow
	}
	for {
		if r.row < row {
			n, err = briefRead(fd, p[:min(len(p), most)])
		} else {
			n, err = unix.Read(fd, p)
		}
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			r.row = 0
		case r.bulk && r.row == row:
			r.row = 0
		case !r.bulk && n >= maxBrief/2:
			r.row = maxRow // more of it may come
		default:
			r.row++
		}
		return max(n, 0), err
	}
}

// Writes are the writes of bulk to one descriptor, which is non-blocking, by one goroutine.
type Writes struct {
	row int // that were taken since one was not
}

// Writev is writev(2) of one or two pieces.
func (w *Writes) Writev(fd int, pieces [][]byte) (n int, err error) {
	for {
		if w.row < maxBulkRow {
			n, err = briefWritev(fd, pieces)
		} else {
			n, err = unix.Writev(fd, pieces)
		}
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN, w.row == maxBulkRow:
			w.row = 0
		default:
			w.row++
		}
		return max(n, 0), err
	}
}

// Readable reports whether a read would not have to wait.
func Readable(fd int) bool { return briefPoll(fd) }

// Write is write(2) of a non-blocking descriptor.
func Write(fd int, p []byte) (n int, err error) {
	for {
		if len(p) <= maxBrief {
			n, err = briefWrite(fd, p)
		} else {
			n, err = unix.Write(fd, p)
		}
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// Of returns a socket with brief reads and writes, anything else as it is. What closes the socket or sets its deadlines is
// called on the socket itself.
func Of(rw io.ReadWriter) io.ReadWriter {
	socket, ok := rw.(interface {
		net.Conn
		syscall.Conn
	})
	if !ok {
		return rw
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return rw // closed
	}
	return newFile(socket, raw)
}

// OfBulk is Of for a socket whose bulk is read briefly, too: in a row of such reads the last one is not.
func OfBulk(rw io.ReadWriter) io.ReadWriter {
	of := Of(rw)
	if f, ok := of.(*file); ok {
		f.reads.bulk = true
	}
	return of
}

// OfFile is Of for a file that the runtime's poller knows.
func OfFile(f *os.File) io.ReadWriter {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	return newFile(f, raw)
}

// file is what the poller waits for: a file or a socket.
type file struct {
	whole io.ReadWriter
	raw   syscall.RawConn

	reading sync.Mutex // a second reader waits, as it does at an os.File
	reads   Reads
	in      []byte
	got     int
	inErr   error
	read    func(fd uintptr) bool // made once; it works on the fields

	writing sync.Mutex
	out     []byte
	outErr  error
	write   func(fd uintptr) bool
}

func newFile(whole io.ReadWriter, raw syscall.RawConn) *file {
	f := &file{whole: whole, raw: raw}
	f.read, f.write = f.readOnce, f.writeOnce
	return f
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	f.in = p
	err := f.raw.Read(f.read)
	f.in = nil
	switch {
	case err != nil:
		return f.whole.Read(p) // closed, or too late: it says so in its own words
	case f.inErr != nil:
		return 0, os.NewSyscallError("read", f.inErr)
	case f.got == 0:
		return 0, io.EOF
	}
	return f.got, nil
}

func (f *file) readOnce(fd uintptr) bool {
	f.got, f.inErr = f.reads.Read(int(fd), f.in)
	return f.inErr != unix.EAGAIN
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if len(p) == 0 || len(p) > maxBrief {
		return f.whole.Write(p)
	}
	f.out = p
	err := f.raw.Write(f.write)
	left := f.out
	f.out = nil
	n := len(p) - len(left)
	switch {
	case err == nil && f.outErr != nil && f.outErr != unix.EAGAIN:
		return n, os.NewSyscallError("write", f.outErr)
	case len(left) > 0:
		m, err := f.whole.Write(left) // it waits, or says what is wrong
		return n + m, err
	}
	return n, nil
}

// writeOnce does not wait.
func (f *file) writeOnce(fd uintptr) bool {
	var n int
	n, f.outErr = Write(int(fd), f.out)
	f.out = f.out[n:]
	return true
}
