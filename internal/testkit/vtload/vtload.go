package vtload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Chunk is the size of a write.
const Chunk = 16 << 10

// Load is one program's output.
type Load struct {
	Name string
	// Bytes are the same in every run; nil where a recording is not beside the checkout.
	Bytes []byte
	// Must is the design's target in MB/s: writes of Chunk, history on, one core. 0: none is set.
	Must float64
	// Peer is what the parser of charmbracelet/x/ansi v0.11.9 alone, with nothing behind it, reached with output of this
	// shape on the machine on which Must was set.
	Peer float64
}

// MustRatio is Must by which machines do not count: how many times as fast as that parser the engine has to be, 0 without
// a target.
func (l Load) MustRatio() float64 {
	if l.Must == 0 {
		return 0
	}
	return l.Must / l.Peer
}

// size is the least that each load is long.
const size = 1 << 20

// Loads are the shapes of the targets in the design; root is the checkout.
func Loads(root string) []Load {
	rnd := rand.New(rand.NewPCG(1, 2))
	fill := func(add func(b *bytes.Buffer)) []byte {
		var b bytes.Buffer
		for b.Len() < size {
			add(&b)
		}
		return b.Bytes()
	}
	line := strings.Repeat("the quick brown fox jumps over a lazy dog; ", 2)[:79]
	return []Load{
		{Name: "ascii", Must: 250, Peer: 244, Bytes: fill(func(b *bytes.Buffer) { b.WriteString(line + "\r\n") })},
		{Name: "colorlog", Must: 150, Peer: 156, Bytes: fill(func(b *bytes.Buffer) {
			for range 12 {
				fmt.Fprintf(b, "\x1b[%dmword%d ", 31+rnd.IntN(6), rnd.IntN(10))
			}
			b.WriteString("\x1b[0m\r\n")
		})},
		{Name: "truecolor", Must: 300, Peer: 168, Bytes: fill(func(b *bytes.Buffer) {
			b.WriteString("\x1b[H")
			for i := range 80 * 24 {
				fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dmx", rnd.IntN(256), i%256, 7, 9, rnd.IntN(256), 200)
			}
		})},
		{Name: "vim", Must: 300, Peer: 178, Bytes: recorded(root)},
		{Name: "scrolling", Must: 40, Peer: 221, Bytes: fill(func(b *bytes.Buffer) { b.WriteString("y\r\n") })},
		{Name: "cjk", Must: 100, Peer: 169, Bytes: fill(func(b *bytes.Buffer) {
			for range 38 {
				if rnd.IntN(10) == 0 {
					b.WriteString("😀")
				} else {
					b.WriteRune(rune(0x4e00 + rnd.IntN(5000)))
				}
			}
			b.WriteString("\r\n")
		})},
		{Name: "narrow", Bytes: fill(func(b *bytes.Buffer) {
			b.WriteString("│ Съешь же ещё этих мягких булок ├────────┤ naïve café │\r\n")
		})},
		{Name: "cursor", Must: 350, Peer: 179, Bytes: fill(func(b *bytes.Buffer) {
			fmt.Fprintf(b, "\x1b[%d;%dHa", 1+rnd.IntN(24), 1+rnd.IntN(80))
		})},
	}
}

// recorded is a session of vim, again and again.
func recorded(root string) []byte {
	rec, err := os.ReadFile(filepath.Join(root, "..", "shared", "vt-corpus", "alacritty", "vim_24bitcolors_bce", "input.vt"))
	if err != nil || len(rec) == 0 {
		return nil
	}
	return bytes.Repeat(rec, size/len(rec)+1)
}
