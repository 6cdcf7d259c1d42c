package daemon

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// BenchmarkEventsOfAThousandSessions is one event in one of a thousand sessions, told to clients that watch all: what it
// costs until each has it, and what is kept.
func BenchmarkEventsOfAThousandSessions(b *testing.B) {
	for _, watchers := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			const sessions = 1000
			ps := &programs{}
			d := New(Options{Programs: ps, Version: "bench"})
			for range sessions {
				_, err := d.create(protocol.Create{Command: domain.Command{Argv: []string{"prog"}}})
				require.NoError(b, err)
			}
			var wg sync.WaitGroup
			var told, gaps atomic.Int64
			pipes := make([]*pipe, watchers)
			for i := range pipes {
				p := newPipe()
				pipes[i] = p
				wg.Go(func() { _ = d.Serve(context.Background(), p) })
				p.toServer <- &protocol.Watch{Events: &protocol.WatchEvents{Live: true, Types: domain.EventSet(0).With(domain.EventBell)}}
				<-p.toClient
				wg.Go(func() {
					for {
						select {
						case m := <-p.toClient:
							e := m.(*protocol.WatchedEvents)
							told.Add(int64(len(e.Events)))
							if e.Gap != (protocol.EventGap{}) {
								gaps.Add(1)
							}
						case <-p.closed:
							return
						}
					}
				})
			}
			all := d.all()
			n := 0
			for b.Loop() {
				all[n%sessions].apply([]byte("\a"))
				n++
			}
			for told.Load() < int64(n*watchers) && gaps.Load() == 0 {
				runtime.Gosched()
			}
			b.StopTimer()
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
			b.ReportMetric(float64(d.bus.Stats().Bytes)/(1<<20), "kept-MB")
			b.ReportMetric(float64(gaps.Load()), "gaps")
			for _, p := range pipes {
				p.Close()
			}
			d.Close(context.Background())
			wg.Wait()
		})
	}
}
