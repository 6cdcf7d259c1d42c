package main

import (
	"context"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/config"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/talk"
)

const (
	// quicService is the name of the proxy's socket, lock and log; who comes to the socket gets a readiness line.
	quicService = "quic"
	quicProxy   = "_broker-mux-quic-proxy"
	// maxBootstraps is how many may come at once.
	maxBootstraps = 8
	// inviteTime is how long one may take to read its line.
	inviteTime = 5 * time.Second
)

func (c *cli) cmdQUICBootstrap() *cobra.Command {
	var spare time.Duration
	cmd := &cobra.Command{
		Use:    quic.BootstrapRole,
		Hidden: true,
		Short:  "Let another machine's broker in over QUIC (started by it, through ssh)",
		Args:   argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tty.IsTerminal(c.stdout) {
				return fault.New(fault.Usage, "%s speaks to a broker, not to a terminal", quic.BootstrapRole).
					WithHint("vev attach shows a session")
			}
			return runQUICBootstrap(cmd.Context(), c.stdout, spare)
		},
	}
	cmd.Flags().DurationVar(&spare, "spare", quic.DefaultSpare, "have a proxy that is started end `DUR` after the daemon")
	return cmd
}

// runQUICBootstrap has a proxy run and passes on the line that it answers with. What is secret goes through a socket that
// is this user's alone, and through standard output.
func runQUICBootstrap(ctx context.Context, out *os.File, spare time.Duration) error {
	dir, err := rundir.Open()
	if err != nil {
		return err
	}
	conn, err := dialProxy(ctx, dir, spare)
	if err != nil {
		return err
	}
	defer conn.Close()
	line, err := io.ReadAll(io.LimitReader(conn, quic.MaxReadyBytes))
	defer clear(line)
	if err != nil || len(line) == 0 {
		return fault.Wrap(fault.Unavailable, err, "the QUIC proxy lets nobody in").WithHint("see %s", dir.Log(quicService))
	}
	if _, err := out.Write(line); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the broker does not listen")
	}
	return nil
}

// dialProxy connects to the proxy, which is started if need be and says its readiness line: from here on this process has
// something to hide.
func dialProxy(ctx context.Context, dir *rundir.Dir, spare time.Duration) (net.Conn, error) {
	quic.Conceal()
	conn, err := dir.DialOrStart(ctx, rundir.Service{Name: quicService, Args: []string{quicProxy, "--spare", spare.String()}})
	if err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(inviteTime))
	}
	return conn, err
}

func (c *cli) cmdQUICProxy() *cobra.Command {
	var spare time.Duration
	cmd := &cobra.Command{
		Use:    quicProxy,
		Hidden: true,
		Short:  "Lead other machines' brokers to this one's daemon over QUIC (started when needed)",
		Args:   argCount(0, 0),
		RunE:   func(*cobra.Command, []string) error { return runQUICProxy(spare) },
	}
	cmd.Flags().DurationVar(&spare, "spare", quic.DefaultSpare, "end `DUR` after the daemon")
	return cmd
}

// runQUICProxy composes the proxy: each connection that it lets in is a client of a broker service that knows no host but
// this machine.
func runQUICProxy(spare time.Duration) error {
	oneThread()
	quic.Conceal()
	var proxy *quic.Proxy
	defer func() {
		if proxy != nil {
			proxy.Close()
		}
	}()
	return runService(quicService, maxBootstraps, func(s *service) error {
		chosen, err := config.Read(s.dir.Config())
		if err != nil { // of no other kind: who started this did nothing wrong
			return fault.Wrap(fault.Unavailable, err, "%s", err)
		}
		b := broker.New(broker.Options{Daemon: localDaemon{s.dir}, Version: version})
		endpoint := brokeripc.Broker{Software: software(), Epoch: epoch(), Numbers: b.Numbers}
		proxy, err = quic.Listen(quic.Options{
			Ports: quic.Ports{First: chosen.QUICPorts[0], Last: chosen.QUICPorts[1]}, Log: s.log, Serve: b.Serve,
			Accept: func(ctx context.Context, carriage io.ReadWriteCloser) (ports.BrokerConn, error) {
				return unlessRefused(brokeripc.Accept(ctx, carriage, endpoint))
			},
			DaemonRuns: func() bool { return talk.Running(s.dir, talk.DaemonService) },
			Spare:      spare,
		})
		if err != nil {
			return err
		}
		s.idle, s.end = proxy.Run, func(context.Context) { proxy.Close() }
		s.handle = func(_ context.Context, conn net.Conn) error { return invite(proxy, conn) }
		return nil
	})
}

// unlessRefused keeps a nil pointer from becoming a conversation that is not nil.
func unlessRefused(server *brokeripc.Server, err error) (ports.BrokerConn, error) {
	if err != nil {
		return nil, err
	}
	return server, nil
}

// invite answers a bootstrap.
func invite(proxy *quic.Proxy, conn net.Conn) error {
	defer conn.Close()
	line, err := proxy.Invite()
	if err != nil {
		return err
	}
	defer clear(line)
	_ = conn.SetWriteDeadline(time.Now().Add(inviteTime))
	_, err = conn.Write(line)
	return err
}
