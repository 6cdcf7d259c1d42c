package rundir

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// readyEnv tells a started process the descriptor on which its starter waits.
	readyEnv = "VEV_READY_FD"
	// readyFD is where it is: behind the three standard ones.
	readyFD = 3
	// maxReadyLine bounds what the starter reads of the answer.
	maxReadyLine = 2 * (fault.MaxText + 16)

	readyOK    = "ok"
	readyError = "error:"
)

var reportOnce sync.Once

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
		f.WriteString(readyLine(err)) // a starter that is gone needs no answer
	})
}

// readyLine is what travels: "ok", or "error:", the kind's number, message and hint, with
// tabs between.
func readyLine(err error) string {
	if err == nil {
		return readyOK + "\n"
	}
	kind, msg, hint := fault.Internal, err.Error(), ""
	if f, ok := errors.AsType[*fault.Error](err); ok {
		kind, hint = f.Kind, f.Hint
	}
	return strings.Join([]string{readyError, strconv.Itoa(int(kind)), fault.Clean(msg), fault.Clean(hint)}, "\t") + "\n"
}

// parseReady reads a started process's answer. ok is false when that is none.
func parseReady(line string) (ok bool, err error) {
	line, whole := strings.CutSuffix(line, "\n")
	if !whole {
		return false, nil
	}
	if line == readyOK {
		return true, nil
	}
	f := strings.Split(line, "\t")
	if len(f) != 4 || f[0] != readyError {
		return false, nil
	}
	n, aerr := strconv.ParseUint(f[1], 10, 8)
	kind := fault.Kind(n)
	if aerr != nil || !kind.Valid() {
		return false, nil
	}
	return true, &fault.Error{Kind: kind, Msg: fault.Clean(f[2]), Hint: fault.Clean(f[3]), Peer: true}
}
