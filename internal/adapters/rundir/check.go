package rundir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/fault"
)

// checkPatience bounds how long one socket may take to answer a check.
const checkPatience = time.Second

// Finding is one fact of "vev doctor".
type Finding struct {
	OK     bool
	What   string // the thing looked at
	Detail string // how it is
	Fix    string // what to do, when not OK
}

// Check looks at the places and the services named. It needs no working Dir: what Open refuses
// is among the findings. It changes nothing but makes missing directories, as Open does.
func Check(services ...string) []Finding {
	d, err := locate(os.Getenv, os.Getuid())
	if err != nil {
		return []Finding{failing("paths", err)}
	}
	return d.Check(services...)
}

// Check looks at d's places and the services named.
func (d *Dir) Check(services ...string) []Finding {
	out := []Finding{
		directory("state directory", d.openState),
		directory("socket directory", d.openSockets),
		d.checkLength(services),
		d.checkConfig(),
	}
	for _, name := range services {
		out = append(out, d.checkService(name))
	}
	who := ""
	if u, err := user.LookupId(strconv.Itoa(d.uid)); err == nil {
		who = u.Username
	}
	return append(out, checkLogout(os.DirFS("/"), who))
}

func failing(what string, err error) Finding {
	f := Finding{What: what, Detail: err.Error()}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.Fix = e.Hint
	}
	return f
}

func directory(what string, open func() (*os.File, error)) Finding {
	f, err := open()
	if err != nil {
		return failing(what, err)
	}
	defer f.Close()
	return Finding{OK: true, What: what, Detail: f.Name() + ", yours alone"}
}

// checkLength tells how sockets are reached whose path the kernel does not take.
func (d *Dir) checkLength(services []string) Finding {
	longest := 0
	for _, name := range services {
		longest = max(longest, len(d.Run())+1+len(socketName(name)))
	}
	f := Finding{OK: true, What: "socket paths", Detail: fmt.Sprintf("%d of %d bytes", longest, maxSocketPath)}
	if longest > maxSocketPath {
		f.Detail += ", over the system's limit; reached " + d.socketDetour()
	}
	return f
}

func (d *Dir) checkConfig() Finding {
	f := Finding{OK: true, What: "configuration", Detail: d.config}
	switch _, err := os.Stat(d.config); {
	case errors.Is(err, os.ErrNotExist):
		f.Detail += ", absent: the defaults hold"
	case err != nil:
		f.OK, f.Detail, f.Fix = false, err.Error(), "check the permissions above it"
	}
	return f
}

// checkService says whether a service lives, and whether that fits its lock.
func (d *Dir) checkService(name string) Finding {
	ctx, cancel := context.WithTimeout(context.Background(), checkPatience)
	defer cancel()
	f := Finding{OK: true, What: name}
	lerr := d.Look(name)
	held := fault.KindOf(lerr) == fault.Conflict
	conn, err := d.Dial(ctx, name)
	if err == nil {
		conn.Close()
	}
	switch {
	case err == nil:
		f.Detail = "live"
		if held {
			f.Detail += "; " + lerr.Error()
		}
	case errors.Is(err, unix.ENOENT) && !held:
		f.Detail = "not running; started when needed"
	case errors.Is(err, unix.ECONNREFUSED) && !held:
		f.Detail = "not running; a crashed one left its socket, the next start replaces it"
	case absent(err):
		f = Finding{What: name, Detail: "runs without its socket: " + lerr.Error(), Fix: "try again in a moment; else see " + d.Log(name)}
	default:
		f = failing(name, err)
	}
	return f
}
