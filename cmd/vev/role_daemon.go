package main

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/pty"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// software is how this program names itself to its peers.
func software() string { return "vev " + version }

func (c *cli) cmdDaemon() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use:    "_daemon",
		Hidden: true,
		Short:  "Own the sessions of this machine (started when needed)",
		Args:   argCount(0, 0),
		RunE:   func(*cobra.Command, []string) error { return runDaemon(idle) },
	}
	cmd.Flags().DurationVar(&idle, "idle", daemon.DefaultIdle, "end after `DUR` without session and conversation")
	return cmd
}

// runDaemon composes the daemon: rundir gives connections, sessionwire makes conversations of
// them, the service serves those and starts programs through pty.
func runDaemon(idle time.Duration) error {
	return runService(talk.DaemonService, protocol.MaxConversations, func(s *service) error {
		d := daemon.New(daemon.Options{
			Audit: auditLog(s.dir, s.log), Programs: &pty.Programs{}, Agents: s.dir, Environment: os.Environ, Version: version, Log: s.log, Idle: idle, Refused: s.claim.Refused,
		})
		s.idle, s.end = d.Run, d.Close
		s.handle = func(ctx context.Context, conn net.Conn) error {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			talk, err := sessionwire.Server(conn, software())
			stop()
			if err != nil {
				return err
			}
			return d.Serve(ctx, talk)
		}
		return nil
	})
}
