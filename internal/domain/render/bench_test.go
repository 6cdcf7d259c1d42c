package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vev-term/vev/internal/domain/vt"
)

func BenchmarkPaint(b *testing.B) {
	screen := func(t *vt.Terminal, i int) {
		t.Write([]byte("\x1b[H"))
		for y := range 24 {
			for x := range 10 {
				t.Write([]byte{0x1b, '[', '3', byte('0' + (x+y+i)%8), 'm', 'w', 'o', 'r', byte('a' + (x*y+i)%26), 'e', 's', 't', ' '})
			}
			if y < 23 {
				t.Write([]byte("\r\n"))
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *vt.Terminal, i int)
	}{
		{"unchanged", func(*vt.Terminal, int) {}},
		{"onecell", func(t *vt.Terminal, i int) { t.Write([]byte{'\r', byte('a' + i%26)}) }},
		{"oneline", func(t *vt.Terminal, i int) { t.Write([]byte("\r\nanother line of text, and more of it")) }},
		{"flood", screen},
	} {
		for target, name := range map[Target]string{Canonical: "canonical", UserTerminal: "user"} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				t := vt.New(vt.Options{Cols: 80, Rows: 24})
				screen(t, 0)
				var f Frame
				p := NewPainter(target, Capabilities{})
				f.SetTerminal(t)
				buf := p.Paint(nil, &f)
				bytes, i := 0, 0
				b.ReportAllocs()
				for b.Loop() {
					i++
					c.change(t, i)
					f.SetTerminal(t)
					buf = p.Paint(buf[:0], &f)
					bytes += len(buf)
				}
				b.ReportMetric(float64(bytes)/float64(i), "bytes/op")
			})
		}
	}
}

// BenchmarkDiffApply is what a viewer costs: the difference of two frames and its way into another engine, for each cell
// that differs, in time of the processor. What the program prints is not counted.
func BenchmarkDiffApply(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, w := range []struct {
		name   string
		change func(t *vt.Terminal, i int)
	}{
		{"cells", func(t *vt.Terminal, i int) {
			for range 100 {
				fmt.Fprintf(writer{t}, "\x1b[%d;%dH%c", 1+rnd.IntN(24), 1+rnd.IntN(80), 'a'+rune(rnd.IntN(26)))
			}
		}},
		{"page", func(t *vt.Terminal, i int) {
			t.Write([]byte("\x1b[H"))
			for y := range 24 {
				fmt.Fprintf(writer{t}, "\x1b[%dm%-79.79s", 31+(y+i)%7, strings.Repeat(fmt.Sprintf("word%d ", i*y%97), 20))
				if y < 23 {
					t.Write([]byte("\r\n"))
				}
			}
		}},
		{"truecolor", func(t *vt.Terminal, i int) {
			t.Write([]byte("\x1b[H"))
			for c := range 80 * 24 {
				fmt.Fprintf(writer{t}, "\x1b[38;2;%d;%d;7mx", (c+i*5)%256, rnd.IntN(256))
			}
		}},
		{"scroll", func(t *vt.Terminal, i int) {
			fmt.Fprintf(writer{t}, "\r\n%d %d %d another line of text, and more of it", i, i*i, i*7)
		}},
	} {
		b.Run(w.name, func(b *testing.B) {
			src := vt.New(vt.Options{Cols: 80, Rows: 24})
			dst := vt.New(vt.Options{Cols: 80, Rows: 24})
			p := NewPainter(Canonical, Capabilities{})
			var f Frame
			var buf []byte
			var before [][]vt.Cell
			var spent time.Duration
			changed, bytes := 0, 0
			step := func(i int) {
				w.change(src, i)
				f.SetTerminal(src)
				changed += differing(src, &before)
				start := cpuTime(b)
				buf = p.Paint(buf[:0], &f)
				dst.Write(buf)
				spent += cpuTime(b) - start
				bytes += len(buf)
			}
			step(0)
			changed, bytes, spent = 0, 0, 0
			for i := range b.N {
				step(i + 1)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(changed), "ns/cell")
			b.ReportMetric(float64(bytes)/float64(changed), "bytes/cell")
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "us/frame")
		})
	}
}

// cpuTime is what this process has had: other programs on the machine do not count.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// differing counts the cells of the screen that are not as before, which is then as the screen.
func differing(t *vt.Terminal, before *[][]vt.Cell) (n int) {
	_, rows := t.Size()
	for y := range rows {
		cells := t.Row(y).Cells()
		if len(*before) <= y {
			*before = append(*before, make([]vt.Cell, len(cells)))
		}
		for x, c := range cells {
			if c != (*before)[y][x] {
				n++
			}
		}
		copy((*before)[y], cells)
	}
	return n
}
