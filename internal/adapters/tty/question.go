package tty

import (
	"context"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/fault"
)

// maxAnswer bounds what is typed as an answer, in bytes; more is not taken.
const maxAnswer = 1024

// Keys of a question.
const (
	keyInterrupt = 0x03
	keyEnd       = 0x04
	keyBackspace = 0x08
	keyKill      = 0x15
	keyEscape    = 0x1b
	keyDelete    = 0x7f
)

// past is a time that has passed: a deadline that ends a read at once.
var past = time.Unix(1, 0)

// Question shows text on the terminal of standard input and reads a line there until ctx ends, in sight
// only with echo. The modes are as they were when it returns. Canceled: Ctrl-C, Ctrl-D, Esc, or ctx.
func Question(ctx context.Context, text string, echo bool) ([]byte, error) {
	f, err := reopen(os.Stdin)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot open the terminal of standard input")
	}
	defer f.Close()
	found, err := modes(f)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the terminal's modes")
	}
	t := &Terminal{f: f, found: found}
	if err := t.Raw(); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot set the terminal's modes")
	}
	defer func() { _ = t.Restore() }() // it is all that can be done
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(past) })
	defer stop()
	if _, err := io.WriteString(f, text+" "); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the terminal takes nothing")
	}
	defer func() { _, _ = io.WriteString(f, "\r\n") }()
	return answer(f, echo)
}

// answer reads one line from a terminal in raw mode.
func answer(f io.ReadWriter, echo bool) ([]byte, error) {
	line := make([]byte, 0, maxAnswer)
	shown := func(s string) {
		if echo {
			_, _ = io.WriteString(f, s)
		}
	}
	for {
		var key [1]byte
		if n, err := f.Read(key[:]); n == 0 {
			clear(line[:cap(line)])
			return nil, fault.Wrap(fault.Canceled, err, "the question was not answered")
		}
		switch k := key[0]; {
		case k == '\r' || k == '\n':
			return line, nil
		case k == keyInterrupt || k == keyEnd || k == keyEscape:
			clear(line[:cap(line)])
			return nil, fault.New(fault.Canceled, "the question was not answered")
		case k == keyBackspace || k == keyDelete:
			if _, n := utf8.DecodeLastRune(line); n > 0 {
				line = line[:len(line)-n]
				shown("\b \b")
			}
		case k == keyKill:
			for range utf8.RuneCount(line) {
				shown("\b \b")
			}
			line = line[:0]
		case k >= ' ' && len(line) < maxAnswer:
			line = append(line, k)
			shown(string([]byte{k}))
		}
	}
}
