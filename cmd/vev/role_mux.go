package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/sshstdio"
	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdMuxStdio() *cobra.Command {
	return &cobra.Command{
		Use:    "_broker-mux-stdio",
		Hidden: true,
		Short:  "Lead another machine's broker to this one's daemon (started by it, through ssh)",
		Args:   argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tty.IsTerminal(c.in) || tty.IsTerminal(c.stdout) {
				return fault.New(fault.Usage, "_broker-mux-stdio speaks to a broker, not to a terminal").
					WithHint("vev attach shows a session")
			}
			return runMuxStdio(cmd.Context(), c.in, c.stdout)
		},
	}
}

// runMuxStdio is a broker with one client, the broker of another machine, and no host but this
// machine. Whether a daemon may be started each stream says for itself. It ends with the carriage.
func runMuxStdio(ctx context.Context, in, out *os.File) error {
	oneThread()
	dir, err := rundir.Open()
	if err != nil {
		return err
	}
	carriage, err := newStdio(in, out)
	if err != nil {
		return err
	}
	carriage.ahead = sshstdio.TakeAhead()
	carriage.again = len(carriage.ahead)
	b := broker.New(broker.Options{
		Daemon: localDaemon{dir}, Version: version,
		Invite: func(ctx context.Context) (io.ReadWriteCloser, error) { return dialProxy(ctx, dir, quic.DefaultSpare) },
	})
	defer b.Close()
	endpoint := brokeripc.Broker{Software: software(), Epoch: epoch(), Numbers: b.Numbers}
	client, err := brokeripc.Accept(ctx, carriage, endpoint)
	if err != nil {
		return err
	}
	return b.Serve(ctx, client)
}

// stdio makes one carriage of standard input and output. Its reads can be interrupted and its
// writes tried, as on a socket, where the files are pipes or sockets.
type stdio struct {
	in, out *os.File
	reads   io.Reader // in
	writes  io.Writer // out

	// The reader's.
	ahead []byte // is known of the input, and not read yet
	again int    // bytes that come all the same, and are not to be read twice
}

var _ io.ReadWriteCloser = (*stdio)(nil)

// newStdio takes over in and out: what was made of their descriptors before must not be used.
func newStdio(in, out *os.File) (*stdio, error) {
	s := &stdio{}
	for _, f := range []struct {
		from *os.File
		to   **os.File
	}{{in, &s.in}, {out, &s.out}} {
		fd, err := unix.FcntlInt(f.from.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			err = unix.SetNonblock(fd, true) // or a read could not be ended: nothing else reads this file
		}
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "cannot use %s", f.from.Name())
		}
		*f.to = os.NewFile(uintptr(fd), f.from.Name())
	}
	s.reads, s.writes = descriptor.OfFile(s.in), descriptor.OfFile(s.out)
	return s, nil
}

// Read implements io.Reader.
func (s *stdio) Read(p []byte) (int, error) {
	if len(s.ahead) > 0 {
		n := copy(p, s.ahead)
		s.ahead = s.ahead[n:]
		return n, nil
	}
	for s.again > 0 && len(p) > 0 {
		n, err := s.reads.Read(p[:min(len(p), s.again)])
		s.again -= n
		if err != nil {
			return 0, err
		}
	}
	return s.reads.Read(p)
}

func (s *stdio) Write(p []byte) (int, error)           { return s.writes.Write(p) }
func (s *stdio) SetReadDeadline(t time.Time) error     { return s.in.SetReadDeadline(t) }
func (s *stdio) SyscallConn() (syscall.RawConn, error) { return s.out.SyscallConn() }
func (s *stdio) Close() error                          { return errors.Join(s.in.Close(), s.out.Close()) }
