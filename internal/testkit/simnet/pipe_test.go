package simnet

import (
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/bubble"
)

func TestPipeBuffersUpToItsLimit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := Pipe(4)
		done := false
		go func() {
			_, err := a.Write([]byte("hello"))
			require.NoError(t, err)
			done = true
			a.Close()
		}()
		synctest.Wait()
		require.False(t, done, "the fifth byte does not fit")
		got, err := io.ReadAll(b)
		require.NoError(t, err)
		require.Equal(t, "hello", string(got))
		_, err = b.Write([]byte("x"))
		require.ErrorIs(t, err, io.ErrClosedPipe)
	})
}

func TestCutEndsBothWays(t *testing.T) {
	a, b := Pipe(100)
	a.CutAfter(3)
	n, err := a.Write([]byte("hello"))
	require.Equal(t, 3, n)
	require.ErrorIs(t, err, ErrCut)
	_, err = a.Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrCut)
	_, err = b.Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrCut)
	_, err = b.Write([]byte("x"))
	require.ErrorIs(t, err, ErrCut)
}

func TestStallAndDeadline(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := Pipe(100)
		a.Stall()
		_, err := a.Write([]byte("x"))
		require.NoError(t, err)
		start := time.Now()
		require.NoError(t, b.SetReadDeadline(start.Add(time.Second)))
		_, err = b.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		require.NoError(t, b.SetReadDeadline(time.Time{}))
		a.Resume()
		n, err := b.Read(make([]byte, 1))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}
