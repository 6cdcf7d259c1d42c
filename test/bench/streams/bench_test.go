package main

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// pair is a session of a kind between two goroutine groups of this process, over a Unix socket.
func pair(b *testing.B, k kind) (client, server session) {
	b.Helper()
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	ready := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			server, err = k.server(c)
		}
		ready <- err
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if client, err = k.client(c); err != nil {
		b.Fatal(err)
	}
	if err := <-ready; err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.close(); server.close() })
	go func() {
		for {
			st, err := server.open()
			if err != nil {
				return
			}
			go serveStream(st)
		}
	}()
	return client, server
}

func eachKind(b *testing.B, muxOnly bool, run func(b *testing.B, s session)) {
	for _, k := range kinds {
		if k.single && muxOnly || !k.overSocket() {
			continue
		}
		b.Run(k.name, func(b *testing.B) {
			client, _ := pair(b, k)
			b.ReportAllocs()
			run(b, client)
		})
	}
}

// BenchmarkStream is 64 KiB writes on one stream, server to client.
func BenchmarkStream(b *testing.B) {
	eachKind(b, false, func(b *testing.B, s session) {
		b.SetBytes(writeSize)
		if err := get(s, int64(b.N)*writeSize); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkStreams is the same on 100 streams at once.
func BenchmarkStreams(b *testing.B) {
	eachKind(b, true, func(b *testing.B, s session) {
		b.SetBytes(writeSize)
		var all sync.WaitGroup
		for range manyStreams {
			all.Go(func() {
				if err := get(s, int64(b.N/manyStreams+1)*writeSize); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// BenchmarkPing is 64 bytes there and back.
func BenchmarkPing(b *testing.B) {
	eachKind(b, false, func(b *testing.B, s session) {
		if _, err := pingPong(s, b.N); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkPingBesideFlood is the same while another stream floods.
func BenchmarkPingBesideFlood(b *testing.B) {
	eachKind(b, true, func(b *testing.B, s session) {
		flood, err := s.open()
		if err != nil {
			b.Fatal(err)
		}
		if err := ask(flood, askBytes, floodForever); err != nil {
			b.Fatal(err)
		}
		go io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{flood}, make([]byte, writeSize))
		b.ResetTimer()
		if _, err := pingPong(s, b.N); err != nil {
			b.Fatal(err)
		}
	})
}
