package rundir

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// startPatience bounds the whole of DialOrStart when ctx does not.
	startPatience = 15 * time.Second
	// maxLog is the size from which a log is moved to NAME.log.1 at the next start.
	maxLog = 1 << 20
	// maxFirst bounds what a service is told with its start; a socket takes so much at once.
	maxFirst = 32 << 10
	// startAttempts bounds how often DialOrStart starts a service that says it serves and then
	// cannot be reached: each time somebody ended it in between.
	startAttempts = 5
)

// Service is a process that DialOrStart may start.
type Service struct {
	Name string   // of its socket, lock and log
	Args []string // behind the name of the executable; empty: "_NAME"
	// Program is the executable to start; empty: our own. Another's caller is a program of its own, whose inherited
	// descriptors are not ours to seal.
	Program string
}

// DialOrStart connects to a service of this user on this machine and starts it first when it
// does not run. Many may do so at once: one process is started and all are served. The service
// runs detached: its own session, no terminal, directory "/", output to its log. Waits at most
// 15 s, less if ctx says so.
//
// Faults: what the service itself says against starting; Timeout and Canceled by ctx;
// Unavailable, with the log's name, when it ends without a word.
func (d *Dir) DialOrStart(ctx context.Context, s Service) (*net.UnixConn, error) {
	conn, _, err := d.DialOrStartSaying(ctx, s, nil)
	return conn, err
}

// DialOrStartSaying is DialOrStart for a caller that would say first, of at most maxFirst bytes, on the connection. A service
// that has to be started finds it said, on a connection that it has before it listens (see First); said tells that it has
// taken that one. Else nothing was said.
func (d *Dir) DialOrStartSaying(ctx context.Context, s Service, first []byte) (conn *net.UnixConn, said bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	conn, err = d.Dial(ctx, s.Name)
	if err == nil || !absent(err) {
		return conn, false, err
	}
	lock, err := d.Lock(ctx, s.Name+".start")
	if err != nil {
		return nil, false, err
	}
	defer lock.Unlock()
	for range startAttempts {
		conn, err = d.await(ctx, s.Name)
		if err == nil || !absent(err) {
			return conn, false, err
		}
		conn, serr := d.start(ctx, s, first)
		if serr != nil || conn != nil {
			return conn, serr == nil, serr
		}
	}
	return nil, false, fault.Wrap(fault.Unavailable, err, "the %s ends as soon as it is started", s.Name).
		WithHint("see %s", d.Log(s.Name))
}

// await dials until somebody answers, or nobody holds the life lock and so nobody will. An old
// instance may be finishing, or be putting its socket back.
func (d *Dir) await(ctx context.Context, name string) (*net.UnixConn, error) {
	deadline := time.Now().Add(claimPatience)
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		conn, err := d.Dial(ctx, name)
		if err == nil || !absent(err) {
			return conn, err
		}
		lerr := d.Look(name)
		if lerr == nil {
			return nil, err
		}
		if fault.KindOf(lerr) != fault.Conflict {
			return nil, lerr
		}
		if time.Now().After(deadline) {
			return nil, fault.New(fault.Unavailable, "the old %s neither serves nor ends", name).
				WithHint("%s; see %s", lerr.Error(), d.Log(name))
		}
		if werr := sleep(ctx, pause); werr != nil {
			return nil, fault.Wrap(ctxKind(werr), lerr, "waited in vain for the old %s to end", name).
				WithHint("see %s", d.Log(name))
		}
	}
}

// start starts the service and waits until it serves. It returns the connection on which that was told first, nil if the
// service did not take it.
func (d *Dir) start(ctx context.Context, s Service, first []byte) (*net.UnixConn, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot start the %s", s.Name)
	}
	defer r.Close()
	ours, theirs := saying(first)
	child, err := d.spawn(s, w, theirs)
	w.Close()
	if theirs != nil {
		theirs.Close()
	}
	var taken bool
	if err == nil {
		reap(child)
		taken, err = d.ready(ctx, s, r)
	}
	if ours != nil && (err != nil || !taken) {
		ours.Close()
		ours = nil
	}
	return ours, err
}

// saying makes a connection on which first is said, and the other end of it; nil if there is nothing to say, or it cannot be
// said this way.
func saying(first []byte) (ours *net.UnixConn, theirs *os.File) {
	if len(first) == 0 || len(first) > maxFirst {
		return nil, nil
	}
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil
	}
	theirs = os.NewFile(uintptr(fds[1]), "first")
	if ours = connOf(fds[0]); ours != nil {
		if n, err := ours.Write(first); err == nil && n == len(first) {
			return ours, theirs
		}
		ours.Close()
	}
	theirs.Close()
	return nil, nil
}

// ready waits for the line that a started service writes to r's other end; taken: it has the connection it was given.
func (d *Dir) ready(ctx context.Context, s Service, r *os.File) (taken bool, err error) {
	line := make(chan string, 1)
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		text, _ := bufio.NewReader(io.LimitReader(r, maxReadyLine)).ReadString('\n')
		line <- text
	})
	var text string
	select {
	case text = <-line:
	case <-ctx.Done():
		r.Close()
		return false, fault.Wrap(ctxKind(ctx.Err()), ctx.Err(), "the %s does not get ready", s.Name).
			WithHint("see %s", d.Log(s.Name))
	}
	if ok, taken, err := parseReady(text); ok {
		return taken, err
	}
	return false, fault.New(fault.Unavailable, "the %s ended while starting", s.Name).WithHint("see %s", d.Log(s.Name))
}

// reap takes the child's status whenever it ends. Nobody joins this goroutine: the child
// outlives most starters, whose end then hands it to init.
func reap(child *os.Process) {
	new(sync.WaitGroup).Go(func() { child.Wait() })
}

func (d *Dir) spawn(s Service, ready, first *os.File) (*os.Process, error) {
	log, err := d.openLog(s.Name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot start the %s", s.Name)
	}
	defer null.Close()
	exe := s.Program
	if exe == "" {
		if exe, err = Executable(); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "cannot find our own executable").
				WithHint("install vev again")
		}
		sealDescriptors()
	}
	args := s.Args
	if len(args) == 0 {
		args = []string{"_" + s.Name}
	}
	files, env := []*os.File{null, log, log, ready}, d.environment()
	if first != nil {
		files, env = append(files, first), append(env, firstEnv+"="+strconv.Itoa(firstFD))
	}
	child, err := os.StartProcess(exe, slices.Concat([]string{os.Args[0]}, args), &os.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot start the %s", s.Name).WithHint("check %s", exe)
	}
	return child, nil
}

// environment is our own, with what the child must know.
func (d *Dir) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, readyEnv+"=") || strings.HasPrefix(kv, firstEnv+"=") || d.home != "" && strings.HasPrefix(kv, homeEnv+"=")
	})
	if d.home != "" {
		env = append(env, homeEnv+"="+d.home) // absolute: the child's directory is another
	}
	return append(env, readyEnv+"=3")
}

// openLog opens a service's log for appending. A long one is moved aside first; the start
// lock is held, so nobody else does that now.
func (d *Dir) openLog(name string) (*os.File, error) {
	state, err := d.openState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	for {
		log, err := d.openFile(state, d.logName(name), unix.O_WRONLY|unix.O_APPEND)
		if err != nil {
			return nil, err
		}
		if st, err := log.Stat(); err != nil || st.Size() <= maxLog {
			return log, nil
		}
		dir := int(state.Fd())
		if unix.Renameat(dir, d.logName(name), dir, d.logName(name)+".1") != nil {
			return log, nil // a long log is better than none
		}
		log.Close()
	}
}
