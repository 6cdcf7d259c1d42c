package brokeripc

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// shortTalk is a whole conversation over a and b, each step of which may fail: preamble,
// registration, two streams, data both ways, stats, goodbye. It returns when nothing of it
// runs any more, and says whether it came through.
func shortTalk(t *testing.T, a, b io.ReadWriteCloser) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { serveShortTalk(ctx, b) })
	c, err := Dial(ctx, a, "vev")
	if err != nil {
		return false
	}
	defer func() { <-c.Done() }()
	defer c.Close()
	s1, err1 := c.OpenStream(ctx, "", protocol.StartIfNeeded, nil)
	s2, err2 := c.OpenStream(ctx, "", protocol.StartIfNeeded, nil)
	if err1 != nil || err2 != nil {
		return false
	}
	all.Go(func() { io.Copy(io.Discard, s2) })
	all.Go(func() { s2.Write(make([]byte, 700)) })
	p := make([]byte, 300)
	_, err1 = s1.Write(p)
	_, err2 = io.ReadFull(s1, p)
	_, err3 := c.Stats(ctx)
	s1.Close()
	s2.Close()
	return err1 == nil && err2 == nil && err3 == nil
}

func serveShortTalk(ctx context.Context, b io.ReadWriteCloser) {
	s, err := Accept(ctx, b, testBroker())
	if err != nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		r, err := s.Accept(ctx)
		if err != nil {
			break
		}
		st, err := r.Open()
		if err != nil {
			continue
		}
		all.Go(func() {
			io.Copy(st, st)
			st.Close()
		})
	}
	s.Close(protocol.Failure{Kind: fault.Canceled, Text: "done"})
	<-s.Done()
}

// counted counts what is written.
type counted struct {
	io.ReadWriteCloser
	n *int
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Write(p)
	*c.n += n
	return n, err
}

// Cut after each byte that either end writes: everybody who waits is released, nothing is left
// running (a goroutine of the bubble that stays fails the test), and nothing takes as long
// as a timeout.
func TestCutAfterEveryByte(t *testing.T) {
	for name, plain := range map[string]bool{"deadlines": false, "none": true} {
		wrap := func(e *simnet.End) io.ReadWriteCloser {
			if plain {
				return simnet.Plain(e)
			}
			return e
		}
		t.Run(name, func(t *testing.T) {
			var written [2]int
			bubble.Test(t, func(t *testing.T) {
				a, b := simnet.Pipe(512)
				require.True(t, shortTalk(t, counted{wrap(a), &written[0]}, counted{wrap(b), &written[1]}))
			})
			for end, n := range written {
				require.Greater(t, n, 500)
				for k := range n + 10 {
					bubble.Test(t, func(t *testing.T) {
						a, b := simnet.Pipe(512)
						[]*simnet.End{a, b}[end].CutAfter(k)
						start := time.Now()
						shortTalk(t, wrap(a), wrap(b))
						require.Less(t, time.Since(start), 2*closeGrace, "end %d cut after %d bytes", end, k)
					})
				}
			}
		})
	}
}

// The same with a carriage that goes silent instead: the connection's owner gives up.
func TestStallAtEveryMessage(t *testing.T) {
	for after := time.Duration(0); after < 20*time.Millisecond; after += time.Millisecond {
		bubble.Test(t, func(t *testing.T) {
			a, b := simnet.Pipe(512)
			c, s := connect(t, a, b)
			cs, ss := open(t, c, s)
			var all sync.WaitGroup
			for _, st := range []io.ReadWriter{cs, ss} {
				all.Go(func() { io.Copy(io.Discard, st) })
				all.Go(func() {
					for {
						if _, err := st.Write(make([]byte, 100)); err != nil {
							return
						}
						time.Sleep(100 * time.Microsecond)
					}
				})
			}
			time.Sleep(after)
			a.Stall()
			b.Stall()
			time.Sleep(time.Minute)
			start := time.Now()
			all.Go(func() { c.Close() })
			all.Go(func() { s.Close(protocol.Failure{Text: "silence"}) })
			all.Wait()
			require.LessOrEqual(t, time.Since(start), closeGrace)
		})
	}
}
