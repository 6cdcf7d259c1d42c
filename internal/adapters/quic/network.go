package quic

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// network has every link show itself when this machine's network changes: the proxy learns from the first packet where a
// connection comes from now, and what it sends before that is lost. It watches while there are links.
type network struct {
	in Net // nil: the system's; set before the first call

	mu       sync.Mutex // a leaf
	links    map[*link]struct{}
	watching *watching // nil without links, and where the system does not tell
}

// watching is one time of watching.
type watching struct {
	changes io.ReadCloser
	reader  sync.WaitGroup
}

// settleTime is how long changes of a network are gathered once the first was acted on: they come in bursts.
const settleTime = 50 * time.Millisecond

// enter is told of a link.
func (n *network) enter(l *link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.links == nil {
		n.links = map[*link]struct{}{}
	}
	n.links[l] = struct{}{}
	if n.watching != nil {
		return
	}
	if changes, err := n.changes(); err == nil {
		w := &watching{changes: changes}
		n.watching = w
		w.reader.Go(func() { n.watch(changes) })
	}
}

// changes gives something to read for every change.
func (n *network) changes() (io.ReadCloser, error) {
	if n.in != nil {
		return n.in.Changes()
	}
	return networkChanges()
}

// knock returns nil when an ssh server has let a connection through.
func (n *network) knock(ctx context.Context, name string, port uint16) error {
	if n.in != nil {
		return n.in.Knock(ctx, name, port)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(name, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	return conn.Close()
}

// leave is told of a link's end. With the last one the watching ends.
func (n *network) leave(l *link) {
	n.mu.Lock()
	delete(n.links, l)
	var last *watching
	if len(n.links) == 0 {
		last, n.watching = n.watching, nil
	}
	n.mu.Unlock()
	if last != nil {
		_ = last.changes.Close()
		last.reader.Wait()
	}
}

// watch reads changes until there are no more.
func (n *network) watch(changes io.Reader) {
	buf := make([]byte, 16<<10)
	for {
		if m, err := changes.Read(buf); m <= 0 && err != nil {
			return
		}
		n.mu.Lock()
		links := make([]*link, 0, len(n.links))
		for l := range n.links {
			links = append(links, l)
		}
		n.mu.Unlock()
		for _, l := range links {
			_ = l.conn.SendDatagram([]byte{datagramNothing}) // it says nothing; a probe finds out if it does not leave
		}
		time.Sleep(settleTime)
	}
}
