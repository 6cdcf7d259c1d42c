package rundir

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watcher tells that something changed in the directories it follows, or they themselves. One
// goroutine waits, in a thread.
type watcher struct {
	kq   int
	dirs []int // our own descriptors of the directories followed now
}

// wake is the user event that ends a wait.
const wake = 1

func newWatcher() (*watcher, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(kq)
	w := &watcher{kq: kq}
	err = w.change(unix.Kevent_t{Ident: wake, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD})
	if err != nil {
		unix.Close(kq)
		return nil, err
	}
	return w, nil
}

func (w *watcher) change(ev unix.Kevent_t) error {
	_, err := unix.Kevent(w.kq, []unix.Kevent_t{ev}, nil, nil)
	return err
}

// follow makes dirs the directories that are followed.
func (w *watcher) follow(dirs ...*os.File) error {
	old := w.dirs
	w.dirs = nil
	for _, dir := range dirs {
		fd, err := unix.FcntlInt(dir.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		w.dirs = append(w.dirs, fd)
		err = w.change(unix.Kevent_t{
			Ident: uint64(fd), Filter: unix.EVFILT_VNODE, Flags: unix.EV_ADD | unix.EV_CLEAR,
			Fflags: unix.NOTE_DELETE | unix.NOTE_RENAME | unix.NOTE_WRITE,
		})
		if err != nil {
			return err
		}
	}
	for _, fd := range old {
		unix.Close(fd) // takes its event along
	}
	return nil
}

// wait returns nil when something happened or limit has passed; 0 is no limit.
func (w *watcher) wait(limit time.Duration) error {
	var end *unix.Timespec
	if limit > 0 {
		ts := unix.NsecToTimespec(limit.Nanoseconds())
		end = &ts
	}
	events := make([]unix.Kevent_t, 1)
	n, err := unix.Kevent(w.kq, nil, events, end)
	switch {
	case err == unix.EINTR || n == 0:
		return nil
	case err != nil:
		return err
	case events[0].Filter == unix.EVFILT_USER:
		return os.ErrClosed
	}
	return nil
}

// stop ends the waiting for good: the event stays, as nobody clears it.
func (w *watcher) stop() {
	w.change(unix.Kevent_t{Ident: wake, Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER})
}

// free gives everything back once nobody waits.
func (w *watcher) free() {
	unix.Close(w.kq)
	for _, fd := range w.dirs {
		unix.Close(fd)
	}
}
