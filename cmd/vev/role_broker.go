package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/hostfile"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/adapters/sshstdio"
	"github.com/vev-term/vev/internal/adapters/wake"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdBroker() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use:    "_broker",
		Hidden: true,
		Short:  "Lead commands to the daemon (started when needed)",
		Args:   argCount(0, 0),
		RunE:   func(*cobra.Command, []string) error { return runBroker(idle) },
	}
	cmd.Flags().DurationVar(&idle, "idle", broker.DefaultIdle, "end after `DUR` without a client")
	return cmd
}

// brokerGC is the garbage collector's pace in a broker: it holds little, some 110 KiB for each host
// that it has a link to, and makes some 35 KB of garbage for each client, so a smaller heap is worth the collections. With
// 60 hosts that are idle the process has a quarter less than at a pace of 50.
const brokerGC = 25

// runBroker composes the broker: rundir gives connections, brokeripc makes broker conversations
// of them, and the service relays their streams to daemon.sock, or over a link that sshstdio or quic makes.
func runBroker(idle time.Duration) error {
	debug.SetGCPercent(brokerGC)
	oneThread()
	var b *broker.Broker
	var q *questions
	sleep := wake.New()
	defer func() {
		_ = sleep.Close()
		if b != nil {
			b.Close() // what leads to other machines ends with this process
			q.close()
		}
	}()
	return runService(talk.BrokerService, protocol.MaxBrokerClients, func(s *service) error {
		q = newQuestions(s.dir, s.log)
		ssh := &sshstdio.Dialer{Converse: converse, Begin: begin, Env: sshEnvironment(s.dir), Questions: q.open}
		b = broker.New(broker.Options{
			Daemon: localDaemon{s.dir}, Remote: remote(ssh, sleep),
			Hosts: hostfile.In(s.dir.State()), Visitor: ssh, Warn: func(err error) { s.log.Warn("hosts", "why", err) },
			Converse: converseWithDaemon, Version: version, Idle: idle, Refused: s.claim.Refused,
		})
		endpoint := brokeripc.Broker{Software: software(), Epoch: epoch(), Numbers: b.Numbers, Operate: b.Operate, Subscribed: b.Subscribed, Previewed: b.Previewed}
		s.idle = b.Run
		s.handle = func(ctx context.Context, conn net.Conn) error {
			client, err := brokeripc.Accept(ctx, conn, endpoint)
			if err != nil {
				return err
			}
			return b.Serve(ctx, client)
		}
		return nil
	})
}

// remote is how other machines are reached: with the user's ssh, and over QUIC where that leads to a proxy.
func remote(ssh *sshstdio.Dialer, sleep ports.Sleep) broker.Remote {
	udp := &quic.Dialer{Roles: ssh, Locate: ssh.Locate, Converse: ssh.Converse}
	return broker.Remote{SSH: ssh, QUIC: udp, Resumable: udp.Resumable, Forget: udp.Forget, Sleep: sleep}
}

// sshEnvironment is what ssh gets beside the broker's environment: not the agent of the login that
// started the broker, but that of the newest client.
func sshEnvironment(dir *rundir.Dir) []string {
	if place := dir.DialAgent(); place != "" {
		return []string{talk.EnvAgent + "=" + place}
	}
	return nil
}

// converse begins the broker conversation with the mux helper of another machine.
func converse(ctx context.Context, carriage io.ReadWriteCloser) (ports.Link, error) {
	client, err := brokeripc.Dial(ctx, carriage, software())
	if err != nil {
		return nil, err // never a nil client that is not a nil link
	}
	return client, nil
}

// begin is converse that asks for a stream as it begins.
func begin(o *protocol.Opening) ([]byte, sshstdio.Converse) {
	b, err := brokeripc.Begin(software(), o)
	if err != nil { // what a client asked for cannot be said this way
		return nil, converse
	}
	return b.Bytes(), func(ctx context.Context, carriage io.ReadWriteCloser) (ports.Link, error) {
		client, err := b.Dial(ctx, carriage)
		if err != nil {
			return nil, err // as above
		}
		return client, nil
	}
}

// converseWithDaemon begins a session conversation of the broker's own. It takes nothing packed: what unpacks would be most of
// what a host costs that is only watched.
func converseWithDaemon(ctx context.Context, carriage io.ReadWriteCloser) (ports.SessionClientConn, error) {
	conn, err := sessionwire.Client(ctx, carriage, software(), protocol.FeatureNone)
	if err != nil {
		return nil, err // never a nil conversation that is not nil
	}
	return conn, nil
}

// epoch tells this broker process from every other. It is never 0.
func epoch() uint64 { return rand.Uint64() | 1 }

// localDaemon leads a broker to the daemon of its own machine.
type localDaemon struct{ dir *rundir.Dir }

var _ ports.DaemonDialer = localDaemon{}

// DialDaemon connects to daemon.sock. Under protocol.ExistingOnly the fault is NotFound when no
// daemon runs; one that holds its lock and does not listen is waited for: it is putting its
// socket back, or is about to end.
func (l localDaemon) DialDaemon(ctx context.Context, start protocol.StartPolicy) (io.ReadWriteCloser, error) {
	if start == protocol.StartIfNeeded {
		return unlessFailed(l.dir.DialOrStart(ctx, rundir.Service{Name: talk.DaemonService}))
	}
	for pause := talk.FirstPause; ; pause = min(2*pause, talk.LastPause) {
		conn, err := l.dir.Dial(ctx, talk.DaemonService)
		if fault.KindOf(err) != fault.Unavailable {
			return unlessFailed(conn, err)
		}
		if !talk.Running(l.dir, talk.DaemonService) {
			return nil, talk.ErrNoDaemon
		}
		if !talk.Sleep(ctx, pause) {
			return nil, err
		}
	}
}

// unlessFailed keeps a nil pointer from becoming a carriage that is not nil.
func unlessFailed(conn *net.UnixConn, err error) (io.ReadWriteCloser, error) {
	if err != nil {
		return nil, err
	}
	return conn, nil
}
