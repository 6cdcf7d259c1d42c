package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vev-term/vev/internal/domain"
)

// BenchmarkOutput reads what cat writes of a text file, with buffers of several sizes: 4 KiB
// is one read of the master a call.
func BenchmarkOutput(b *testing.B) {
	const size = 16 << 20
	file := filepath.Join(b.TempDir(), "text")
	line := strings.Repeat("x", 79) + "\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(line, size/len(line))), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, kib := range []int{4, 8, 16, 32} {
		b.Run(fmt.Sprintf("buffer=%dKiB", kib), func(b *testing.B) {
			buf := make([]byte, kib<<10)
			calls := 0
			b.SetBytes(size)
			for b.Loop() {
				p, err := new(Programs).Start(domain.Command{Argv: []string{"/bin/cat", file}}, domain.DefaultSize)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = p.Read(buf)
					calls++
				}
				p.Wait()
				p.Close()
			}
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
		})
	}
}

// BenchmarkEcho is one key to a program that copies, and back.
func BenchmarkEcho(b *testing.B) {
	for _, kib := range []int{4, 32} {
		b.Run(fmt.Sprintf("buffer=%dKiB", kib), func(b *testing.B) {
			p, err := new(Programs).Start(sh("stty raw -echo; printf r; exec cat"), domain.DefaultSize)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Wait()
			defer p.Close()
			buf := make([]byte, kib<<10)
			if _, err := p.Read(buf); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Write(buf[:1]); err != nil {
					b.Fatal(err)
				}
				if _, err := p.Read(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	var programs Programs
	for b.Loop() {
		p, err := programs.Start(domain.Command{Argv: []string{"/bin/true"}}, domain.DefaultSize)
		if err != nil {
			b.Fatal(err)
		}
		p.Wait()
		p.Close()
	}
}

func BenchmarkForeground(b *testing.B) {
	p, err := new(Programs).Start(sh("exec cat"), domain.DefaultSize)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Wait()
	defer p.Close()
	for b.Loop() {
		p.Foreground()
	}
}
