package rundir

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// claimPatience bounds how long a new instance, or who wants to start one, waits for an old
	// one that is finishing.
	claimPatience = 10 * time.Second
	// acceptPause is how long Accept waits when the process is out of descriptors.
	acceptPause = 100 * time.Millisecond
	// settleTime is how long a removal may go on before the socket is put back.
	settleTime = 50 * time.Millisecond
	// The pauses of the keeper while the socket cannot be put back.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Claim is one process's right to be the service of a name: the life lock, and the socket
// while it is not retired. It is a net.Listener that admits only this user's processes.
type Claim struct {
	dir     *Dir
	name    string
	watch   *watcher
	refused atomic.Uint64

	// turn, one slot, is held while the socket's file is changed; it guards life.
	turn chan struct{}
	life *Lock

	closeOnce sync.Once
	closing   chan struct{}
	keeper    sync.WaitGroup

	// mu is a leaf: under it nothing waits.
	mu   sync.Mutex
	sock *listening // nil: retired or closed
	late []*net.UnixConn
}

var _ net.Listener = (*Claim)(nil)

// Claim is Hold and Listen.
func (d *Dir) Claim(ctx context.Context, name string) (*Claim, error) {
	c, err := d.Hold(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := c.Listen(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Hold makes this process the service name: it waits for an old instance that is finishing (at most 10 s, or until ctx ends:
// Timeout, Canceled). It is to Listen next.
func (d *Dir) Hold(ctx context.Context, name string) (*Claim, error) {
	watch, err := newWatcher()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot watch %s", d.Run())
	}
	c, err := d.hold(ctx, name, watch)
	if err != nil {
		watch.stop()
		watch.free()
	}
	return c, err
}

func (d *Dir) hold(ctx context.Context, name string, watch *watcher) (*Claim, error) {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	life, err := d.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Claim{dir: d, name: name, watch: watch, life: life, turn: make(chan struct{}, 1), closing: make(chan struct{})}, nil
}

// Listen begins to listen. What is left of a crashed instance is replaced. The socket is put back whenever it is taken away,
// until Close.
func (c *Claim) Listen() error {
	if err := c.ensure(true); err != nil {
		return err
	}
	c.keeper.Go(c.keep)
	return nil
}

// Accept returns the next connection of a process of this user. Others are closed before a
// byte of theirs is read, and counted. net.ErrClosed: retired or closed.
func (c *Claim) Accept() (net.Conn, error) {
	for {
		sock, conn := c.next()
		if conn == nil && sock == nil {
			return nil, net.ErrClosed
		}
		if conn == nil {
			var err error
			if conn, err = sock.ln.AcceptUnix(); err != nil {
				// What accept can lack passes: descriptors, memory, the connection itself.
				if c.current() == sock && !errors.Is(err, unix.ECONNABORTED) {
					c.pause(acceptPause)
				}
				continue
			}
		}
		if c.admit(conn) {
			return conn, nil
		}
	}
}

// next returns a connection taken over from an earlier socket, or the socket to wait on.
func (c *Claim) next() (*listening, *net.UnixConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sock == nil || len(c.late) == 0 {
		return c.sock, nil
	}
	conn := c.late[0]
	c.late = c.late[1:]
	return c.sock, conn
}

func (c *Claim) current() *listening {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sock
}

func (c *Claim) admit(conn *net.UnixConn) bool {
	uid, err := peerUID(conn)
	if err == nil && uid == c.dir.uid {
		return true
	}
	c.refused.Add(1)
	conn.Close()
	return false
}

// Refused counts the connections of other users that were closed.
func (c *Claim) Refused() uint64 { return c.refused.Load() }

// Addr names the socket for messages.
func (c *Claim) Addr() net.Addr {
	return &net.UnixAddr{Net: "unix", Name: c.dir.Run() + "/" + socketName(c.name)}
}

// Retire stops listening but keeps the life lock, so that nobody starts a successor yet, and
// returns the connections that nobody had accepted. Accept returns net.ErrClosed from now on;
// a caller with one in hand, from here or from an Accept that was under way, has not lost it
// and may Resume. Otherwise it ends the process, with Close as its last act.
func (c *Claim) Retire() []*net.UnixConn {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return c.retire()
}

// retire works under turn.
func (c *Claim) retire() []*net.UnixConn {
	sock := c.current()
	if sock == nil {
		return nil
	}
	if dir, err := c.dir.openSockets(); err == nil {
		sock.unlink(dir, c.name)
		dir.Close()
	}
	late := c.swap(nil)
	mine := late[:0]
	for _, conn := range late {
		if c.admit(conn) {
			mine = append(mine, conn)
		}
	}
	return mine
}

// Resume listens again after Retire.
func (c *Claim) Resume() error { return c.ensure(true) }

// Close stops listening, closes the connections that nobody accepted, and releases the life
// lock. Only the socket that is still this one's own is removed.
func (c *Claim) Close() error {
	var err error
	c.closeOnce.Do(func() {
		close(c.closing)
		c.watch.stop()
		c.keeper.Wait()
		c.watch.free()
		c.turn <- struct{}{}
		defer func() { <-c.turn }()
		for _, conn := range c.retire() {
			conn.Close()
		}
		err = c.life.Unlock()
	})
	return err
}

// swap puts sock in the place of the current one and takes over what waits there: what it
// returns with nil for sock, what Accept gets first otherwise.
func (c *Claim) swap(sock *listening) []*net.UnixConn {
	c.mu.Lock()
	old := c.sock
	if old != nil {
		c.late = append(c.late, old.drain()...)
	}
	c.sock = sock
	var late []*net.UnixConn
	if sock == nil {
		late, c.late = c.late, nil
	}
	c.mu.Unlock()
	if old != nil {
		old.ln.Close()
	}
	return late
}

// ensure follows the directories and puts the socket, and the life lock's file, back where
// they belong. A retired claim stays so unless resume is true.
func (c *Claim) ensure(resume bool) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	select {
	case <-c.closing:
		return net.ErrClosed
	default:
	}
	sock := c.current()
	if sock == nil && !resume {
		return nil
	}
	state, err := c.dir.openState()
	if err != nil {
		return err
	}
	defer state.Close()
	dir, err := c.dir.openSockets()
	if err != nil {
		return err
	}
	defer dir.Close()
	// First follow, then look: what happens after the look is told.
	if err := c.watch.follow(state, dir); err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot watch %s", dir.Name())
	}
	if err := c.life.keep(state); err != nil {
		return err
	}
	if sock != nil && sock.at(dir, c.name) {
		return nil
	}
	anew, err := listen(dir, c.name)
	if err != nil {
		return err
	}
	c.swap(anew)
	return nil
}

// keep puts the socket back whenever something happened to it, until Close. While that fails
// it tries again, ever less often; otherwise it sleeps until told.
func (c *Claim) keep() {
	for retry := time.Duration(0); ; {
		if retry == 0 {
			if c.watch.wait(0) != nil {
				return
			}
			c.settle()
		} else if !c.pause(retry) {
			return
		}
		switch err := c.ensure(false); {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			retry = 0
		default:
			retry = min(max(2*retry, firstRetry), lastRetry)
		}
	}
}

// settle lets a removal that is under way come to its end, which a new socket in the midst of
// it would spoil. Not while the life lock has lost its name: somebody could take that.
func (c *Claim) settle() {
	for end := time.Now().Add(settleTime); c.lockInPlace(); {
		left := time.Until(end)
		if left <= 0 || c.watch.wait(left) != nil {
			return
		}
	}
}

func (c *Claim) lockInPlace() bool {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return c.life.inPlace()
}

// pause reports false when Close ended it.
func (c *Claim) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closing:
		return false
	}
}
