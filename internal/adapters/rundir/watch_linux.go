package rundir

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// watcher tells that something was taken away from the directories it follows, or they
// themselves. One goroutine waits.
type watcher struct {
	f    *os.File // inotify; pollable
	seen []int    // watch descriptors of the directories followed now
}

const watchMask = unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watchBuffer holds a few events at a time. What they say does not matter, only that they came.
const watchBuffer = 4096

func newWatcher() (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &watcher{f: os.NewFile(uintptr(fd), "inotify")}, nil
}

// follow makes dirs the directories that are followed.
func (w *watcher) follow(dirs ...*os.File) error {
	raw, err := w.f.SyscallConn()
	if err != nil {
		return err
	}
	var now []int
	cerr := raw.Control(func(fd uintptr) {
		for _, dir := range dirs {
			var wd int
			// Through the descriptor: this very directory, whatever its path leads to by now.
			wd, err = unix.InotifyAddWatch(int(fd), "/proc/self/fd/"+strconv.Itoa(int(dir.Fd())), watchMask)
			if err != nil {
				return
			}
			now = append(now, wd)
		}
		for _, wd := range w.seen {
			if !slices.Contains(now, wd) {
				unix.InotifyRmWatch(int(fd), uint32(wd))
			}
		}
	})
	if cerr != nil {
		return cerr
	}
	w.seen = now
	return err
}

// wait returns nil when something happened or limit has passed; 0 is no limit.
func (w *watcher) wait(limit time.Duration) error {
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

// stop ends the waiting for good.
func (w *watcher) stop() { w.f.Close() }

// free gives everything back once nobody waits.
func (w *watcher) free() {}
