package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// benchInputs are the shapes of the targets in the design: the same seed gives the same bytes.
func benchInputs() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	in := map[string][]byte{}
	fill := func(name string, size int, add func(b *bytes.Buffer)) {
		var b bytes.Buffer
		for b.Len() < size {
			add(&b)
		}
		in[name] = b.Bytes()
	}
	const size = 1 << 20
	line := strings.Repeat("the quick brown fox jumps over a lazy dog; ", 2)[:79]
	fill("ascii", size, func(b *bytes.Buffer) { b.WriteString(line + "\r\n") })
	fill("scrolling", size, func(b *bytes.Buffer) { b.WriteString("y\r\n") })
	fill("colorlog", size, func(b *bytes.Buffer) {
		for range 12 {
			fmt.Fprintf(b, "\x1b[%dmword%d ", 31+rnd.IntN(6), rnd.IntN(10))
		}
		b.WriteString("\x1b[0m\r\n")
	})
	fill("truecolor", size, func(b *bytes.Buffer) {
		b.WriteString("\x1b[H")
		for i := range 80 * 24 {
			fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dmx", rnd.IntN(256), i%256, 7, 9, rnd.IntN(256), 200)
		}
	})
	fill("cjk", size, func(b *bytes.Buffer) {
		for range 38 {
			if rnd.IntN(10) == 0 {
				b.WriteString("😀")
			} else {
				b.WriteRune(rune(0x4e00 + rnd.IntN(5000)))
			}
		}
		b.WriteString("\r\n")
	})
	fill("narrow", size, func(b *bytes.Buffer) {
		b.WriteString("│ Съешь же ещё этих мягких булок ├────────┤ naïve café │\r\n")
	})
	fill("cursor", size, func(b *bytes.Buffer) {
		fmt.Fprintf(b, "\x1b[%d;%dHa", 1+rnd.IntN(24), 1+rnd.IntN(80))
	})
	// A recorded session; it is left out where the corpus is not beside the checkout.
	rec, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "vt-corpus", "alacritty", "vim_24bitcolors_bce", "input.vt"))
	if err == nil {
		in["vim"] = bytes.Repeat(rec, size/len(rec)+1)
	}
	return in
}

// writeChunk is the size of a Write in benchmarks.
const writeChunk = 16 << 10

// mustWrite are the design's targets in MB/s: 16 KiB writes, history on, one core.
var mustWrite = []struct {
	name string
	must float64 // 0: none is set
}{
	{"ascii", 250}, {"colorlog", 150}, {"truecolor", 300}, {"vim", 300}, {"scrolling", 40}, {"cjk", 100}, {"narrow", 0}, {"cursor", 350},
}

// cpuTime is what this process has had: other programs on the machine do not count.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWrite is the engine alone; its targets are beside the results, and no allocation. On a machine with other
// work cpu-MB/s, by time of the processor, says more than MB/s.
func BenchmarkWrite(b *testing.B) {
	in := benchInputs()
	for _, w := range mustWrite {
		b.Run(w.name, func(b *testing.B) {
			data := in[w.name]
			if data == nil {
				b.Skip("../shared/vt-corpus is not beside the checkout")
			}
			tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 10000})
			write := func() {
				for p := data; len(p) > 0; {
					n := min(len(p), writeChunk)
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
			if w.must > 0 {
				b.ReportMetric(w.must, "must-MB/s")
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
	in := benchInputs()
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
