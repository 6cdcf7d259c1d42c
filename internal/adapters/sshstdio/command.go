package sshstdio

import (
	"strconv"

	"github.com/vev-term/vev/internal/domain"
)

const (
	// connectTimeout, in seconds, is less than what a client waits for its stream: so it is ssh that says what failed.
	connectTimeout = 10
	// aliveInterval, in seconds, and aliveCount end an ssh whose connection is dead though nobody closed it.
	aliveInterval, aliveCount = 10, 2
)

// settings are what must be so, whatever the user's configuration says. The first one wins in ssh.
func settings() []string {
	return []string{
		"LogLevel=ERROR",
		"ConnectTimeout=" + strconv.Itoa(connectTimeout),
		"ServerAliveInterval=" + strconv.Itoa(aliveInterval),
		"ServerAliveCountMax=" + strconv.Itoa(aliveCount),
		"ClearAllForwardings=yes",
		"RemoteCommand=none",
		"IPQoS=none",       // without a terminal it would be of the class that waits for all others
		"ControlMaster=no", // one that is there may be used; none is left behind
		"PermitLocalCommand=no",
	}
}

// arguments are those of ssh for the helper on a host, of which nothing can be taken for an option.
// Without asks it asks nobody: it has no terminal.
func arguments(a attempt) []string {
	args := []string{"-T", "-x", "-a"}
	if a.asks {
		args = append(args, "-o", "BatchMode=no")
	} else {
		args = append(args, "-o", "BatchMode=yes")
	}
	if a.own {
		args = append(args, "-o", "ControlPath=none")
	}
	for _, s := range settings() {
		args = append(args, "-o", s)
	}
	if a.command == surveyCommand {
		args = append(args, "-o", "Compression=yes") // a program is a third of its size then
	}
	return append(append(args, whither(a.host)...), a.command)
}

// whither are the arguments that name a host.
func whither(host domain.Host) (args []string) {
	if host.User != "" {
		args = append(args, "-l", host.User)
	}
	if host.Port != 0 {
		args = append(args, "-p", strconv.Itoa(host.Port))
	}
	return append(args, "--", host.Name)
}

const (
	// beginsLine is the last thing that is not the helper's on its standard output, absentLine what
	// stands in its place where there is no vev. An empty line goes before: a prompt may stand there.
	beginsLine = begins + "\n"
	absentLine = absent + "\n"
	begins     = "vev-carriage begins here"
	absent     = "vev-carriage is absent"

	// installDir, in the home directory, is where vev is installed, and looked for before PATH, which a shell
	// that is not a login shell may have without the user's own directories, and which may lead to an older one.
	installDir  = ".local/bin"
	installPath = installDir + "/vev"

	// findProgram sets v to the path of vev, empty without one. A shell takes a process of its own to look into PATH, and a
	// millisecond: so not where vev is where it is installed.
	findProgram = `v=$HOME/` + installPath + `; [ -f "$v" ] && [ -x "$v" ] || v=$(command -v vev)`
)

// remoteCommand starts the helper that is the other end of a link. See commandAhead for the word that may follow.
const remoteCommand = beforeRole + envAhead + `=$1; export ` + envAhead + `; ` + startRole + "_broker-mux-stdio" + behindRole

// roleCommand starts a role of vev's, a word. The user's shell reads it, whichever that is: a word, single
// quotes without quotes, line ends, backslashes and exclamation marks in them are the same in all.
func roleCommand(role string) string { return beforeRole + startRole + role + behindRole }

const (
	beforeRole = `exec sh -c '` +
		findProgram + `; echo; ` +
		`if [ -n "$v" ]; then echo "` + begins + `"; `
	startRole  = `exec "$v" `
	behindRole = `; fi; ` +
		`echo "` + absent + `"'`
)

// destination is host as ssh takes it on a command line, for a person to copy.
func destination(host domain.Host) string {
	if host.Port == 0 && host.User == "" {
		return host.Name
	}
	if host.Port == 0 {
		return host.User + "@" + host.Name
	}
	return host.String()
}
