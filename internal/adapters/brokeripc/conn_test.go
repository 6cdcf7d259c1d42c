package brokeripc

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

func randomBytes(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 9))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// carriages are the kinds of pipe every talk must work over.
func carriages(t *testing.T, run func(t *testing.T, a, b io.ReadWriteCloser)) {
	for name, make := range map[string]func() (io.ReadWriteCloser, io.ReadWriteCloser){
		"64 bytes": func() (io.ReadWriteCloser, io.ReadWriteCloser) { a, b := simnet.Pipe(64); return a, b },
		"256 KiB":  func() (io.ReadWriteCloser, io.ReadWriteCloser) { a, b := simnet.Pipe(256 << 10); return a, b },
		"deadlines": func() (io.ReadWriteCloser, io.ReadWriteCloser) {
			a, b := simnet.Pipe(4 << 10)
			return simnet.Plain(a), simnet.Plain(b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				a, b := make()
				run(t, a, b)
			})
		})
	}
}

func TestBytesArriveOnceAndInOrder(t *testing.T) {
	carriages(t, func(t *testing.T, a, b io.ReadWriteCloser) {
		c, s := connect(t, a, b)
		defer part(c, s)
		cs, ss := open(t, c, s)
		want := randomBytes(300<<10, 1)
		go func() {
			rng := rand.New(rand.NewPCG(1, 2))
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rng.IntN(1<<rng.IntN(18)))
				_, err := cs.Write(rest[:n])
				if err != nil {
					t.Error(err)
					return
				}
				rest = rest[n:]
			}
			cs.Close()
		}()
		got, err := io.ReadAll(ss)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%d bytes of %d", len(got), len(want))
		n, err := c.Stats(context.Background())
		require.NoError(t, err)
		require.Equal(t, 42, n.Pid)
		require.Zero(t, s.Numbers().ParkedBytes)
	})
}

func TestEcho(t *testing.T) {
	carriages(t, func(t *testing.T, a, b io.ReadWriteCloser) {
		c, s := connect(t, a, b)
		defer part(c, s)
		cs, ss := open(t, c, s)
		go func() {
			io.Copy(ss, ss)
			ss.Close()
		}()
		p := make([]byte, 64)
		for i := range 1000 {
			p[0] = byte(i)
			_, err := cs.Write(p)
			require.NoError(t, err)
			_, err = io.ReadFull(cs, p)
			require.NoError(t, err)
			require.Equal(t, byte(i), p[0])
		}
		cs.Close()
	})
}
