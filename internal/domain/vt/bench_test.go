package vt

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/vev-term/vev/internal/testkit/vtload"
)

// root is the checkout, seen from this package.
const root = "../../.."

// cpuTime is what this process has had: other programs on the machine do not count.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWrite is the engine alone; its targets are beside the results, and no allocation. On a machine with other
// work cpu-MB/s, by time of the processor, says more than MB/s. What a machine makes of it, test/bench/vt takes out.
func BenchmarkWrite(b *testing.B) {
	for _, w := range vtload.Loads(root) {
		b.Run(w.Name, func(b *testing.B) {
			data := w.Bytes
			if data == nil {
				b.Skip("../shared/vt-corpus is not beside the checkout")
			}
			tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 10000})
			write := func() {
				for p := data; len(p) > 0; {
					n := min(len(p), vtload.Chunk)
					tm.Write(p[:n])
					p = p[n:]
				}
				tm.TakeReplies()
				tm.TakeEvents()
			}
			write()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime(b)
			for range b.N {
				write()
			}
			b.ReportMetric(float64(len(data))*float64(b.N)/1e6/(cpuTime(b)-start).Seconds(), "cpu-MB/s")
			if w.Must > 0 {
				b.ReportMetric(w.Must, "must-MB/s")
			}
		})
	}
}

// BenchmarkMemory is what a cell and a line of history take: no time is measured.
func BenchmarkMemory(b *testing.B) {
	b.Run("cell", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(float64(unsafe.Sizeof(Cell{})), "B/cell")
		b.ReportMetric(16, "must-B/cell")
	})
	in := map[string][]byte{}
	for _, w := range vtload.Loads(root) {
		in[w.Name] = w.Bytes
	}
	for _, h := range []struct {
		name string
		must float64 // MB for 10,000 lines of 80 columns
	}{{"ascii", 1}, {"colorlog", 2.5}} {
		b.Run("history/"+h.name, func(b *testing.B) {
			tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 10000})
			for tm.ScreenTop() < 12000 {
				tm.Write(in[h.name])
			}
			for b.Loop() {
			}
			used := float64(tm.HistoryBytesUsed())
			b.ReportMetric(used/1e6, "MB/10klines")
			b.ReportMetric(h.must, "must-MB/10klines")
			b.ReportMetric(used/1e4, "B/line")
		})
	}
}
