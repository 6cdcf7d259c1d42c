package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync"

	"github.com/vev-term/vev/internal/adapters/askpass"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// askpassName is how ssh starts this program to ask something: by a link beside the sockets.
	askpassName = "vev-askpass"
	// askpassService is the socket that it finds the broker at.
	askpassService = "askpass"
)

// askpass asks what ssh wants to know, by way of the broker, and prints the answer.
func (c *cli) askpass(args []string) int {
	text := ""
	if len(args) > 0 {
		text = args[0]
	}
	answer, err := askBroker(text)
	if err == nil {
		_, err = c.stdout.Write(append(answer, '\n'))
	}
	if err != nil {
		return exitFailed // ssh says what it lacks
	}
	return exitOK
}

func askBroker(text string) ([]byte, error) {
	dir, err := rundir.Open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), protocol.HandshakeTimeout)
	defer cancel()
	conn, err := dir.Dial(ctx, askpassService)
	if err != nil {
		return nil, err
	}
	return askpass.Question(conn, os.Getenv(askpass.IDVariable), text)
}

// questions are what a broker's ssh asks. They are listened to from the first dial on that may ask:
// most brokers never have one.
type questions struct {
	dir  *rundir.Dir
	log  *slog.Logger
	turn chan struct{} // cap 1: held by who looks at, or makes, the rest

	desk  *askpass.Desk // nil: there was no such dial yet
	claim *rundir.Claim
	all   sync.WaitGroup
}

func newQuestions(dir *rundir.Dir, log *slog.Logger) *questions {
	return &questions{dir: dir, log: log, turn: make(chan struct{}, 1)}
}

// open is the Questions of an sshstdio.Dialer.
func (q *questions) open(ctx context.Context, host string, ask ports.Ask) (env []string, done func()) {
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	if q.desk == nil {
		if err := q.listen(ctx); err != nil {
			q.log.Error("ssh cannot ask anything", "why", err)
			return nil, func() {}
		}
	}
	return q.desk.Open(ctx, host, ask)
}

// listen takes what is asked, until close.
func (q *questions) listen(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	link, err := q.dir.Alias(askpassName, exe)
	if err != nil {
		return err
	}
	if q.claim, err = q.dir.Claim(ctx, askpassService); err != nil {
		return err
	}
	q.desk = askpass.NewDesk(link)
	q.all.Go(func() {
		for {
			conn, err := q.claim.Accept()
			if err != nil {
				return // closed
			}
			q.all.Go(func() { q.serve(conn) })
		}
	})
	return nil
}

func (q *questions) serve(conn net.Conn) {
	if err := q.desk.Serve(conn); err != nil && fault.KindOf(err) == fault.Violation {
		q.log.Warn("a question was refused", "why", err)
	}
}

// close is for when no ssh is left that could ask.
func (q *questions) close() error {
	if q.desk == nil {
		return nil
	}
	err := q.claim.Close()
	q.all.Wait()
	return err
}

// person is who can be asked: whoever sits at the terminal of standard input.
func (c *cli) person() ports.Ask {
	if !tty.IsTerminal(c.in) {
		return nil
	}
	return func(ctx context.Context, q protocol.Prompt) ([]byte, error) {
		return tty.Question(ctx, printable(q.Host+": "+q.Text), q.Echo)
	}
}
