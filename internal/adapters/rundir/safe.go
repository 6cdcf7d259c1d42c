package rundir

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	// othersMode are the permissions that nobody but the owner may have.
	othersMode = 0o077
)

// openState opens the state directory, making it and its parents when absent. The parents are
// the user's own business; the directory itself is judged.
func (d *Dir) openState() (*os.File, error) {
	parent := filepath.Dir(d.state)
	if err := os.MkdirAll(parent, dirMode); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot make the directory %s", parent).
			WithHint("check the permissions above it, or set %s to a directory of your own", homeEnv)
	}
	return d.openSafe(unix.AT_FDCWD, d.state, d.state)
}

func (d *Dir) openRun() (*os.File, error) {
	state, err := d.openState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	return d.openIn(state, d.runName())
}

func (d *Dir) openIn(parent *os.File, name string) (*os.File, error) {
	return d.openSafe(int(parent.Fd()), name, filepath.Join(parent.Name(), name))
}

// openSafe opens one directory below parent that is this user's alone, making it when absent.
// path is for messages.
func (d *Dir) openSafe(parent int, name, path string) (*os.File, error) {
	made := false
	fd, err := openDir(parent, name)
	if errors.Is(err, unix.ENOENT) {
		if err = unix.Mkdirat(parent, name, dirMode); err == nil || errors.Is(err, unix.EEXIST) {
			made = err == nil
			fd, err = openDir(parent, name)
		}
	}
	if err != nil {
		return nil, d.notOpened(parent, name, path, err)
	}
	if made {
		// Only ever widens what an unusual umask took from the owner.
		err = unix.Fchmod(fd, dirMode)
	}
	if err == nil {
		err = d.judge(fd, path)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openDir(parent int, name string) (int, error) {
	for {
		fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// judge decides by the open descriptor whether a directory can be trusted.
func (d *Dir) judge(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot look at the directory %s", path)
	}
	if int(st.Uid) != d.uid {
		return foreign(path, int(st.Uid), d.uid)
	}
	if st.Mode&othersMode != 0 {
		return fault.New(fault.Denied, "others may use the directory %s (mode %#o)", path, st.Mode&0o777).
			WithHint("see that nothing foreign is in it, then: chmod 700 %s", path)
	}
	return nil
}

func foreign(path string, owner, uid int) error {
	return fault.New(fault.Denied, "the directory %s belongs to user %d, not to you (user %d)", path, owner, uid).
		WithHint("run vev as that user, or set %s to a directory of your own", homeEnv)
}

// notOpened finds words for a directory that could not be opened.
func (d *Dir) notOpened(parent int, name, path string, cause error) error {
	var st unix.Stat_t
	if unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			return fault.Wrap(fault.Denied, cause, "%s is a symbolic link", path).
				WithHint("remove it, or set %s to the directory meant", homeEnv)
		case unix.S_IFDIR:
			if int(st.Uid) != d.uid {
				return foreign(path, int(st.Uid), d.uid)
			}
		default:
			return fault.Wrap(fault.Denied, cause, "%s is not a directory", path).WithHint("move it away")
		}
	}
	return fault.Wrap(fault.Unavailable, cause, "cannot open the directory %s", path).
		WithHint("check the permissions and the free space there")
}

// openFile opens a file of this user in dir, 0600 from its creation. It follows no link.
func (d *Dir) openFile(dir *os.File, name string, flags int) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot open %s", path).
			WithHint("check what is there, and the free space")
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != d.uid) {
		err = unix.EPERM
	}
	if err == nil && st.Mode&0o777 != fileMode {
		err = unix.Fchmod(fd, fileMode)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fault.Wrap(fault.Denied, err, "%s is not a plain file of yours", path).WithHint("move it away")
	}
	return os.NewFile(uintptr(fd), path), nil
}
