package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
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
	s, err := k.client(&pipes{in: out, out: in})
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
	c := &pipes{in: os.Stdin, out: os.Stdout}
	if !k.single {
		var err error
		if c, err = interruptible(c); err != nil {
			return err
		}
	}
	s, err := k.server(c)
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

// interruptible is c with reads that can be interrupted, as vev's helper makes it: a conversation has them done by who waits.
// The bare stream is left what the system makes fastest.
func interruptible(c *pipes) (*pipes, error) {
	for _, f := range []**os.File{&c.in, &c.out} {
		fd := (*f).Fd()
		if err := syscall.SetNonblock(int(fd), true); err != nil {
			return nil, err
		}
		*f = os.NewFile(fd, (*f).Name())
	}
	return c, nil
}

// pipes are a connection of two pipes, as far as it is used.
type pipes struct {
	net.Conn // nil
	in, out  *os.File
}

func (p *pipes) Read(b []byte) (int, error)            { return p.in.Read(b) }
func (p *pipes) Write(b []byte) (int, error)           { return p.out.Write(b) }
func (p *pipes) SetReadDeadline(t time.Time) error     { return p.in.SetReadDeadline(t) }
func (p *pipes) SyscallConn() (syscall.RawConn, error) { return p.out.SyscallConn() }
func (p *pipes) Close() error                          { return errors.Join(p.out.Close(), p.in.Close()) }
