package bubble

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On more than one processor this crashes the race detector within some rounds.
func TestTimersOfOneBubbleAreDueAtOnce(t *testing.T) {
	for range 200 {
		Test(t, func(*testing.T) {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					const tick = time.Millisecond
					looked := time.NewTimer(tick)
					defer looked.Stop()
					for range 50 {
						time.Sleep(tick)
						select {
						case <-looked.C:
						default:
						}
						looked.Reset(tick)
						due := make(chan struct{})
						time.AfterFunc(tick, func() { close(due) })
						<-due
					}
				})
			}
			all.Wait()
		})
	}
}

func TestProcessorsComeBack(t *testing.T) {
	had := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(had)
	var p oneWhileUsed
	p.one()
	p.one()
	p.all()
	require.Equal(t, 1, runtime.GOMAXPROCS(0), "one bubble still runs")
	p.all()
	require.Equal(t, 3, runtime.GOMAXPROCS(0))
	p.one()
	p.all()
	require.Equal(t, 3, runtime.GOMAXPROCS(0))
}
