package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain/fault"
)

// endGrace bounds an orderly end: programs are hung up on and get this long before they are
// killed, conversations to say goodbye.
const endGrace = 5 * time.Second

// codeIdle is how long nothing new began before a process gives back the pages of its executable
// that starting and serving took: half of its memory, and hardly any is needed again. Those that
// are come back from the system's cache, some microseconds each.
const codeIdle = 2 * time.Second

// drainTime is how long conversations go on after a service was told to end: short ones get
// their answer, long ones move to the next instance.
const drainTime = 200 * time.Millisecond

// errTold is why a service ends when somebody asked it to.
var errTold = errors.New("asked to end")

// service is the life of a process that others start: it accepts connections, a goroutine each,
// until it is idle or told to end.
type service struct {
	dir   *rundir.Dir
	claim *rundir.Claim
	log   *slog.Logger
	// handle is one connection, until its end or ctx's. It closes conn.
	handle func(ctx context.Context, conn net.Conn) error
	// idle returns nil when nothing is left to do, or ctx's cause.
	idle func(ctx context.Context) error
	// end, or nil, takes leave of those that are connected; nobody new comes any more.
	end func(ctx context.Context)

	slots  chan struct{}   // one is held for each connection; when none is free accept waits
	late   []*net.UnixConn // accepted by nobody yet; run's and accept's by turns
	active atomic.Int64
	all    sync.WaitGroup // connections
	left   sync.WaitGroup // the farewell
}

// oneThread is for a role that passes on what others say: it does so sooner with one thread, since no other has to be woken
// for the next step.
func oneThread() { runtime.GOMAXPROCS(1) }

// runService is what both roles have in common; at most most connections are served at a time,
// and build sets what the role does with them. Whoever started this process is told how that
// went, on every path.
func runService(name string, most int, build func(*service) error) error {
	err := startService(name, most, build)
	rundir.Started(err)
	return err
}

func startService(name string, most int, build func(*service) error) error {
	told, stop := endSignals()
	defer stop()
	if err := os.Chdir("/"); err != nil { // keep no directory busy
		return fault.Wrap(fault.Unavailable, err, "cannot change to /")
	}
	dir, err := rundir.Open()
	if err != nil {
		return err
	}
	claim, err := dir.Hold(told, name)
	if err != nil {
		return err
	}
	s := &service{
		dir: dir, claim: claim, slots: make(chan struct{}, most),
		log: slog.New(slog.NewTextHandler(os.Stderr, nil)).With("role", name, "pid", os.Getpid()),
	}
	if err := build(s); err != nil {
		return errors.Join(err, claim.Close())
	}
	serving, cancel := context.WithCancel(context.Background())
	defer cancel()
	if conn := rundir.First(); conn != nil {
		s.slots <- struct{}{}
		s.serve(serving, conn)
		runtime.Gosched() // what takes long, as reaching another machine, begins before this one is listened to
	}
	if err := claim.Listen(); err != nil {
		s.leave(cancel)
		return errors.Join(err, claim.Close())
	}
	rundir.Started(nil)
	s.log.Info("started", "version", version)
	err = s.run(told, serving)
	s.log.Info("ending", "why", why(err))
	s.leave(cancel)
	return errors.Join(unlessTold(err), claim.Close())
}

// farewell takes leave in the background, at once: what a connection asks for from now on is
// refused, and asked of the next instance.
func (s *service) farewell() {
	s.left.Go(func() {
		grace, stop := context.WithTimeout(context.Background(), endGrace)
		defer stop()
		if s.end != nil {
			s.end(grace)
		}
	})
}

// leave waits for what is connected to end: in order, then cut off, then with the process.
func (s *service) leave(cancel func()) {
	if !waitFor(&s.left, endGrace+drainTime) {
		s.log.Error("the farewell does not end")
	}
	if waitFor(&s.all, drainTime) {
		return
	}
	cancel()
	if !waitFor(&s.all, endGrace) {
		s.log.Error("connections do not end", "count", s.active.Load())
	}
}

// waitFor waits for a group, at most for a time; false: that was not enough. The goroutine that
// waits then ends with the process, which is about to end.
func waitFor(group *sync.WaitGroup, most time.Duration) bool {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// endSignals gives a context that ends, with errTold, on a signal that asks for the end. The
// terminal's hang-up is caught and not ignored: what is ignored would stay so in the programs
// that this process starts.
func endSignals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	hups, ends := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hups, syscall.SIGHUP)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ends:
			cancel(errTold)
		case <-done:
		}
	})
	return ctx, func() {
		close(done)
		watch.Wait()
		signal.Stop(hups)
		signal.Stop(ends)
		cancel(nil)
	}
}

// run accepts until the service is idle or told ends. Being idle counts only when nobody came
// while the socket was taken away: whoever did is served, and the socket put back.
func (s *service) run(told, serving context.Context) error {
	for {
		retired := make(chan struct{})
		var accepting sync.WaitGroup
		accepting.Go(func() { s.accept(serving, retired) })
		err := s.idle(told)
		if err != nil {
			s.farewell()
		}
		close(retired)
		late := s.claim.Retire()
		accepting.Wait()
		s.late = append(s.late, late...)
		if err == nil && len(s.late) == 0 && s.active.Load() == 0 {
			return nil
		}
		if err == nil {
			err = s.claim.Resume()
		}
		if err != nil {
			for _, conn := range s.late {
				_ = conn.Close()
			}
			return err
		}
	}
}

// accept serves the connections that came late, then those that the claim gives, until it is
// retired.
func (s *service) accept(serving context.Context, retired <-chan struct{}) {
	code, rest := time.AfterFunc(codeIdle, releaseCode), time.AfterFunc(2*codeIdle, releaseCode)
	defer code.Stop()
	defer rest.Stop()
	for {
		select {
		case s.slots <- struct{}{}:
		case <-retired:
			return
		}
		conn, err := s.next()
		if err != nil {
			<-s.slots
			return
		}
		code.Reset(codeIdle)
		rest.Reset(2 * codeIdle) // once more, without what still had to end
		s.serve(serving, conn)
	}
}

func (s *service) next() (net.Conn, error) {
	if len(s.late) > 0 {
		conn := s.late[0]
		s.late = s.late[1:]
		return conn, nil
	}
	return s.claim.Accept()
}

// serve handles conn on a goroutine of its own, which gives the slot back. A panic ends that
// connection only.
func (s *service) serve(ctx context.Context, conn net.Conn) {
	s.active.Add(1)
	s.all.Go(func() {
		defer func() { <-s.slots }()
		defer s.active.Add(-1)
		defer func() {
			if p := recover(); p != nil {
				_ = conn.Close()
				s.log.Error("a connection failed; this is a bug of vev", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		err := s.handle(ctx, conn)
		if err == nil || ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
			return // in order, by us, or the other side just went away
		}
		s.log.Warn("a connection ended", "why", err)
	})
}

func why(err error) string {
	if err == nil {
		return "idle"
	}
	return err.Error()
}

// unlessTold is err, but nil when the end was asked for.
func unlessTold(err error) error {
	if errors.Is(err, errTold) {
		return nil
	}
	return err
}
