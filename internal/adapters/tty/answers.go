package tty

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// answerTime is how long a terminal has to say what it is, over the slowest of links.
const answerTime = 2 * time.Second

// whatAreYou asks for the primary device attributes. What a terminal prints that knows no sequences is printed over.
const whatAreYou = "\x1b[c\r   \r"

// Answers reports whether the terminal of standard input says what it is when it is asked, as each does that can move its
// cursor. It waits up to two seconds; what is typed meanwhile is lost. The modes are as they were when it returns.
func Answers() (bool, error) {
	f, err := reopen(os.Stdin)
	if err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "cannot open the terminal of standard input")
	}
	defer f.Close()
	found, err := modes(f)
	if err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "cannot read the terminal's modes")
	}
	t := &Terminal{f: f, found: found}
	if err := t.Raw(); err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "cannot set the terminal's modes")
	}
	defer func() { _ = t.Restore() }() // it is all that can be done
	if err := f.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "cannot wait for the terminal")
	}
	return answers(f), nil
}

// maxSaid bounds what is read before the answer.
const maxSaid = 4 << 10

// answers asks f, and reads until the answer or an error.
func answers(f io.ReadWriter) bool {
	if _, err := io.WriteString(f, whatAreYou); err != nil {
		return false
	}
	var said []byte
	var buf [256]byte
	for len(said) < maxSaid {
		n, err := f.Read(buf[:])
		said = append(said, buf[:n]...)
		if saysWhatItIs(said) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

// saysWhatItIs reports whether an answer to whatAreYou is in p: CSI ? numbers c.
func saysWhatItIs(p []byte) bool {
	for {
		_, rest, ok := bytes.Cut(p, []byte("\x1b[?"))
		if !ok {
			return false
		}
		if end := bytes.TrimLeft(rest, "0123456789;"); len(end) > 0 && end[0] == 'c' {
			return true
		}
		p = rest
	}
}
