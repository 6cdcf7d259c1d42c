package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
)

var _ ports.Agents = (*Dir)(nil)

// Path implements ports.Agents: a link in the directory of this machine's sockets.
func (d *Dir) Path(id domain.SessionID) string { return d.place(agentName(id)) }

func (d *Dir) place(name string) string {
	path := filepath.Join(d.Run(), name)
	if len(path) > maxSocketPath {
		return "" // programs know it by name alone
	}
	return path
}

func agentName(id domain.SessionID) string { return "agent-" + id.String()[:16] }

// Point implements ports.Agents. The link is replaced in one step: whoever connects meets the
// old socket or the new one.
func (d *Dir) Point(id domain.SessionID, target string) error {
	return d.pointTo(agentName(id), target)
}

// dialAgent is the place of the agent that ssh gets for reaching other machines.
const dialAgent = "agent"

// DialAgent is where the agent of the user's newest client is found, "" if there can be no such
// place: a broker outlives the login that started it.
func (d *Dir) DialAgent() string { return d.place(dialAgent) }

// OfferAgent makes DialAgent lead to a socket. Any number of processes may do so at once.
func (d *Dir) OfferAgent(socket string) error {
	place := d.DialAgent()
	if at, err := os.Readlink(place); place == "" || err == nil && at == socket {
		return nil
	}
	return d.pointTo(dialAgent, socket)
}

// Alias makes a link to a program beside the sockets, to start it by another name, and returns its path.
func (d *Dir) Alias(name, program string) (string, error) {
	return filepath.Join(d.Run(), name), d.pointTo(name, program)
}

func (d *Dir) pointTo(name, target string) error {
	dir, err := d.openRun()
	if err != nil {
		return err
	}
	defer dir.Close()
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = point(int(fd), name, target) })
	return errors.Join(failed, err)
}

func point(dir int, name, target string) error {
	if target == "" {
		if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	fresh := name + "." + strconv.Itoa(os.Getpid())
	if err := unix.Unlinkat(dir, fresh, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := unix.Symlinkat(target, dir, fresh); err != nil {
		return err
	}
	return unix.Renameat(dir, fresh, dir, name)
}
