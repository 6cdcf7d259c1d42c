package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/adapters/descriptor"
)

// sshCommand is how a host is reached whose files are this one's: words, of which the last is the host.
var sshCommand string

// dialSSH runs this program behind ssh, as the server of a kind on its standard input and output.
func dialSSH(k kind) (session, error) {
	self, err := os.Executable()
	if err != nil {
		return session{}, err
	}
	words := append(strings.Fields(sshCommand), self, "-pipe", "'"+k.name+"'")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	theirIn, in, err := os.Pipe()
	if err != nil {
		return session{}, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		return session{}, err
	}
	defer theirOut.Close()
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	if err := cmd.Start(); err != nil {
		return session{}, err
	}
	s, err := k.client(k.pipes(out, in))
	if err != nil {
		return session{}, err
	}
	end := sync.OnceValue(func() error {
		_ = s.close()
		_, _ = in.Close(), out.Close()
		_ = cmd.Process.Kill() // what it carried is over
		_ = cmd.Wait()
		return nil
	})
	return session{s.open, end}, nil
}

// servePipe is the server at ssh's other end.
func servePipe(name string) error {
	k, ok := kindOf(name)
	if !ok {
		return errNoKind(name)
	}
	in, out := os.Stdin, os.Stdout
	if !k.single {
		var err error
		if in, out, err = interruptible(in, out); err != nil {
			return err
		}
	}
	s, err := k.server(k.pipes(in, out))
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for {
		st, err := s.open()
		if err != nil {
			all.Wait()
			return nil
		}
		all.Go(func() { serveStream(st) })
	}
}

// interruptible are files whose reads can be interrupted, as vev's helper makes them: a conversation has them done by who waits.
// The bare stream is left what the system makes fastest.
func interruptible(in, out *os.File) (*os.File, *os.File, error) {
	for _, f := range []**os.File{&in, &out} {
		fd := (*f).Fd()
		if err := syscall.SetNonblock(int(fd), true); err != nil {
			return nil, nil, err
		}
		*f = os.NewFile(fd, (*f).Name())
	}
	return in, out, nil
}

// pipes are a connection of two pipes, as far as it is used.
type pipes struct {
	in, out *os.File
	reads   io.Reader // in
	writes  io.Writer // out
}

// pipes are read and written as vev does it, the bare stream's as any.
func (k kind) pipes(in, out *os.File) *pipes {
	if k.single {
		return &pipes{in: in, out: out, reads: in, writes: out}
	}
	return &pipes{in: in, out: out, reads: descriptor.OfFile(in), writes: descriptor.OfFile(out)}
}

func (p *pipes) Read(b []byte) (int, error)            { return p.reads.Read(b) }
func (p *pipes) Write(b []byte) (int, error)           { return p.writes.Write(b) }
func (p *pipes) SetReadDeadline(t time.Time) error     { return p.in.SetReadDeadline(t) }
func (p *pipes) SyscallConn() (syscall.RawConn, error) { return p.out.SyscallConn() }
func (p *pipes) Close() error                          { return errors.Join(p.out.Close(), p.in.Close()) }
