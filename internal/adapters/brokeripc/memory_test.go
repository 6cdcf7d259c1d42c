package brokeripc

import (
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxIdleLink is what an idle link may cost a broker, design target. Here both ends are counted.
const maxIdleLink = 200 << 10

// A link that was used, also for bulk, and is idle now costs little: no buffer of the flood's size is kept.
func TestMemoryOfIdleLinks(t *testing.T) {
	const links = 40
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := used()
	var ends []func()
	for range links {
		a, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		b, err := listener.Accept()
		require.NoError(t, err)
		c, s := connect(t, a, b)
		near, far := open(t, c, s)
		sent := make(chan error, 1)
		go func() {
			_, err := near.Write(make([]byte, 1<<20))
			sent <- err
		}()
		for n, p := 0, make([]byte, 64<<10); n < 1<<20; {
			m, err := far.Read(p)
			require.NoError(t, err)
			n += m
		}
		require.NoError(t, <-sent)
		require.NoError(t, near.Close())
		require.NoError(t, c.Probe(t.Context()))
		ends = append(ends, func() { part(c, s) })
	}
	each := (used() - before) / links
	t.Logf("%d bytes an idle link, both ends", each)
	require.Less(t, each, uint64(maxIdleLink))
	for _, end := range ends {
		end()
	}
}
