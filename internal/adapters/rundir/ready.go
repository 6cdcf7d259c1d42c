package rundir

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// readyEnv tells a started process the descriptor on which its starter waits.
	readyEnv = "VEV_READY_FD"
	// readyFD is where it is: behind the three standard ones.
	readyFD = 3
	// firstEnv and firstFD are the same for the connection that it begins with.
	firstEnv = "VEV_FIRST_FD"
	firstFD  = 4
	// maxReadyLine bounds what the starter reads of the answer.
	maxReadyLine = 2 * (fault.MaxText + 16)

	readyOK    = "ok"
	readyFirst = "ok first" // and the connection that it was given is its
	readyError = "error:"
)

var (
	reportOnce sync.Once
	hasFirst   atomic.Bool // First has returned one
)

// First is the connection of the process that started this one, nil if there is none: what it said with the start is in it
// already, so that a service need not listen to begin with that. Only the holder of the life lock serves it. It is there once.
func First() *net.UnixConn {
	fd, err := strconv.Atoi(os.Getenv(firstEnv))
	os.Unsetenv(firstEnv)
	if err != nil || fd != firstFD {
		return nil
	}
	unix.CloseOnExec(fd)
	conn := connOf(fd)
	hasFirst.Store(conn != nil)
	return conn
}

// Started tells the process that started this one, if any waits, how that went: nil when the
// service serves, else why it cannot. Only the first call counts. Until it is called the
// starter waits, so every way out of the start calls it.
func Started(err error) {
	reportOnce.Do(func() {
		fd, aerr := strconv.Atoi(os.Getenv(readyEnv))
		os.Unsetenv(readyEnv) // not a thing for the processes that this one starts
		if aerr != nil || fd != readyFD {
			return
		}
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "readiness")
		defer f.Close()
		f.WriteString(readyLine(err, hasFirst.Load())) // a starter that is gone needs no answer
	})
}

// readyLine is what travels: "ok", "ok first", or "error:", the kind's number, message and hint, with
// tabs between.
func readyLine(err error, first bool) string {
	switch {
	case err == nil && first:
		return readyFirst + "\n"
	case err == nil:
		return readyOK + "\n"
	}
	kind, msg, hint := fault.Internal, err.Error(), ""
	if f, ok := errors.AsType[*fault.Error](err); ok {
		kind, hint = f.Kind, f.Hint
	}
	return strings.Join([]string{readyError, strconv.Itoa(int(kind)), fault.Clean(msg), fault.Clean(hint)}, "\t") + "\n"
}

// parseReady reads a started process's answer. ok is false when that is none; first: it has the connection it was given.
func parseReady(line string) (ok, first bool, err error) {
	line, whole := strings.CutSuffix(line, "\n")
	if !whole {
		return false, false, nil
	}
	if line == readyOK || line == readyFirst {
		return true, line == readyFirst, nil
	}
	f := strings.Split(line, "\t")
	if len(f) != 4 || f[0] != readyError {
		return false, false, nil
	}
	n, aerr := strconv.ParseUint(f[1], 10, 8)
	kind := fault.Kind(n)
	if aerr != nil || !kind.Valid() {
		return false, false, nil
	}
	return true, false, &fault.Error{Kind: kind, Msg: fault.Clean(f[2]), Hint: fault.Clean(f[3]), Peer: true}
}
