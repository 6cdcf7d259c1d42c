package pty

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
)

// A non-blocking master is said to lose ioctls, and wake-ups of its writer. This keeps both
// directions full, the reader slow at times, and every ioctl busy meanwhile.
func TestFullBothWaysUnderIoctls(t *testing.T) {
	const size = 2 << 20
	p, err := new(Programs).Start(sh("stty raw -echo; printf ready; exec cat"), domain.DefaultSize)
	require.NoError(t, err)
	defer p.Wait()
	defer p.Close()
	_, err = io.ReadFull(p, make([]byte, len("ready")))
	require.NoError(t, err)

	want := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(want)
	stop := make(chan struct{})
	var wg, ioctls sync.WaitGroup
	wg.Go(func() {
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+int(rng.Uint64()%70_000))
			if _, err := p.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	})
	ioctls.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := p.Resize(domain.Size{Cols: 20 + i%200, Rows: 10 + i%50}); err != nil {
				t.Errorf("resize %d: %v", i, err)
				return
			}
			if p.Foreground().Pid != p.Pid() {
				t.Errorf("foreground %d is lost", i)
				return
			}
		}
	})
	got := make([]byte, 0, size)
	buf := make([]byte, 32<<10)
	for len(got) < size {
		// Small reads now and then leave the terminal full, so that its writer must wait.
		n, err := p.Read(buf[:1+rand.IntN(len(buf))])
		require.NoError(t, err)
		got = append(got, buf[:n]...)
	}
	wg.Wait()
	close(stop)
	ioctls.Wait()
	require.True(t, bytes.Equal(want, got), "bytes were lost or doubled")

	require.NoError(t, p.Resize(domain.Size{Cols: 77, Rows: 33}))
	require.NoError(t, p.(*program).ioctl(func(fd int) error {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		require.Equal(t, "77 33", fmt.Sprint(ws.Col, ws.Row))
		return err
	}))
}

func TestReadTakesWhatIsReady(t *testing.T) {
	p, err := new(Programs).Start(sh("stty raw; head -c 12000 /dev/zero; sleep 1000"), domain.DefaultSize)
	require.NoError(t, err)
	defer p.Wait()
	defer p.Close()
	total := 0
	buf := make([]byte, 2*maxRead)
	for total < 12000 {
		n, err := p.Read(buf)
		require.NoError(t, err)
		require.LessOrEqual(t, n, maxRead)
		total += n
	}
	require.Equal(t, 12000, total)
	n, err := p.Read(nil)
	require.Zero(t, n)
	require.NoError(t, err, "nothing asked, nothing waited for")
}
