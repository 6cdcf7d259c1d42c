package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/hostfile"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say what to do",
		Long: `Check paths, permissions, sockets, versions, the locale and the terminal. Each line
begins with ok, warn or fail; what to do is below it. The exit code is 1 when
something fails. Nothing is started or changed.`,
		Example:           "  vev doctor",
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.doctor(cmd.Context()) },
	}
}

// level says how bad a finding is.
type level uint8

const (
	levelOK level = iota
	levelWarn
	levelFail
)

func (l level) String() string {
	switch l {
	case levelOK:
		return "ok"
	case levelWarn:
		return "warn"
	case levelFail:
		return "fail"
	}
	return "?"
}

// finding is one line of the doctor's.
type finding struct {
	level level
	what  string
	says  string
	todo  string // what the user can do, "" when all is well
}

func (c *cli) doctor(ctx context.Context) error {
	findings := []finding{
		{what: "version", says: fmt.Sprintf("vev %s, protocol %s", version, protocolRange())},
	}
	findings = append(findings, checkRunDir()...)
	findings = append(findings, checkSettings())
	findings = append(findings, checkHosts()...)
	findings = append(findings, c.checkVersions(ctx)...)
	findings = append(findings, checkLocale(os.Getenv), c.checkTerminal(os.Getenv), checkEnvironment(os.Environ()))
	worst := levelOK
	for _, f := range findings {
		worst = max(worst, f.level)
		fmt.Fprintf(c.out, "%-5s %-18s %s\n", f.level, f.what, printable(f.says))
		if f.todo != "" {
			fmt.Fprintf(c.out, "%24s -> %s\n", "", printable(f.todo))
		}
	}
	if worst == levelFail {
		return exitStatus(exitFailed)
	}
	return nil
}

// checkLocale looks at the variables in the order in which the C library does.
func checkLocale(getenv func(string) string) finding {
	f := finding{what: "locale"}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		f.says = name + "=" + value
		charset := strings.ToLower(strings.ReplaceAll(value, "-", ""))
		if !strings.Contains(charset, "utf8") {
			f.level = levelWarn
			f.todo = "programs will not use UTF-8; set a UTF-8 locale: export LANG=C.UTF-8"
		}
		return f
	}
	return finding{
		level: levelWarn, what: "locale", says: "none is set",
		todo: "programs will not use UTF-8; set a UTF-8 locale: export LANG=C.UTF-8",
	}
}

// checkTerminal tells whether attach can work here. TERM is only told: nothing is looked up by it.
func (c *cli) checkTerminal(getenv func(string) string) finding {
	f := finding{what: "terminal", says: "TERM=" + getenv("TERM")}
	switch {
	case !tty.IsTerminal(c.in) || !tty.IsTerminal(c.stdout):
		f.level, f.says = levelWarn, "standard input and output are not both a terminal"
		f.todo = "attach needs a terminal; every other command works without"
	case getenv("TERM") == "dumb":
		f.level = levelWarn
		f.todo = "TERM says that this terminal cannot move its cursor; attach asks it, and needs an answer"
	case getenv("TERM") == "":
		f.level = levelWarn
		f.todo = "TERM does not say what this terminal is; attach draws as for a VT102"
	}
	if inside := surroundingSession(); inside != "" {
		f.says += ", inside session " + getenv(envSession)
	}
	return f
}

func checkEnvironment(env []string) finding {
	f := finding{what: "environment", says: fmt.Sprintf("%d variables", len(env))}
	if _, err := talk.Environment(env, nil); err != nil {
		f.level, f.says = levelFail, err.Error()
		f.todo = "vev new refuses this environment: unset some variables"
	} else if len(env) > protocol.MaxEnvEntries*9/10 {
		f.level, f.todo = levelWarn, fmt.Sprintf("vev new takes at most %d variables", protocol.MaxEnvEntries)
	}
	return f
}

// checkRunDir is what the run directory's owner finds about places and sockets.
func checkRunDir() []finding {
	var out []finding
	for _, f := range rundir.Check(talk.BrokerService, talk.DaemonService) {
		l := levelOK
		if !f.OK {
			l = levelFail
		}
		out = append(out, finding{level: l, what: f.What, says: f.Detail, todo: f.Fix})
	}
	return out
}

// checkHosts tells of a list of hosts that was damaged, until somebody has looked.
func checkHosts() []finding {
	dir, err := rundir.Open()
	if err != nil {
		return nil // which is a finding of its own
	}
	path := hostfile.In(dir.State()).Damaged()
	if path == "" {
		return nil
	}
	return []finding{{
		level: levelWarn, what: "hosts", says: "the list was damaged once, and is kept as " + path,
		todo: "see that vev host ls has all you added, then: rm " + path,
	}}
}

// checkVersions asks the processes that run which version they are. An older one goes on until
// its work is done, so another version than ours is worth knowing.
func (c *cli) checkVersions(ctx context.Context) []finding {
	all, err := c.numbers(ctx)
	if err != nil {
		f := finding{level: levelFail, what: "conversation", says: err.Error(), todo: "see the logs named above, or end the processes"}
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Hint != "" {
			f.todo = e.Hint
		}
		return []finding{f}
	}
	var out []finding
	if all.Broker != nil {
		out = append(out, checkVersion("broker version", all.Broker.Pid, all.Broker.Version,
			"end it, the next command starts the new one: kill "+strconv.Itoa(all.Broker.Pid)))
	}
	if all.Daemon != nil {
		out = append(out, checkVersion("daemon version", all.Daemon.Pid, all.Daemon.Version,
			"the new one starts when its last session has ended"))
	}
	return out
}

func checkVersion(what string, pid int, theirs, todo string) finding {
	f := finding{what: what, says: fmt.Sprintf("process %d runs vev %s", pid, theirs)}
	if theirs != version {
		f.level, f.says, f.todo = levelWarn, f.says+", this is "+version, todo
	}
	return f
}
