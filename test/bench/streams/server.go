package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	writeSize = 64 << 10
	pingSize  = 64
)

// A stream begins with what is asked of the server: one byte, and a count of eight.
const (
	askBytes = 'B' // send count bytes
	askEcho  = 'E' // send count pings back
)

func ask(s io.Writer, what byte, n int64) error {
	_, err := s.Write(binary.BigEndian.AppendUint64([]byte{what}, uint64(n)))
	return err
}

// serveStream answers one stream and lets the client end it: not every mux delivers what was
// written before a Close.
func serveStream(s io.ReadWriteCloser) {
	defer s.Close()
	var b [9]byte
	if _, err := io.ReadFull(s, b[:]); err != nil {
		return
	}
	n := int64(binary.BigEndian.Uint64(b[1:]))
	var err error
	if b[0] == askBytes {
		err = sendBytes(s, n)
	} else {
		err = echo(s, n)
	}
	if err == nil {
		_, _ = s.Read(b[:1])
	}
}

func sendBytes(s io.Writer, n int64) error {
	buf := make([]byte, writeSize)
	for i := range buf {
		buf[i] = "abcdefghijklmnopqrstuvwxyz  \n"[i*7919%29]
	}
	for n > 0 {
		k, err := s.Write(buf[:min(n, writeSize)])
		if err != nil {
			return err
		}
		n -= int64(k)
	}
	return nil
}

func echo(s io.ReadWriter, n int64) error {
	var m [pingSize]byte
	for range n {
		if _, err := io.ReadFull(s, m[:]); err != nil {
			return err
		}
		if _, err := s.Write(m[:]); err != nil {
			return err
		}
	}
	return nil
}

// serveKind is the server process: it says where it listens, then its usage for each line it reads.
func serveKind(name string) error {
	k, ok := kindOf(name)
	if !ok {
		return errNoKind(name)
	}
	addr, accept, closed, err := k.listenFor()
	if err != nil {
		return err
	}
	defer closed()
	go serve(accept)
	fmt.Println(addr)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := json.NewEncoder(os.Stdout).Encode(usageNow()); err != nil {
			return err
		}
	}
	return nil
}

func errNoKind(name string) error { return fmt.Errorf("no kind %q", name) }

// listenFor makes the server's end. The address is one line.
func (k kind) listenFor() (addr string, accept func() (session, error), closed func(), err error) {
	if k.listen != nil {
		addr, accept, err = k.listen()
		return addr, accept, func() {}, err
	}
	dir, err := os.MkdirTemp("", "streams-")
	if err != nil {
		return "", nil, nil, err
	}
	closed = func() { os.RemoveAll(dir) }
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return "", nil, closed, err
	}
	return l.Addr().String(), func() (session, error) {
		c, err := l.Accept()
		if err != nil {
			return session{}, err
		}
		return k.server(c)
	}, closed, nil
}

func serve(accept func() (session, error)) {
	for {
		s, err := accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		go func() {
			for {
				st, err := s.open()
				if err != nil {
					return
				}
				go serveStream(st)
			}
		}()
	}
}

// usage is what a process has used so far.
type usage struct {
	Mallocs uint64
	CPU     time.Duration
}

func usageNow() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail with these arguments
	return usage{m.Mallocs, time.Duration(r.Utime.Nano() + r.Stime.Nano())}
}
