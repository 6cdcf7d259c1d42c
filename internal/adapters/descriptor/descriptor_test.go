package descriptor

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// sockets is a connected pair.
func sockets(t *testing.T) (near, far *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	var conns []*net.UnixConn
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		conn, err := net.FileConn(f)
		require.NoError(t, err)
		f.Close()
		t.Cleanup(func() { conn.Close() })
		conns = append(conns, conn.(*net.UnixConn))
	}
	return conns[0], conns[1]
}

// pipe is a pair whose reading end the poller knows.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestAllArrives(t *testing.T) {
	near, far := sockets(t)
	bulkNear, bulkFar := sockets(t)
	r, w := pipe(t)
	for _, c := range []struct {
		name string
		from io.Reader
		to   io.Writer
		shut func() error
	}{
		{"socket", Of(far), Of(near), near.CloseWrite},
		{"bulk", OfBulk(bulkFar), Of(bulkNear), bulkNear.CloseWrite},
		{"file", OfFile(r), OfFile(w), w.Close},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := make([]byte, 4<<20)
			rng := rand.NewChaCha8([32]byte{2})
			rng.Read(want)
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				defer c.shut()
				for rest := want; len(rest) > 0; {
					n := min(len(rest), 1+int(rng.Uint64()%(3*maxBrief)))
					m, err := c.to.Write(rest[:n])
					if err != nil || m != n {
						t.Errorf("wrote %d of %d: %v", m, n, err)
						return
					}
					rest = rest[n:]
				}
			})
			var got []byte
			buf := make([]byte, 64<<10)
			for {
				n, err := c.from.Read(buf[:1+rand.IntN(len(buf))])
				got = append(got, buf[:n]...)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				require.Positive(t, n)
			}
			require.True(t, bytes.Equal(want, got), "bytes were lost, doubled or moved")
		})
	}
}

// Two writers at once do not cut each other's pieces, however little is taken of each at once.
func TestWritesStayWhole(t *testing.T) {
	near, far := sockets(t)
	to := Of(near)
	var wg sync.WaitGroup
	defer wg.Wait()
	const pieces, size = 400, 3000
	for _, b := range []byte{'a', 'b'} {
		wg.Go(func() {
			for range pieces {
				if _, err := to.Write(bytes.Repeat([]byte{b}, size)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	piece := make([]byte, size)
	for range 2 * pieces {
		_, err := io.ReadFull(far, piece)
		require.NoError(t, err)
		require.Equal(t, size, bytes.Count(piece, piece[:1]), "a piece within another")
	}
}

func TestEnds(t *testing.T) {
	near, far := sockets(t)
	in, b := Of(near), make([]byte, 10)

	require.NoError(t, near.SetReadDeadline(time.Unix(1, 0)))
	_, err := in.Read(b)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, near.SetReadDeadline(time.Time{}))

	require.NoError(t, near.SetWriteDeadline(time.Unix(1, 0)))
	_, err = in.Write(b)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, near.SetWriteDeadline(time.Time{}))

	n, err := in.Read(nil)
	require.Zero(t, n)
	require.NoError(t, err, "nothing asked, nothing waited for")

	require.NoError(t, far.Close())
	_, err = in.Read(b)
	require.Equal(t, io.EOF, err)
	_, err = in.Write(b)
	require.ErrorIs(t, err, syscall.EPIPE)

	require.NoError(t, near.Close())
	_, err = in.Read(b)
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = in.Write(b)
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestCloseEndsWaiting(t *testing.T) {
	r, w := pipe(t)
	from, to := OfFile(r), OfFile(w)
	ended := make(chan error, 2)
	go func() {
		for {
			if _, err := to.Write(make([]byte, maxBrief)); err != nil {
				ended <- err // the pipe is full by now, or soon
				return
			}
		}
	}()
	quiet, _ := pipe(t)
	go func() { _, err := OfFile(quiet).Read(make([]byte, 1)); ended <- err }()
	_, err := from.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, quiet.Close())
	for range 2 {
		require.ErrorIs(t, <-ended, os.ErrClosed)
	}
}

func TestOtherCarriagesAreLeftAlone(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	require.Equal(t, io.ReadWriter(a), Of(a))
}

// Who never waits, or reads much, is not brief for long.
func TestReadsAreBriefWhileLittleComes(t *testing.T) {
	var fds [2]int
	require.NoError(t, unix.Pipe(fds[:]))
	require.NoError(t, unix.SetNonblock(fds[0], true))
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	put := func(n int) {
		m, err := Write(fds[1], make([]byte, n))
		require.NoError(t, err)
		require.Equal(t, n, m)
	}
	var r Reads
	b := make([]byte, 3*maxBrief)
	get := func(n int) {
		m, err := r.Read(fds[0], b)
		require.NoError(t, err)
		require.Equal(t, n, m)
	}
	drained := func() {
		n, err := r.Read(fds[0], b)
		require.True(t, errors.Is(err, unix.EAGAIN))
		require.Zero(t, n)
	}

	put(len(b))
	get(maxBrief)
	get(2 * maxBrief) // as much as there is: one brief read has been full
	put(len(b))
	get(len(b))
	drained() // it waits now, and what comes then may be a key
	put(len(b))
	get(maxBrief)
	get(2 * maxBrief)
	drained()

	for range maxRow {
		put(1)
		get(1)
	}
	put(len(b))
	get(len(b))
}

// bulkPair is two non-blocking ends of a socket that holds several frames.
func bulkPair(t *testing.T) (near, far int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		t.Cleanup(func() { unix.Close(fd) })
		require.NoError(t, unix.SetNonblock(fd, true))
		require.NoError(t, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4*maxBulk))
		require.NoError(t, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4*maxBulk))
	}
	return fds[0], fds[1]
}

