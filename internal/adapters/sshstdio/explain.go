package sshstdio

import (
	"errors"
	"slices"
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// sshFailed is ssh's status for every failure of its own: which one it was, it says in words only.
const sshFailed = 255

// saying is a sentence of ssh's and what it means. ssh speaks English everywhere.
type saying struct {
	text string
	kind fault.Kind
	msg  string // in place of the line that holds text, or empty
	hint string // %s is the host as ssh takes it
}

// sayings are in the order of what says more.
var sayings = []saying{
	{
		"REMOTE HOST IDENTIFICATION HAS CHANGED", fault.Denied, "its host key is not the one that ssh knows",
		"somebody may be in between; find out why it changed, then: ssh %s",
	},
	{
		"Host key verification failed", fault.Denied, "ssh does not know its host key",
		"in a terminal vev asks; or log in once and compare the fingerprint: ssh %s",
	},
	{
		"Permission denied", fault.Denied, "",
		"in a terminal vev asks for passwords; else a key must do, or ssh-add; try: ssh %s",
	},
	{"Too many authentication failures", fault.Denied, "", "name the key in ssh's configuration; try: ssh %s"},
	{"Could not resolve hostname", fault.Unavailable, "", "check the name; ssh %s must work"},
	{"Connection refused", fault.Unavailable, "", "no ssh server listens there; ssh %s must work"},
	{"timed out", fault.Unavailable, "", "the machine is off, or something in between drops what is sent; try: ssh %s"},
}

// explain says why there is no link, when ssh has ended. err is what the conversation ended with.
func (c *carriage) explain(host domain.Host, err error) error {
	to, lines, last := destination(host), said(c.said.kept), lastSaid(c.said.kept)
	status := c.cmd.ProcessState.ExitCode()
	switch {
	case c.greeting.absent:
		return fault.New(fault.Unsupported, "there is no vev there, neither as ~/%s nor in PATH", installPath).
			WithHint("vev host install %s copies this one there", host)
	case c.greeting.passed && fault.KindOf(err) == fault.Incompatible:
		return otherVersion(host, err)
	case c.greeting.passed && fault.KindOf(err) != fault.Unavailable:
		return err // the two have talked: it says what was wrong
	case fault.KindOf(err) == fault.Timeout:
		return fault.Wrap(fault.Timeout, err, "ssh does not get through").WithHint("try: ssh %s", to)
	case c.greeting.passed && last != "":
		return fault.New(fault.Unavailable, "vev ended there: %s", last).WithHint("see: ssh %s vev doctor", to)
	case c.greeting.passed:
		return fault.Wrap(fault.Unavailable, err, "vev ended there").WithHint("see: ssh %s vev doctor", to)
	case status == sshFailed && fault.KindOf(err) == fault.Unavailable:
		return sshSaid(to, lines)
	case c.greeting.firstLine() != "":
		return fault.New(fault.Unsupported, "its shell says %q and does not start vev", c.greeting.firstLine()).
			WithHint("ssh %s true must say nothing; put what speaks in ~/.bashrc or the like behind a test for a terminal", to)
	case last != "":
		return fault.New(fault.Unsupported, "its shell does not start vev: %s", last).WithHint("try: ssh %s vev version", to)
	}
	return fault.Wrap(fault.Unavailable, err, "ssh ended before vev began").WithHint("try: ssh %s vev version", to)
}

// otherVersion is err, which names both sides' versions, with what can be done about the one there.
func otherVersion(host domain.Host, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	there := *e
	return there.WithHint("%s; vev host install %s puts this one there", e.Hint, host)
}

// sshSaid is a failure of ssh's own.
func sshSaid(to string, lines []string) error {
	for _, s := range sayings {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, s.text) })
		if i < 0 {
			continue
		}
		msg := s.msg
		if msg == "" {
			msg = "ssh: " + strings.TrimPrefix(lines[i], "ssh: ")
		}
		return fault.New(s.kind, "%s", msg).WithHint(s.hint, to)
	}
	if len(lines) == 0 {
		return fault.New(fault.Unavailable, "ssh failed without a word").WithHint("try: ssh -v %s", to)
	}
	return fault.New(fault.Unavailable, "ssh: %s", strings.TrimPrefix(lines[len(lines)-1], "ssh: ")).WithHint("try: ssh -v %s", to)
}

// said are the lines with something in them, safe to show.
func said(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(fault.Clean(line)); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// lastSaid is the last of them, or "".
func lastSaid(text []byte) string {
	lines := said(text)
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
