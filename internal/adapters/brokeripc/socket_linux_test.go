package brokeripc

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/protocol"
)

// A bulk frame that the socket does not take yet is passed by what comes meanwhile.
func TestABulkFrameThatWaitsIsPassed(t *testing.T) {
	a, b := sockets(t)
	p, s := script(t, a, b)
	for id := protocol.StreamID(1); id <= 3; id++ {
		p.send(&protocol.OpenStream{Ref: p.ref(id)})
	}
	bulk, keys, ends := accept(t, s), accept(t, s), accept(t, s)
	for range 3 {
		wants[*protocol.StreamOpened](p, "granted")
	}
	var writes sync.WaitGroup
	writes.Go(func() {
		for range 20 {
			bulk.Write(make([]byte, 64<<10))
		}
	})
	var begun uint64 // frames, the last of which waits for the socket
	for now := uint64(1); now != begun; {
		begun = now
		time.Sleep(100 * time.Millisecond)
		now = s.Numbers().FramesOut
	}
	_, err := keys.Write([]byte("key"))
	require.NoError(t, err)
	require.NoError(t, ends.Close())
	var order []protocol.StreamID
	for len(order) < 22 {
		switch m := p.receive().(type) {
		case *protocol.StreamData:
			order = append(order, m.Ref.ID)
		case *protocol.StreamClosed:
			order = append(order, m.Ref.ID)
		}
	}
	want := append(slices.Repeat([]protocol.StreamID{1}, int(begun)-1), 2, 3, 1)
	require.Equal(t, want, order[:len(want)])
	writes.Wait()
	p.rw.Close()
	<-s.Done()
}
