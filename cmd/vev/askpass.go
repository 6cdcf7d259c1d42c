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
	"github.com/vev-term/vev/internal/talk"
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
	conn, err := dialWhile(ctx, dir, askpassService, talk.BrokerService)
	if err != nil {
		return nil, err
	}
	return askpass.Question(conn, os.Getenv(askpass.IDVariable), text)
}

// dialWhile connects to a service. One that does not listen is waited for, as long as a process holds a life lock: it is about
// to listen, is putting its socket back, or is about to end.
func dialWhile(ctx context.Context, dir *rundir.Dir, name, life string) (*net.UnixConn, error) {
	for pause := talk.FirstPause; ; pause = min(2*pause, talk.LastPause) {
		conn, err := dir.Dial(ctx, name)
		if fault.KindOf(err) != fault.Unavailable || !talk.Running(dir, life) || !talk.Sleep(ctx, pause) {
			return conn, err
		}
	}
}

// questions are what a broker's ssh asks. They are listened to from the first dial on that may ask:
// most brokers never have one.
type questions struct {
	dir  *rundir.Dir
	log  *slog.Logger
	end  context.Context // of waiting to listen
	stop context.CancelFunc
	all  sync.WaitGroup
	turn chan struct{} // cap 1: held by who looks at, or makes, the rest

	desk *askpass.Desk // nil: there was no such dial yet
}

func newQuestions(dir *rundir.Dir, log *slog.Logger) *questions {
	end, stop := context.WithCancel(context.Background())
	return &questions{dir: dir, log: log, end: end, stop: stop, turn: make(chan struct{}, 1)}
}

// open is the Questions of an sshstdio.Dialer.
func (q *questions) open(ctx context.Context, host string, ask ports.Ask) (env []string, done func()) {
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	if q.desk == nil {
		if err := q.begin(); err != nil {
			q.log.Error("ssh cannot ask anything", "why", err)
			return nil, func() {}
		}
	}
	return q.desk.Open(ctx, host, ask)
}

// begin makes the desk. Listening begins beside ssh, which asks nothing before it has a connection: who comes to ask sooner
// waits for it.
func (q *questions) begin() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	link, err := q.dir.Alias(askpassName, exe)
	if err != nil {
		return err
	}
	desk := askpass.NewDesk(link)
	q.desk = desk
	q.all.Go(func() {
		if err := q.listen(desk); err != nil && q.end.Err() == nil {
			q.log.Error("ssh cannot ask anything", "why", err)
			q.turn <- struct{}{}
			q.desk = nil // the next dial tries again
			<-q.turn
		}
	})
	return nil
}

// listen takes what is asked, until close.
func (q *questions) listen(desk *askpass.Desk) error {
	claim, err := q.dir.Claim(q.end, askpassService)
	if err != nil {
		return err
	}
	defer context.AfterFunc(q.end, func() { _ = claim.Close() })()
	for {
		conn, err := claim.Accept()
		if err != nil {
			return claim.Close() // it was closed: this waits for that
		}
		q.all.Go(func() { q.serve(desk, conn) })
	}
}

func (q *questions) serve(desk *askpass.Desk, conn net.Conn) {
	if err := desk.Serve(conn); err != nil && fault.KindOf(err) == fault.Violation {
		q.log.Warn("a question was refused", "why", err)
	}
}

// close is for when no ssh is left that could ask.
func (q *questions) close() {
	q.stop()
	q.all.Wait()
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
