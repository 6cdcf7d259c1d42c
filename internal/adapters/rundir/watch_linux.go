package rundir

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// watcher tells that something was taken away from the directories it follows, or they
// themselves. One goroutine waits. Where the system gives no inotify instance or watch, of
// which other programs may have taken all, it only lets its waiter look every blindCheck.
type watcher struct {
	f       *os.File // inotify, pollable; nil: none was to be had
	seen    []int    // watch descriptors of the directories followed now
	blind   atomic.Bool
	stopped chan struct{}
}

// blindCheck is how often the keeper looks by itself when nobody tells it.
const blindCheck = 30 * time.Second

const watchMask = unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watchBuffer holds a few events at a time. What they say does not matter, only that they came.
const watchBuffer = 4096

func newWatcher() (*watcher, error) {
	w := &watcher{stopped: make(chan struct{})}
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		w.f = os.NewFile(uintptr(fd), "inotify")
	}
	w.blind.Store(w.f == nil)
	return w, nil
}

// follow makes dirs the directories that are followed.
func (w *watcher) follow(dirs ...*os.File) error {
	if w.f == nil {
		return nil
	}
	raw, err := w.f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		blind := false
		var now []int
		for _, dir := range dirs {
			// Through the descriptor: this very directory, whatever its path leads to by now.
			wd, err := unix.InotifyAddWatch(int(fd), "/proc/self/fd/"+strconv.Itoa(int(dir.Fd())), watchMask)
			if err != nil {
				blind = true
				continue
			}
			now = append(now, wd)
		}
		for _, wd := range w.seen {
			if !slices.Contains(now, wd) {
				unix.InotifyRmWatch(int(fd), uint32(wd))
			}
		}
		w.seen = now
		w.blind.Store(blind)
	})
}

// wait returns nil when something happened, might have happened, or limit has passed; 0 is no
// limit.
func (w *watcher) wait(limit time.Duration) error {
	if w.blind.Load() && (limit == 0 || limit > blindCheck) {
		limit = blindCheck
	}
	if w.f == nil {
		return w.waitBlind(limit)
	}
	var end time.Time
	if limit > 0 {
		end = time.Now().Add(limit)
	}
	if err := w.f.SetReadDeadline(end); err != nil {
		return err
	}
	_, err := w.f.Read(make([]byte, watchBuffer))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (w *watcher) waitBlind(limit time.Duration) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-w.stopped:
		return os.ErrClosed
	}
}

// stop ends the waiting for good.
func (w *watcher) stop() {
	close(w.stopped)
	if w.f != nil {
		w.f.Close()
	}
}

// free gives everything back once nobody waits.
func (w *watcher) free() {}
