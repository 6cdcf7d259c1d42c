package brokeripc

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// beside has a Read of bulk served while a Read of keys waits, and returns a function that reads the next bulk frame.
func beside(t *testing.T, run func(p *scripted, bulk, keys *Stream, next func(), key *sync.WaitGroup)) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<20)
		p.send(&protocol.OpenStream{Ref: p.ref(1)})
		p.send(&protocol.OpenStream{Ref: p.ref(2)})
		bulk, keys := accept(t, s), accept(t, s)
		p.send(&protocol.StreamData{Ref: p.ref(1), Data: []byte("x")})
		_, err := bulk.Read(make([]byte, 1)) // the keeper is out of the way
		require.NoError(t, err)
		synctest.Wait()
		frame := make([]byte, copyBelow+1)
		next := func() {
			var read sync.WaitGroup
			read.Go(func() {
				_, err := io.ReadFull(bulk, make([]byte, len(frame)))
				require.NoError(t, err)
			})
			synctest.Wait()
			p.send(&protocol.StreamData{Ref: p.ref(1), Data: frame})
			read.Wait()
			synctest.Wait()
		}
		next()
		_, leader := s.conn.turn()
		require.Nil(t, leader)
		var key sync.WaitGroup
		key.Go(func() {
			_, err := keys.Read(make([]byte, 1))
			require.NoError(t, err)
		})
		synctest.Wait()
		run(p, bulk.(*Stream), keys.(*Stream), next, &key)
		p.rw.Close()
		<-s.Done()
	})
}

// trust is how much s is doubted, and for whose Read the turn is kept.
func (s *Stream) trust() (doubt int, kept *Stream) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.doubt, s.conn.reading.kept
}

func (p *scripted) key() { p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("k")}) }

// The turn waits for a Read of bulk to come back, which then reads for the others, too.
func TestTheTurnIsKeptForAReadOfBulk(t *testing.T) {
	beside(t, func(p *scripted, bulk, keys *Stream, next func(), key *sync.WaitGroup) {
		taken, _ := bulk.conn.turn()
		require.False(t, taken, "it is not the other Read's")
		start := time.Now()
		p.key()
		next()
		key.Wait()
		require.Zero(t, time.Since(start))
		doubt, kept := bulk.trust()
		require.Zero(t, doubt)
		require.Same(t, bulk, kept)
	})
}

// A Read that does not come back delays the others for keepTurn, and is doubted then.
func TestATurnIsNotKeptForLong(t *testing.T) {
	beside(t, func(p *scripted, bulk, keys *Stream, next func(), key *sync.WaitGroup) {
		start := time.Now()
		p.key()
		key.Wait()
		require.Equal(t, keepTurn, time.Since(start))
		doubt, _ := bulk.trust()
		require.Equal(t, leastDoubt, doubt)
		next()
		doubt, kept := bulk.trust()
		require.Nil(t, kept)
		require.Equal(t, leastDoubt-1, doubt)
	})
}

// Who comes back, but not promptly, is doubted too.
func TestPromptly(t *testing.T) {
	for late, doubt := range map[time.Duration]int{0: 0, 1: leastDoubt - 1} { // one frame less: the one that it came for
		beside(t, func(p *scripted, bulk, keys *Stream, next func(), key *sync.WaitGroup) {
			time.Sleep(promptly + late)
			next()
			got, _ := bulk.trust()
			require.Equal(t, doubt, got)
			p.key()
			next()
			key.Wait()
		})
	}
}

// The end of the stream for whose Read a turn is kept gives it to the others at once.
func TestAKeptTurnEndsWithTheStream(t *testing.T) {
	beside(t, func(p *scripted, bulk, keys *Stream, next func(), key *sync.WaitGroup) {
		start := time.Now()
		require.NoError(t, bulk.Close())
		p.key()
		key.Wait()
		require.Zero(t, time.Since(start))
	})
}

// Doubt lasts for leastDoubt frames, twice as many each time, up to mostDoubt.
func TestDoubt(t *testing.T) {
	c := &conn{}
	s := &Stream{live: true}
	for want := leastDoubt; ; want *= 2 {
		s.doubted()
		require.Equal(t, min(want, mostDoubt), s.doubt)
		for range s.doubt {
			c.keepFor(s, copyBelow+1, time.Time{})
			require.Nil(t, c.reading.kept)
		}
		c.keepFor(s, copyBelow, time.Time{})
		require.Nil(t, c.reading.kept, "a small frame is not bulk")
		c.keepFor(s, copyBelow+1, time.Time{})
		require.Same(t, s, c.reading.kept)
		c.reading.kept = nil
		if want > mostDoubt {
			return
		}
	}
}

// Before a bulk frame that has small ones beside it, who reads is sent to what has come; not if nothing has.
func TestLookUp(t *testing.T) {
	a, b := sockets(t)
	c := newConn(a, nil, protocol.Scope{}, nil, limits{})
	require.True(t, c.out.socket)
	c.reading.taken = true // somebody reads
	look := func() bool {
		require.NoError(t, c.out.raw.Control(func(fd uintptr) { c.lookUp(int(fd)) }))
		return c.reading.interrupted
	}
	require.False(t, look())
	_, err := b.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, c.out.raw.Control(func(fd uintptr) {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		require.NoError(t, err)
	}))
	require.True(t, look())
}
