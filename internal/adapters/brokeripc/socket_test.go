package brokeripc

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// The same rules hold on a real socket, whose writes and reads take other ways: many streams,
// both directions, frames of all sizes, each byte once and in order.
func TestStreamsOnASocket(t *testing.T) {
	a, b := sockets(t)
	c, s := connect(t, a, b)
	defer part(c, s)
	const streams, each = 12, 3 << 20
	var all sync.WaitGroup
	transfer := func(seed uint64, from, to ports.Stream) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for offset := 0; offset < each; {
				p := make([]byte, min(each-offset, 1+rng.IntN(1<<rng.IntN(19))))
				for i := range p {
					p[i] = at(offset + i)
				}
				n, err := from.Write(p)
				assert.NoError(t, err)
				if err != nil {
					return
				}
				offset += n
			}
		})
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 2))
			for offset := 0; offset < each; {
				p := make([]byte, 1+rng.IntN(1<<rng.IntN(18)))
				n, err := to.Read(p)
				if !assert.NoError(t, err) {
					return
				}
				for i, v := range p[:n] {
					if v != at(offset+i) {
						t.Errorf("byte %d is %d, must be %d", offset+i, v, at(offset+i))
						return
					}
				}
				offset += n
			}
		})
	}
	var opened []ports.Stream
	for i := range uint64(streams) {
		cs, ss := open(t, c, s)
		opened = append(opened, cs)
		transfer(2*i, cs, ss)
		transfer(2*i+1, ss, cs)
	}
	all.Wait()
	for _, st := range opened {
		require.NoError(t, st.Close())
	}
}

// Whatever is put in front of a head, head and payload stay together.
func TestTakeLate(t *testing.T) {
	scope := protocol.Scope{BrokerEpoch: 1}
	c := newConn(nopCarriage{}, nil, scope, brokerwire.ServerRefs(scope, false), limits{window: 1 << 20, chunk: 64 << 10, parked: 1 << 20})
	for _, early := range []int{0, 10, keptBuffer, sharedBuffer - 100} {
		for _, late := range []int{1, 100, keptBuffer + 1, sharedBuffer} {
			c.out.buf = bytes.Repeat([]byte("e"), early)
			c.out.head = early
			c.out.buf = append(c.out.buf, "head"...)
			c.writing.unsent = bytes.Repeat([]byte("l"), late)
			c.takeLate()
			require.Equal(t, early+late, c.out.head)
			require.Equal(t, string(bytes.Repeat([]byte("e"), early))+string(bytes.Repeat([]byte("l"), late))+"head", string(c.out.buf))
			require.Empty(t, c.writing.unsent)
			c.out.buf = giveBack(c.out.buf)
		}
	}
}

// A frame that goes with a descriptor is not taken along: its descriptor would not come.
func TestTakeLateLeavesDescriptors(t *testing.T) {
	c := newConn(nopCarriage{}, nil, protocol.Scope{}, nil, limits{})
	c.out.buf = []byte("head")
	c.writing.unsent, c.writing.handing = []byte("opened"), []int{none}
	c.takeLate()
	require.Equal(t, "head", string(c.out.buf))
	require.Equal(t, "opened", string(c.writing.unsent))
}

// What was sent together with descriptors is out: nothing can go before it any more.
func TestSendHandingNotesWhatIsOut(t *testing.T) {
	a, b := sockets(t)
	c := newConn(a, nil, protocol.Scope{}, nil, limits{})
	c.out.buf, c.out.head = []byte("opened and head"), len("opened and ")
	dup, err := duplicate(a)
	require.NoError(t, err)
	c.out.hand = []int{dup}
	require.NoError(t, c.sendHanding())
	require.Empty(t, c.out.buf)
	require.Equal(t, begun, c.out.head)
	got, err := io.ReadAtLeast(b, make([]byte, 100), len("opened and head"))
	require.NoError(t, err)
	require.Equal(t, len("opened and head"), got)
}

type nopCarriage struct{ io.ReadWriteCloser }
