package hostfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// Names within the directory.
const (
	fileName    = "hosts"
	lastName    = "hosts.last"
	damagedName = "hosts.damaged"
	lockName    = "hosts.lock"
	freshSuffix = ".new-"
	fileMode    = 0o600
)

// lockPause is between two looks at a lock that another process holds, for a few milliseconds as a rule.
const lockPause = 5 * time.Millisecond

// Store keeps hosts in a directory, as ports.HostStore says. It holds no descriptor between calls.
type Store struct {
	dir string
}

var _ ports.HostStore = (*Store)(nil)

// In is the store in a directory, which must be there and be the user's alone.
func In(dir string) *Store { return &Store{dir: dir} }

// Damaged is the path of a file that was put aside, "" without one.
func (s *Store) Damaged() string {
	path := filepath.Join(s.dir, damagedName)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// Load implements ports.HostStore. Nothing is written unless the file is damaged.
func (s *Store) Load() (domain.Hosts, *fault.Error, error) {
	root, err := s.open()
	if err != nil {
		return domain.Hosts{}, nil, err
	}
	defer root.Close()
	hosts, _, err := read(root, fileName)
	if !isDamage(err) {
		return hosts, nil, s.explain(err)
	}
	// Somebody may be at it, or have mended it meanwhile: under the lock it is looked at again.
	ctx, cancel := context.WithTimeout(context.Background(), mendPatience)
	defer cancel()
	return s.Change(ctx, func(h domain.Hosts) (domain.Hosts, error) { return h, nil })
}

// mendPatience is how long Load waits for the lock when the file is damaged.
const mendPatience = 5 * time.Second

// Change implements ports.HostStore.
func (s *Store) Change(ctx context.Context, change func(domain.Hosts) (domain.Hosts, error)) (domain.Hosts, *fault.Error, error) {
	root, err := s.open()
	if err != nil {
		return domain.Hosts{}, nil, err
	}
	defer root.Close()
	lock, err := s.lock(ctx, root)
	if err != nil {
		return domain.Hosts{}, nil, err
	}
	defer lock.Close() // which releases it
	old, kept, err := read(root, fileName)
	var notice *fault.Error
	if isDamage(err) {
		old, kept, notice, err = s.mend(root, err)
	}
	if err != nil {
		return domain.Hosts{}, nil, s.explain(err)
	}
	hosts, err := change(old)
	if err != nil || hosts.Revision == old.Revision {
		return old, notice, err
	}
	if err := s.keep(root, hosts, kept); err != nil {
		return old, notice, err
	}
	return hosts, notice, nil
}

// keep writes a set over kept, the bytes of the one before.
func (s *Store) keep(root *os.Root, hosts domain.Hosts, kept []byte) error {
	body, err := encode(hosts)
	if err == nil {
		err = hosts.Check() // what cannot be read again must not be written
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the list of hosts cannot be written")
	}
	if kept != nil {
		if err := replace(root, lastName, kept); err != nil && !errors.Is(err, errNotSynced) {
			return s.explain(err)
		}
	}
	err = replace(root, fileName, body)
	if errors.Is(err, errNotSynced) {
		return fault.Wrap(fault.Unknown, err, "the list of hosts may not outlive a loss of power").WithHint("vev host ls shows what there is now")
	}
	return s.explain(err)
}

// mend puts a damaged file aside and the last good version in its place. What it returns is kept now.
func (s *Store) mend(root *os.Root, damage error) (domain.Hosts, []byte, *fault.Error, error) {
	hosts, kept, err := read(root, lastName)
	says := "what was added or changed last may be missing: vev host ls shows what there is"
	if err != nil || kept == nil {
		hosts, says = domain.Hosts{}, "no good version is left, so no host is known: add them again"
		if kept, err = encode(hosts); err != nil {
			return hosts, nil, nil, err
		}
	}
	if err := aside(root); err != nil {
		return hosts, nil, nil, err
	}
	if err := replace(root, fileName, kept); err != nil && !errors.Is(err, errNotSynced) {
		return hosts, nil, nil, err
	}
	notice := fault.New(fault.Internal, "the list of hosts was damaged (%s); %s", damage, says).
		WithHint("the damaged file is kept as %s", filepath.Join(s.dir, damagedName))
	return hosts, kept, notice, nil
}

// aside gives the damaged file a name of its own. Until another takes its place it has both, where the file system has links.
func aside(root *os.Root) error {
	if err := root.Remove(damagedName); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if root.Link(fileName, damagedName) == nil {
		return nil
	}
	return root.Rename(fileName, damagedName)
}

func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, s.explain(err)
	}
	return root, nil
}

// explain turns an error of the file system into a fault; faults and nil stay what they are.
func (s *Store) explain(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || err == nil {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the list of hosts in %s cannot be used", s.dir).
		WithHint("check the permissions and the free space there")
}

// lock takes the lock of all processes, at the latest when ctx ends.
func (s *Store) lock(ctx context.Context, root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, s.explain(err)
	}
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		err := flock(f)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, s.explain(err)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			_ = f.Close()
			kind := fault.Timeout
			if errors.Is(ctx.Err(), context.Canceled) {
				kind = fault.Canceled
			}
			return nil, fault.Wrap(kind, context.Cause(ctx), "another vev is changing the list of hosts")
		}
	}
}

func flock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	return errors.Join(failed, err)
}

// errDamaged marks what decode says about a file.
type errDamaged struct{ error }

func isDamage(err error) bool {
	_, ok := errors.AsType[errDamaged](err)
	return ok
}

// read returns what a file holds, and its bytes; nil bytes where there is none, which is the empty set.
func read(root *os.Root, name string) (domain.Hosts, []byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return domain.Hosts{}, nil, nil
	}
	if err != nil {
		return domain.Hosts{}, nil, err
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return domain.Hosts{}, nil, err
	}
	hosts, err := decode(file)
	if err != nil && fault.KindOf(err) != fault.Incompatible {
		err = errDamaged{err}
	}
	return hosts, file, err
}

// errNotSynced: the file is in its place, but the directory could not be synced.
var errNotSynced = errors.New("the directory could not be synced")

// replace writes a file beside its place and moves it there. Any error but errNotSynced means that what was there is
// there still.
func replace(root *os.Root, name string, body []byte) error {
	fresh := name + freshSuffix + strconv.Itoa(os.Getpid())
	if err := root.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // of a process that had our number
	}
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
		return err
	}
	dir, err := root.Open(".")
	if err == nil {
		err = dir.Sync()
		_ = dir.Close()
	}
	if err != nil {
		return errors.Join(errNotSynced, err)
	}
	return nil
}
