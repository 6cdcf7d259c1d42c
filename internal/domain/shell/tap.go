package shell

import (
	"bytes"
	"strconv"
)

// Tap finds the output of one command among a terminal's bytes: what comes between the marks of its begin and its end. The
// zero value waits for the shell's own marks. Any split of the bytes gives the same.
type Tap struct {
	// ID, if any, is that of marks that the typed line prints. The shell's own count then for the end alone: it shows
	// its prompt although the line did not get to its end, as after Ctrl-C.
	ID string

	begun, ended bool
	status       int
	known        bool   // status
	held         []byte // the begin of a mark, at most maxMark bytes
}

// maxMark bounds a mark; what is longer is none.
const maxMark = 256

const markIntro = "\x1b]133;"

// Begun reports whether the command has begun, Ended whether its output is complete.
func (t *Tap) Begun() bool { return t.begun }
func (t *Tap) Ended() bool { return t.ended }

// Status is the command's, if the shell told it.
func (t *Tap) Status() (status int, known bool) { return t.status, t.known }

// Write takes the terminal's next bytes and appends what of them is the command's output to dst.
func (t *Tap) Write(dst, p []byte) []byte {
	if len(t.held) > 0 {
		p = append(t.held, p...)
		t.held = nil
	}
	for len(p) > 0 && !t.ended {
		at := bytes.IndexByte(p, markIntro[0])
		if at < 0 {
			return t.pass(dst, p)
		}
		dst = t.pass(dst, p[:at])
		p = p[at:]
		n, body, whole := cutMark(p)
		switch {
		case !whole:
			t.held = bytes.Clone(p)
			return dst
		case body == nil:
			dst = t.pass(dst, p[:n])
		case !t.mark(body):
			dst = t.pass(dst, p[:n])
		}
		p = p[n:]
	}
	return dst
}

// Rest appends what waited for the rest of a mark: nothing comes any more.
func (t *Tap) Rest(dst []byte) []byte {
	dst = t.pass(dst, t.held)
	t.held = nil
	return dst
}

func (t *Tap) pass(dst, p []byte) []byte {
	if t.begun && !t.ended {
		return append(dst, p...)
	}
	return dst
}

// cutMark looks at an escape: how many bytes it is good for, and the body of a mark if it is one. Not whole: more must come.
func cutMark(p []byte) (n int, body []byte, whole bool) {
	common := 0
	for common < len(p) && common < len(markIntro) && p[common] == markIntro[common] {
		common++
	}
	switch {
	case common == len(p):
		return 0, nil, false
	case common < len(markIntro):
		return common, nil, true
	}
	for i := len(markIntro); i < len(p) && i < maxMark; i++ {
		switch {
		case p[i] == '\a':
			return i + 1, p[len(markIntro):i], true
		case p[i] == 0x1b && i+1 == len(p):
			return 0, nil, false
		case p[i] == 0x1b && p[i+1] == '\\':
			return i + 2, p[len(markIntro):i], true
		case p[i] < 0x20 || p[i] == 0x7f:
			return i, nil, true // no control string holds one
		}
	}
	return min(len(p), maxMark), nil, len(p) >= maxMark
}

// mark takes a mark; false: it is none of the command's, but its output.
func (t *Tap) mark(body []byte) bool {
	kind, rest, _ := bytes.Cut(body, []byte{';'})
	if len(kind) != 1 {
		return false
	}
	mine := t.ID != "" && bytes.HasSuffix(body, []byte("vev="+t.ID))
	shells := t.ID == "" || t.begun
	switch {
	case kind[0] == 'C' && !t.begun && (mine || t.ID == ""):
		t.begun = true
	case kind[0] == 'D' && t.begun && (mine || shells):
		t.end(rest)
	case kind[0] == 'A' && t.begun && shells:
		t.ended = true
	}
	return true
}

func (t *Tap) end(rest []byte) {
	t.ended = true
	status, _, _ := bytes.Cut(rest, []byte{';'})
	if n, err := strconv.Atoi(string(status)); err == nil && n >= 0 && n <= 255 {
		t.status, t.known = n, true
	}
}
