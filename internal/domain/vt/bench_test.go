package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchInputs are the shapes of the targets in the design: the same seed gives the same bytes.
func benchInputs(tb testing.TB) map[string][]byte {
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
	in["vim"] = vimInput(tb, rnd, size)
	return in
}

// vimInput is a recorded session of vim where the corpus is there, or what looks like one.
func vimInput(tb testing.TB, rnd *rand.Rand, size int) []byte {
	rec, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "vt-corpus", "alacritty", "vim_24bitcolors_bce", "input.vt"))
	if err != nil {
		tb.Skip("the corpus ../shared/vt-corpus is not beside the checkout")
	}
	return bytes.Repeat(rec, size/len(rec)+1)
}

// writeChunk is the size of a Write in benchmarks.
const writeChunk = 16 << 10

func BenchmarkWrite(b *testing.B) {
	in := benchInputs(b)
	for _, name := range []string{"ascii", "colorlog", "truecolor", "vim", "scrolling", "cjk", "narrow", "cursor"} {
		b.Run(name, func(b *testing.B) {
			data := in[name]
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
			for b.Loop() {
				write()
			}
		})
	}
}
