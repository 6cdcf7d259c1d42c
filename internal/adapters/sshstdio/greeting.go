package sshstdio

import (
	"bytes"
	"io"
	"strings"

	"github.com/vev-term/vev/internal/domain/fault"
)

// maxGreeting is how much the start-up files of a shell may say before the helper begins.
const maxGreeting = 64 << 10

// greeting is what comes before the helper's own output. One goroutine uses it at a time; when ssh
// has ended it may be looked at.
type greeting struct {
	said   []byte // up to beginsLine, and while that has not come, all
	rest   []byte // behind it, not taken yet
	passed bool
	absent bool // there is no vev
}

// pass reads from src until the helper begins, or there is none. An error of src that was a passed
// deadline loses nothing: the next call goes on.
func (g *greeting) pass(src io.Reader) error {
	if g.said == nil {
		g.said = make([]byte, 0, 512)
	}
	for !g.passed {
		if len(g.said) == maxGreeting {
			return fault.New(fault.Violation, "vev's helper does not begin within %d bytes", maxGreeting)
		}
		if len(g.said) == cap(g.said) {
			g.said = append(make([]byte, 0, min(2*cap(g.said), maxGreeting)), g.said...)
		}
		n, err := src.Read(g.said[len(g.said):cap(g.said)])
		g.said = g.said[:len(g.said)+n]
		if at := bytes.Index(g.said, []byte(beginsLine)); at >= 0 {
			g.rest = bytes.Clone(g.said[at+len(beginsLine):])
			g.said, g.passed = g.said[:at], true
			break
		}
		if bytes.Contains(g.said, []byte(absentLine)) {
			g.absent = true
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firstLine is the first line with something in it, or "".
func (g *greeting) firstLine() string { return firstLine(string(g.said)) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(fault.Clean(line))
}
