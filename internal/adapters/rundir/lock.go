package rundir

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

// The kernel can wait for a lock only in a thread that nothing ends, so a waiter looks again:
// at first often, because most locks are held for a moment, then less.
const (
	firstLook = time.Millisecond
	lastLook  = 20 * time.Millisecond
)

// Lock is an exclusive lock among this user's processes on this machine. The system releases
// it with the process, however that ends.
type Lock struct {
	dir  *Dir
	name string
	f    *os.File
}

// Lock waits until the lock is free or ctx ends (Timeout or Canceled).
func (d *Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		l, err := d.TryLock(name)
		if fault.KindOf(err) != fault.Conflict {
			return l, err
		}
		if werr := sleep(ctx, pause); werr != nil {
			return nil, fault.Wrap(ctxKind(werr), err, "waited for the lock %q in vain", name)
		}
	}
}

// TryLock takes the lock now, or returns a Conflict that names who holds it.
func (d *Dir) TryLock(name string) (*Lock, error) {
	f, err := d.lock(name, unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	// For messages only; what counts is the lock.
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &Lock{dir: d, name: name, f: f}, nil
}

// Look returns a Conflict that names who holds the lock, nil when it is free. Those who look at once do not see each other,
// and who takes it with Lock meanwhile waits for a moment.
func (d *Dir) Look(name string) error {
	f, err := d.lock(name, unix.LOCK_SH)
	if err != nil {
		return err
	}
	return (&Lock{f: f}).Unlock()
}

// lock locks the file of a lock, unix.LOCK_EX or unix.LOCK_SH.
func (d *Dir) lock(name string, how int) (*os.File, error) {
	state, err := d.openState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	for {
		f, err := d.openFile(state, d.lockName(name), unix.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err = flock(f, how|unix.LOCK_NB); err != nil {
			held := holder(f)
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, fault.New(fault.Conflict, "process %s holds the lock %q", held, name)
			}
			return nil, fault.Wrap(fault.Unavailable, err, "cannot lock %s", f.Name()).
				WithHint("the file system must support flock")
		}
		if sameFile(int(state.Fd()), d.lockName(name), f) {
			return f, nil
		}
		f.Close() // taken away between opening and locking: locked, but no longer the lock
	}
}

// Unlock releases the lock. The file stays: removing it would let two hold "the" lock.
func (l *Lock) Unlock() error {
	// Explicitly, since a process being started at this instant shares the description.
	return errors.Join(flock(l.f, unix.LOCK_UN), l.f.Close())
}

// inPlace reports whether the lock is still the one that its name leads to. It makes nothing.
func (l *Lock) inPlace() bool {
	return sameFile(unix.AT_FDCWD, filepath.Join(l.dir.state, l.dir.lockName(l.name)), l.f)
}

// keep makes sure that the lock is still the one others look for: when its file was taken
// away, the new one is locked as well. A Conflict says that somebody else has that.
func (l *Lock) keep(state *os.File) error {
	if sameFile(int(state.Fd()), l.dir.lockName(l.name), l.f) {
		return nil
	}
	anew, err := l.dir.TryLock(l.name)
	if err != nil {
		return err
	}
	old := l.f
	l.f = anew.f
	return old.Close()
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

func sameFile(dirfd int, name string, f *os.File) bool {
	var path, open unix.Stat_t
	return unix.Fstatat(dirfd, name, &path, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		unix.Fstat(int(f.Fd()), &open) == nil && path.Dev == open.Dev && path.Ino == open.Ino
}

// holder reads the process id that the holder of a lock wrote.
func holder(f *os.File) string {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 16))
	if pid := strings.TrimSpace(string(b)); pid != "" {
		return fault.Clean(pid)
	}
	return "unknown"
}

// sleep waits for d, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ctxKind(err error) fault.Kind {
	if errors.Is(err, context.Canceled) {
		return fault.Canceled
	}
	return fault.Timeout
}
