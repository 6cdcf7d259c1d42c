package rundir

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
)

var _ ports.Agents = (*Dir)(nil)

// Path implements ports.Agents: a link in the directory of this machine's sockets.
func (d *Dir) Path(id domain.SessionID) string {
	path := filepath.Join(d.Run(), agentName(id))
	if len(path) > maxSocketPath {
		return "" // programs know it by name alone
	}
	return path
}

func agentName(id domain.SessionID) string { return "agent-" + id.String()[:16] }

// Point implements ports.Agents. The link is replaced in one step: whoever connects meets the
// old socket or the new one.
func (d *Dir) Point(id domain.SessionID, target string) error {
	dir, err := d.openRun()
	if err != nil {
		return err
	}
	defer dir.Close()
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = point(int(fd), agentName(id), target) })
	return errors.Join(failed, err)
}

func point(dir int, name, target string) error {
	if target == "" {
		if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	fresh := name + ".new"
	if err := unix.Unlinkat(dir, fresh, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := unix.Symlinkat(target, dir, fresh); err != nil {
		return err
	}
	return unix.Renameat(dir, fresh, dir, name)
}
