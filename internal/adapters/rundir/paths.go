package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/vev-term/vev/internal/domain/fault"
)

// homeEnv names one directory for everything: tests and installs side by side.
const homeEnv = "VEV_HOME"

// Dir is where vev lives for this user on this machine. It holds no descriptor and needs no
// closing; any number of goroutines may use it.
type Dir struct {
	home    string // $VEV_HOME made absolute, or empty
	state   string
	config  string
	machine string // short name of this machine: one home may serve many
	uid     int
}

// Open finds the paths, makes the directories and checks that they are safe. A fault says in
// one line what is wrong, and its hint what to do.
func Open() (*Dir, error) {
	d, err := locate(os.Getenv, os.Getuid())
	if err != nil {
		return nil, err
	}
	run, err := d.openRun()
	if err != nil {
		return nil, err
	}
	return d, run.Close()
}

// ConfigPath is the path of the configuration file, as Dir.Config has it; it makes and checks nothing.
func ConfigPath() (string, error) {
	d, err := locate(os.Getenv, os.Getuid())
	if err != nil {
		return "", err
	}
	return d.config, nil
}

// State is the directory of everything that is kept; 0700.
func (d *Dir) State() string { return d.state }

// Run is the directory of this machine's sockets; 0700. It may be away for a moment.
func (d *Dir) Run() string { return filepath.Join(d.state, d.runName()) }

// Config is the path of the configuration file, which need not exist.
func (d *Dir) Config() string { return d.config }

// Log is the path of what the service name writes about itself.
func (d *Dir) Log(name string) string { return filepath.Join(d.state, d.logName(name)) }

func (d *Dir) runName() string             { return "run-" + d.machine }
func (d *Dir) logName(name string) string  { return name + "-" + d.machine + ".log" }
func (d *Dir) lockName(name string) string { return name + "-" + d.machine + ".lock" }
func socketName(name string) string        { return name + ".sock" }

// locate computes the paths and touches nothing.
func locate(getenv func(string) string, uid int) (*Dir, error) {
	d := &Dir{machine: thisMachine(), uid: uid}
	if h := getenv(homeEnv); h != "" {
		abs, err := filepath.Abs(h)
		if err != nil {
			return nil, fault.Wrap(fault.Usage, err, "%s=%q cannot be made absolute", homeEnv, h).
				WithHint("give a path that begins with /")
		}
		d.home = abs
		d.state = filepath.Join(abs, "state")
		d.config = filepath.Join(abs, "config.toml")
		return d, nil
	}
	state, config := getenv("XDG_STATE_HOME"), getenv("XDG_CONFIG_HOME")
	// The XDG rule: a path that is not absolute is as good as none.
	if !filepath.IsAbs(state) || !filepath.IsAbs(config) {
		home, err := homeDir(getenv("HOME"), uid)
		if err != nil {
			return nil, err
		}
		if !filepath.IsAbs(state) {
			state = filepath.Join(home, ".local", "state")
		}
		if !filepath.IsAbs(config) {
			config = filepath.Join(home, ".config")
		}
	}
	d.state = filepath.Join(state, "vev")
	d.config = filepath.Join(config, "vev", "config.toml")
	return d, nil
}

func homeDir(env string, uid int) (string, error) {
	if filepath.IsAbs(env) {
		return env, nil
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, nil
	}
	return "", fault.New(fault.Unavailable, "user %d has no home directory", uid).
		WithHint("set HOME, or %s to a directory of your own", homeEnv)
}

// machineIDFiles hold an id that survives renames of the host; the first present counts.
var machineIDFiles = []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

// thisMachine is the machine's name, read once for a process.
var thisMachine = sync.OnceValue(machineName)

func machineName() string {
	for _, f := range machineIDFiles {
		if b, err := os.ReadFile(f); err == nil {
			if id := strings.TrimSpace(string(b)); id != "" {
				return shortHash("machine-id " + id)
			}
		}
	}
	host, _ := os.Hostname()
	return shortHash("hostname " + host)
}

// shortHash is eight hex digits. The machine's id itself is not to be shown: machine-id(5).
func shortHash(s string) string {
	sum := sha256.Sum256([]byte("vev " + s))
	return hex.EncodeToString(sum[:4])
}
