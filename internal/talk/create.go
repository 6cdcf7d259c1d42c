package talk

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// Surround gives a new session on host what it starts in: the directory dir, "" for this process's own or, on another
// machine, the home directory; and this process's environment, or that machine's, with the settings K=V of set over it.
// It checks the command as well: everything is refused before anything is dialled.
func Surround(create *protocol.Create, host domain.Host, dir string, set []string) error {
	if err := checkCommand(create.Command.Argv); err != nil {
		return err
	}
	if !host.Local() {
		return elsewhere(create, dir, set)
	}
	var err error
	if create.Command.Dir, err = workingDir(dir); err != nil {
		return err
	}
	create.Command.Env, err = Environment(os.Environ(), set)
	return err
}

// elsewhere makes of what a new session is what it is on another machine: what it starts in and its
// environment are that machine's.
func elsewhere(create *protocol.Create, dir string, set []string) error {
	if dir != "" && !strings.HasPrefix(dir, "/") {
		return fault.New(fault.Usage, "cannot start in %s: on another machine a directory is named in full", dir).
			WithHint("-c /DIR, or nothing for the home directory there")
	}
	if len(dir) > protocol.MaxPathBytes {
		return longDir(dir)
	}
	if dir != "" {
		create.Command.Dir = path.Clean(dir)
	}
	var err error
	create.OwnEnv = true
	create.Command.Env, err = Environment(nil, set)
	return err
}

// maxEnvBytes bounds a program's whole environment: what is left of one control message beside
// the command line.
const maxEnvBytes = protocol.MaxControlBytes - protocol.MaxArgBytes - 64<<10

// Environment is base with the settings K=V of set over it, within the protocol's bounds.
func Environment(base, set []string) ([]string, error) {
	env := slices.Clone(base)
	for _, entry := range set {
		key, _, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			return nil, fault.New(fault.Usage, "bad variable %q", entry).WithHint("-e takes NAME=VALUE")
		}
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, key+"=") })
		env = append(env, entry)
	}
	if len(env) > protocol.MaxEnvEntries {
		return nil, fault.New(fault.Limit, "the environment has %d variables, at most %d can be given to a session",
			len(env), protocol.MaxEnvEntries).WithHint("unset some, or start from few: env -i HOME=\"$HOME\" PATH=\"$PATH\" vev new")
	}
	total := 0
	for _, entry := range env {
		if len(entry) > protocol.MaxEnvEntryBytes {
			key, _, _ := strings.Cut(entry, "=")
			return nil, fault.New(fault.Limit, "the variable %s has %d bytes, at most %d can be given to a session",
				fault.Clean(key), len(entry), protocol.MaxEnvEntryBytes).WithHint("unset it: env -u NAME vev new")
		}
		total += len(entry)
	}
	if total > maxEnvBytes {
		return nil, fault.New(fault.Limit, "the environment has %d bytes, at most %d can be given to a session", total, maxEnvBytes).
			WithHint("unset the largest variables: env -u NAME vev new")
	}
	return env, nil
}

// checkCommand holds a command line to the protocol's bounds.
func checkCommand(argv []string) error {
	total := 0
	for _, arg := range argv {
		total += len(arg)
	}
	switch {
	case len(argv) > protocol.MaxArgs:
		return fault.New(fault.Limit, "the command has %d arguments, at most %d", len(argv), protocol.MaxArgs)
	case total > protocol.MaxArgBytes:
		return fault.New(fault.Limit, "the command has %d bytes, at most %d", total, protocol.MaxArgBytes)
	}
	return nil
}

// workingDir is where a new session starts: dir made absolute, or the current directory.
func workingDir(dir string) (string, error) {
	cwd, err := os.Getwd()
	if err != nil && !strings.HasPrefix(dir, "/") {
		return "", fault.Wrap(fault.Usage, err, "the current directory is gone").WithHint("give another with -c DIR")
	}
	return absoluteDir(cwd, dir)
}

func absoluteDir(cwd, dir string) (string, error) {
	if dir == "" {
		dir = cwd
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fault.Wrap(fault.Usage, errors.Unwrap(err), "cannot start in %s", dir).WithHint("-c takes a directory")
	case !info.IsDir():
		return "", fault.New(fault.Usage, "cannot start in %s: not a directory", dir).WithHint("-c takes a directory")
	case len(dir) > protocol.MaxPathBytes:
		return "", longDir(dir)
	}
	return dir, nil
}

func longDir(dir string) error {
	return fault.New(fault.Limit, "the directory's path has %d bytes, at most %d", len(dir), protocol.MaxPathBytes)
}
