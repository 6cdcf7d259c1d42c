package rundir

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Where logind.conf(5) and its additions lie, the later ones winning; among additions the
// file's name decides the order.
var (
	logindFiles = []string{"usr/lib/systemd/logind.conf", "run/systemd/logind.conf", "etc/systemd/logind.conf"}
	logindDirs  = []string{"usr/lib/systemd/logind.conf.d", "run/systemd/logind.conf.d", "etc/systemd/logind.conf.d"}
)

// checkLogout tells whether the login manager ends this user's processes at logout, which
// would end every session. It reads files only and so knows no value built into logind.
func checkLogout(root fs.FS, username string) Finding {
	f := Finding{OK: true, What: "life after logout"}
	if _, err := fs.Stat(root, "run/systemd/system"); err != nil {
		f.Detail = "no login manager that ends processes is known here"
		return f
	}
	if _, err := fs.Stat(root, "var/lib/systemd/linger/"+username); err == nil && username != "" {
		f.Detail = "processes are kept: lingering is on"
		return f
	}
	conf := logind(root)
	switch strings.ToLower(conf["KillUserProcesses"]) {
	case "":
		f.Detail = "not decided in logind.conf: the distribution's default holds, mostly to keep processes"
	case "no", "false", "off", "0":
		f.Detail = "processes are kept: KillUserProcesses=no"
	default:
		if spared(conf, username) {
			f.Detail = "processes of this user are kept, others' are not"
			return f
		}
		f.OK = false
		f.Detail = "logind ends all your processes at logout: sessions die with it"
		f.Fix = "loginctl enable-linger"
	}
	return f
}

// spared applies KillOnlyUsers= and KillExcludeUsers=, which is root unless set.
func spared(conf map[string]string, username string) bool {
	if only := strings.Fields(conf["KillOnlyUsers"]); len(only) > 0 && !slices.Contains(only, username) {
		return true
	}
	exclude, set := conf["KillExcludeUsers"]
	if !set {
		exclude = "root"
	}
	return slices.Contains(strings.Fields(exclude), username)
}

// logind returns the settings of logind.conf; unreadable files count as absent.
func logind(root fs.FS) map[string]string {
	conf := make(map[string]string)
	for _, f := range slices.Backward(logindFiles) {
		// Only the first present of the main files counts.
		if err := readSettings(root, f, conf); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	additions := make(map[string]string) // name -> path
	for _, dir := range logindDirs {
		files, _ := fs.Glob(root, dir+"/*.conf")
		for _, f := range files {
			additions[path.Base(f)] = f
		}
	}
	names := make([]string, 0, len(additions))
	for name := range additions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		readSettings(root, additions[name], conf)
	}
	return conf
}

func readSettings(root fs.FS, file string, conf map[string]string) error {
	b, err := fs.ReadFile(root, file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(key, "#") && !strings.HasPrefix(key, ";") {
			conf[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return nil
}