// Of bulk that never lets its reader wait, the monitor sees one read of each row.
func TestReadsOfBulkAreBrief(t *testing.T) {
	near, far := bulkPair(t)
	r := Reads{bulk: true}
	b := make([]byte, maxBulk+100)
	get := func(put, want int) {
		t.Helper()
		if put > 0 {
			m, err := Write(near, b[:put])
			require.NoError(t, err)
			require.Equal(t, put, m)
		}
		n, err := r.Read(far, b)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	drained := func() {
		t.Helper()
		_, err := r.Read(far, b)
		require.ErrorIs(t, err, unix.EAGAIN)
	}
	get(len(b), maxBulk)
	get(0, 100)
	drained()
	for range 2 {
		for range maxBulkRow - 2 {
			get(1, 1)
		}
		get(len(b), maxBulk)
		get(0, 100)
		get(len(b), len(b)) // not brief
	}
	get(1, 1)
	drained()
	for range maxBulkRow - 1 {
		get(1, 1)
	}
	get(len(b), maxBulk) // the row began anew
}

func TestWritesOfBulk(t *testing.T) {
	near, far := bulkPair(t)
	var w Writes
	head, payload, got := bytes.Repeat([]byte("h"), 16), bytes.Repeat([]byte("p"), 100), make([]byte, maxBulk)
	whole := append(bytes.Clone(head), payload...)
	for i := range 2 * (maxBulkRow + 1) {
		require.Equal(t, i%(maxBulkRow+1), w.row)
		n, err := w.Writev(near, [][]byte{head, payload})
		require.NoError(t, err)
		require.Equal(t, len(whole), n)
		n, err = unix.Read(far, got)
		require.NoError(t, err)
		require.Equal(t, whole, got[:n])
	}
	require.Zero(t, w.row)

	sent, err := 0, error(nil)
	for n := 0; err == nil; sent += n {
		n, err = w.Writev(near, [][]byte{bytes.Repeat([]byte("p"), 64<<10)})
	}
	require.ErrorIs(t, err, unix.EAGAIN)
	require.Zero(t, w.row, "it waits now")
	for sent > 0 {
		n, err := unix.Read(far, got)
		require.NoError(t, err)
		sent -= n
	}
	require.Zero(t, sent)
}

func TestReadable(t *testing.T) {
	near, far := bulkPair(t)
	require.False(t, Readable(far))
	_, err := Write(near, []byte("x"))
	require.NoError(t, err)
	require.True(t, Readable(far))
	require.False(t, Readable(near))
}

// What is asked of OfBulk comes at once, and of Of in brief pieces.
func TestOfBulkReadsMoreAtOnce(t *testing.T) {
	for most, of := range map[int]func(io.ReadWriter) io.ReadWriter{maxBrief: Of, 3 * maxBrief: OfBulk} {
		near, far := sockets(t)
		_, err := far.Write(make([]byte, 3*maxBrief))
		require.NoError(t, err)
		n, err := of(near).Read(make([]byte, 3*maxBrief))
		require.NoError(t, err)
		require.Equal(t, most, n)
	}
}
