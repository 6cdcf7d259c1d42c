package sshstdio

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// endGrace is how long ssh may take to end by itself once its input has ended, and again after
	// it was asked to: then it is killed.
	endGrace = time.Second
	// waitDelay is how long something that ssh started may hold its standard error open.
	waitDelay = 200 * time.Millisecond
)

// carriage is the standard input and output of a helper behind an ssh. As with a socket, reads can
// be interrupted and writes tried.
type carriage struct {
	in, out *os.File  // we write in and read out
	writes  io.Writer // in
	reads   io.Reader // out
	cmd     *exec.Cmd
	said    tail          // on standard error
	patient atomic.Bool   // ssh has something to deliver, or is about to end by itself
	exited  chan struct{} // closed when ssh has ended and its status is known

	greeting greeting // the reader's, as the next
	onBegin  func()   // to be told that the helper has begun, or nil

	closing sync.Once
	mu      sync.Mutex
	gone    bool        // ssh has ended
	end     *time.Timer // what happens to an ssh that does not end
}

var _ io.ReadWriteCloser = (*carriage)(nil)

// start starts ssh. The carriage is there at once; whether it leads anywhere is known when the
// helper answers.
func start(a attempt) (*carriage, error) {
	path, err := lookSSH()
	if err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, cannotStart(err)
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, cannotStart(err)
	}
	defer theirOut.Close()
	c := &carriage{
		in: in, out: out, writes: descriptor.OfFile(in), reads: descriptor.OfFile(out),
		cmd: exec.Command(path, arguments(a)...), exited: make(chan struct{}),
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr, c.cmd.WaitDelay = theirIn, theirOut, &c.said, waitDelay
	c.cmd.Env = append(os.Environ(), a.env...)
	if err := c.cmd.Start(); err != nil {
		_, _ = in.Close(), out.Close()
		return nil, cannotStart(err)
	}
	new(sync.WaitGroup).Go(c.reap) // exited says when it has ended
	return c, nil
}

// lookSSH is the ssh that PATH has.
func lookSSH() (string, error) {
	path, err := exec.LookPath("ssh")
	if err != nil {
		return "", fault.Wrap(fault.Unsupported, err, "there is no ssh on this machine").
			WithHint("install OpenSSH's client: vev reaches other machines with it")
	}
	return path, nil
}

func cannotStart(err error) error { return fault.Wrap(fault.Unavailable, err, "cannot start ssh") }

func (c *carriage) reap() {
	_ = c.cmd.Wait() // the status is in ProcessState
	c.mu.Lock()
	c.gone = true
	if c.end != nil {
		c.end.Stop()
	}
	c.mu.Unlock()
	close(c.exited)
}

// Read implements io.Reader.
func (c *carriage) Read(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	if g := &c.greeting; len(g.rest) > 0 {
		n := copy(p, g.rest)
		g.rest = g.rest[n:]
		return n, nil
	}
	return c.reads.Read(p)
}

// begin reads on until the helper begins.
func (c *carriage) begin() error {
	if c.greeting.passed {
		return nil
	}
	err := c.greeting.pass(c.reads)
	if err == nil || err == io.EOF {
		c.patient.Store(true)
	}
	if err == nil && c.onBegin != nil {
		c.onBegin()
	}
	return err
}

// OnBegin has f called when the helper begins: until then a person may be asked, and what is written waits in a pipe. It is
// called before the first Read.
func (c *carriage) OnBegin(f func()) {
	if c.greeting.passed {
		f()
		return
	}
	c.onBegin = f
}

// await waits until the helper begins, or ctx ends, which closes the carriage.
func (c *carriage) await(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	err := c.begin()
	if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
		return fault.Wrap(fault.Unavailable, err, "ssh ended")
	}
	return err
}

func (c *carriage) Write(p []byte) (int, error)           { return c.writes.Write(p) }
func (c *carriage) SetReadDeadline(t time.Time) error     { return c.out.SetReadDeadline(t) }
func (c *carriage) SyscallConn() (syscall.RawConn, error) { return c.in.SyscallConn() }

// Close ends the carriage and has ssh end; it waits for neither. exited tells of ssh.
func (c *carriage) Close() error {
	c.closing.Do(func() {
		_, _ = c.in.Close(), c.out.Close()
		grace := endGrace
		if !c.patient.Load() {
			grace = 0
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.gone {
			c.end = time.AfterFunc(grace, c.terminate)
		}
	})
	return nil
}

// terminate asks ssh to end, which it does at once as a rule, taking its helpers with it; kill does
// not ask.
func (c *carriage) terminate() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		c.end = time.AfterFunc(endGrace, c.kill)
	}
}

func (c *carriage) kill() { _ = c.cmd.Process.Kill() }

// maxSaid is how much of what was said on standard error is kept: its end.
const maxSaid = 4 << 10

// tail keeps the end of what is written.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxSaid; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}
