package vt

import (
	"bytes"
	"strconv"
)

// prompt is what a shell's marks say of where it prompts.
type prompt struct {
	line    uint64 // of the newest prompt
	editing bool   // its command did not start yet
	// output: the shell marks where output starts, so editing is to be believed.
	output bool
}

func (p *prompt) mark(m PromptMark) {
	switch m.Kind {
	case 'A':
		p.line, p.editing = m.Line, true
	case 'C', 'D':
		p.editing = false
		p.output = p.output || m.Kind == 'C'
	}
}

// promptRow returns the first row of the main screen that belongs to the prompt in which the cursor is, used without
// one.
func (t *Terminal) promptRow(cursor, used int) int {
	if !t.prompt.editing || !t.prompt.output || t.scr != &t.main {
		return used
	}
	row := max(int64(t.prompt.line)-int64(t.hist.next), 0)
	if row > int64(cursor) {
		return used
	}
	return int(row)
}

// promptMark is OSC 133: a letter, then options separated by semicolons.
func (t *Terminal) promptMark(b []byte) {
	if len(b) == 0 || len(b) > 1 && b[1] != ';' {
		return
	}
	m := PromptMark{Kind: b[0], Line: t.hist.next + uint64(t.cy)}
	switch b[0] {
	case 'A', 'B', 'C', 'D':
	case 'N': // a prompt on a line of its own
		m.Kind = 'A'
	case 'P': // a prompt, if not one of a further line or on the right
		if k, found := option(b, "k"); found && k != "i" {
			return
		}
		m.Kind = 'A'
	case 'I': // a command that the line's end ends
		m.Kind = 'B'
	default:
		return
	}
	t.prompt.mark(m)
	if m.Kind == 'A' {
		t.statuses.prompt(t)
	}
	if m.Kind == 'D' && len(b) > 2 {
		status, _, _ := bytes.Cut(b[2:], []byte{';'})
		if n, err := strconv.Atoi(string(status)); err == nil {
			m.Exit, m.HasExit = n, true
		}
	}
	t.emit(Event{Kind: EventPromptMark, Mark: m})
}

// option returns the value of an option of a prompt mark.
func option(b []byte, name string) (value string, found bool) {
	for o := range bytes.SplitSeq(b, []byte{';'}) {
		if k, v, ok := bytes.Cut(o, []byte{'='}); ok && string(k) == name {
			return string(v), true
		}
	}
	return "", false
}
