package broker

import (
	"context"
	"io"
	"sync"

	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// answer grants or refuses one stream, and relays it until its end.
func (b *Broker) answer(ctx context.Context, req ports.StreamRequest) {
	timeout := protocol.HandshakeTimeout
	if req.Ask() != nil {
		timeout += protocol.PromptTimeout
	}
	dialing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	daemon, err := b.reach(dialing, req)
	if err != nil {
		_ = req.Refuse(*protocol.FailureOf(err))
		return
	}
	if stream, ok, err := req.Hand(daemon); ok {
		_ = daemon.Close() // a hold on it would wake the broker with every byte that the two exchange
		if err == nil {
			_, _ = io.Copy(io.Discard, stream) // until the client has done with it, or is gone
			_ = stream.Close()
		}
		return
	}
	stream, err := req.Open()
	if err != nil { // the client gave it up meanwhile
		_ = daemon.Close()
		return
	}
	if far, ok := daemon.(*linked); ok {
		far.reporting(req.Report)
	}
	r := relay{stream: stream, daemon: daemon}
	stop := context.AfterFunc(ctx, r.closeDaemon)
	r.run()
	stop()
}

// reach gives a carriage to the daemon that a client asks for: a connection on this machine, a stream over a
// link elsewhere. To the proxy of this machine, where a client may ask for that.
func (b *Broker) reach(ctx context.Context, req ports.StreamRequest) (io.ReadWriteCloser, error) {
	if req.Host() == protocol.ProxyHost && b.o.Invite != nil {
		return b.o.Invite(ctx)
	}
	if req.Host() == protocol.LocalHost {
		conn, err := b.o.Daemon.DialDaemon(ctx, req.Start())
		if err != nil {
			return nil, err
		}
		b.lists.met(protocol.LocalHost)
		if first := req.First(); len(first) > 0 {
			_, _ = conn.Write(first) // a daemon that is gone is found out when it is read from
		}
		return conn, nil
	}
	stream, err := b.open(ctx, wish{req.Host(), req.Start(), req.First(), req.Ask(), req.Public()})
	if err != nil {
		return nil, err // never a nil stream that is not a nil carriage
	}
	b.lists.met(stream.link.way.name)
	return stream, nil
}

// open opens a stream to the daemon of another machine, by whatever name that is known.
func (b *Broker) open(ctx context.Context, w wish) (*linked, error) {
	to, err := b.members.resolve(w.host)
	if err != nil {
		return nil, err
	}
	asked := w.start
	w.host, w.start = to.address, max(w.start, to.policy.Start)
	stream, err := b.hosts.open(ctx, w)
	if err != nil {
		return nil, to.explain(err, asked)
	}
	return stream, nil
}

func quote(s string) string { return `"` + s + `"` }

// relay carries one stream's bytes to a daemon's connection and back. Whichever side ends in
// order, the other gets everything that was sent before and then the same end.
type relay struct {
	stream ports.Stream
	daemon io.ReadWriteCloser
	closed sync.Once
}

func (r *relay) closeDaemon() {
	r.closed.Do(func() { _ = r.daemon.Close() }) // nothing is left to do for it
}

func (r *relay) run() {
	var up sync.WaitGroup
	up.Go(r.toDaemon)
	r.toClient()
	up.Wait()
	r.closeDaemon()
}

// toDaemon ends with the stream, and ends the daemon's connection then. A daemon that takes
// no more may still have something to say: toClient delivers that and ends the stream.
func (r *relay) toDaemon() {
	if sourceEnded := carry(r.daemon, r.stream); sourceEnded {
		r.closeDaemon()
	}
}

// toClient ends with the daemon's connection, and ends the stream then: in order, whatever
// the end was. A daemon that leaves with input unread resets its connection, and its last
// words must arrive all the same; that the conversation was cut short its client can tell.
func (r *relay) toClient() {
	sourceEnded := carry(r.stream, r.daemon)
	if far, ok := r.daemon.(*linked); ok {
		if why := far.why(); why != nil {
			_ = r.stream.Abort(*why)
		}
	}
	_ = r.stream.Close() // it may have ended from the other side
	if !sourceEnded {
		r.closeDaemon() // the client takes no more
	}
}

const (
	smallBuffer = 4 << 10                // keys and echoes; an idle relay holds no more
	bigBuffer   = protocol.MaxChunkBytes // a flood
	calm        = 32                     // small reads in a row that end a flood
)

var bigBuffers = sync.Pool{New: func() any { return new([bigBuffer]byte) }}

// carry copies until either side ends, and reports whether it was the source, and all of it
// was delivered. A flood gets a large buffer and gives it back after.
func carry(dst io.Writer, src io.Reader) (sourceEnded bool) {
	buf := make([]byte, smallBuffer)
	var big *[bigBuffer]byte
	quiet := 0
	for {
		use := buf
		if big != nil {
			use = big[:]
		}
		n, err := src.Read(use)
		if n > 0 {
			if _, err := dst.Write(use[:n]); err != nil {
				return false
			}
		}
		switch {
		case err != nil:
			return true
		case n > smallBuffer:
			quiet = 0
		case big == nil && n == smallBuffer:
			big, quiet = bigBuffers.Get().(*[bigBuffer]byte), 0
		case big != nil:
			if quiet++; quiet == calm {
				bigBuffers.Put(big)
				big = nil
			}
		}
	}
}
